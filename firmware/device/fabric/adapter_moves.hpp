// The functions of the worker adapter. Every wait calls `stop` in each pass: it polls termination,
// yields where the core must, and returns true if the kernel must stop at once. The function then
// returns false.
#pragma once
#include "adapter.hpp"
#include "leaving.hpp"
#include "stream.hpp"

namespace fabric {

constexpr uint32_t CLIENT_NOC = 0;
constexpr uint32_t CLIENT_READS = 6, CLIENT_WORDS = 7, CLIENT_PACKETS = 8;  // transaction ids
constexpr uint32_t CLIENT_MAX_OUTSTANDING = 200;  // the NIU counts them in eight bits

inline bool client_may_send(uint32_t buffer, uint32_t id) {
    return !niu_busy(CLIENT_NOC, buffer) &&
           noc_outstanding(CLIENT_NOC, id) < CLIENT_MAX_OUTSTANDING;
}

inline fabric_client_words_t& client_words(const fabric_client_state_t& client) {
    return *reinterpret_cast<fabric_client_words_t*>(client.words_address);
}

inline uint32_t client_target(const fabric_client_state_t& client) {
    return noc_mid(client.connection.edm_noc_x, client.connection.edm_noc_y);
}

template <typename Condition, typename Stop>
bool client_wait(Condition condition, Stop stop) {
    while (!condition()) {
        if (stop()) {
            return false;
        }
    }
    return true;
}

template <typename Stop>
bool client_word(const fabric_client_state_t& client, uint32_t address, uint32_t value, Stop stop) {
    bool free =
        client_wait([] { return client_may_send(NOC_BUFFER_REGISTER, CLIENT_WORDS); }, stop);
    if (free) {
        noc_start_word_write(CLIENT_NOC, CLIENT_WORDS, client_target(client), address, value);
    }
    return free;
}

template <typename Stop>
bool client_read(const fabric_client_state_t& client, uint32_t address, const volatile void* to,
                 uint32_t bytes, Stop stop) {
    if (!client_wait([] { return !niu_busy(CLIENT_NOC, NOC_BUFFER_READ); }, stop)) {
        return false;
    }
    noc_start_read(CLIENT_NOC, CLIENT_READS, client_target(client), address,
                   static_cast<uint32_t>(reinterpret_cast<uintptr_t>(to)), bytes);
    bool read = client_wait([] { return noc_outstanding(CLIENT_NOC, CLIENT_READS) == 0; }, stop);
    compiler_barrier();
    return read;
}

// Waits until the router or mux is ready for traffic, continues at the last client's cursor, and
// writes this client's addresses.
template <typename Stop>
bool client_open(fabric_client_state_t& client, Stop stop) {
    const fabric_connection_info_t& connection = client.connection;
    fabric_client_words_t& words = client_words(client);
    client.stage = CLIENT_OPENING;
    words.teardown = 0;
    do {
        if (stop() || !client_read(client, connection.edm_status_addr, &words.edm_status,
                                   sizeof(uint32_t), stop)) {
            return false;
        }
    } while (words.edm_status != READY_FOR_TRAFFIC);
    uint32_t info = connection.edm_worker_location_info_addr;
    if (!client_read(client, connection.buffer_index_addr, &words.cursor, sizeof(words.cursor),
                     stop) ||
        !client_read(client, info + offsetof(EDMChannelWorkerLocationInfo, edm_read_counter),
                     &words.read_counter, sizeof(uint32_t), stop)) {
        return false;
    }
    client.write_counter = words.cursor.write_counter;
    client.write_index = words.cursor.write_index;
    uint32_t own = word_at(niu(CLIENT_NOC, NIU_NOC_ID_LOGICAL)),
             xy = (own & 0x3F) | (own >> 6 & 0x3F) << 16;
    uint32_t counter = client.words_address + offsetof(fabric_client_words_t, read_counter);
    uint32_t teardown = client.words_address + offsetof(fabric_client_words_t, teardown);
    bool told =
        client_word(client, info + offsetof(EDMChannelWorkerLocationInfo, worker_semaphore_address),
                    counter, stop) &&
        client_word(
            client,
            info + offsetof(EDMChannelWorkerLocationInfo, worker_teardown_semaphore_address),
            teardown, stop) &&
        client_word(client, info + offsetof(EDMChannelWorkerLocationInfo, worker_x), xy, stop) &&
        client_word(client, connection.edm_connection_handshake_addr, OPEN_CONNECTION, stop);
    if (told) {
        client.stage = CLIENT_OPEN;
    }
    return told;
}

inline uint32_t client_used_slots(const fabric_client_state_t& client) {
    return client.write_counter - client_words(client).read_counter;
}
inline bool client_has_slot(const fabric_client_state_t& client) {
    return client_used_slots(client) < client.connection.num_buffers_per_channel;
}

template <typename Stop>
bool client_wait_for_slot(fabric_client_state_t& client, Stop stop) {
    if (client_has_slot(client)) {
        return true;
    }
    WAYPOINT("FWSW");
    client.waits = 1;
    bool free = client_wait([&client] { return client_has_slot(client); }, stop);
    client.waits = 0;
    WAYPOINT("FWSD");
    return free;
}

// Writes a part of a packet into the next slot, which must be free: the payload and then the
// header, or both at once. The source must not change until the write of this transaction id has
// left.
template <typename Stop>
bool client_write(const fabric_client_state_t& client, uint32_t offset, uint32_t source,
                  uint32_t bytes, Stop stop, uint32_t id = CLIENT_PACKETS) {
    const fabric_connection_info_t& connection = client.connection;
    uint32_t to = connection.edm_buffer_base_addr +
                  client.write_index * connection.buffer_size_bytes + offset;
    bool free = client_wait([id] { return client_may_send(NOC_BUFFER_WRITE, id); }, stop);
    if (free) {
        noc_start_write(CLIENT_NOC, id, source, client_target(client), to, bytes);
    }
    return free;
}

// Hands the slot over, after the writes into it.
template <typename Stop>
bool client_commit(fabric_client_state_t& client, Stop stop) {
    const fabric_connection_info_t& connection = client.connection;
    uint32_t stream = stream_register(connection.worker_free_slots_stream_id, STREAM_UPDATE);
    if (!client_word(client, stream, -1u << STREAM_INCREMENT_SHIFT, stop)) {
        return false;
    }
    client.write_counter = client.write_counter + 1;
    client.write_index =
        client.write_index + 1 == connection.num_buffers_per_channel ? 0 : client.write_index + 1;
    return true;
}

inline bool client_has_left() { return noc_has_left(CLIENT_NOC, CLIENT_PACKETS); }
inline bool client_flushed() { return noc_outstanding(CLIENT_NOC, CLIENT_PACKETS) == 0; }

// Stores the cursor for the next client, requests the end of the connection, and waits for the
// answer. Packets still in the channel are sent as before. `next` begins the kernel's next stage,
// the wait, and returns false if the kernel must stop.
template <typename Stop, typename Next>
bool client_close(fabric_client_state_t& client, Stop stop, Next next) {
    const fabric_connection_info_t& connection = client.connection;
    client.stage = CLIENT_CLOSING;
    uint32_t cursor = connection.buffer_index_addr;
    bool asked = client_word(client, cursor + offsetof(SenderChannelProducerCursor, write_counter),
                             client.write_counter, stop) &&
                 client_word(client, cursor + offsetof(SenderChannelProducerCursor, write_index),
                             client.write_index, stop) &&
                 client_word(client, connection.edm_connection_handshake_addr,
                             CLOSE_CONNECTION_REQUEST, stop);
    if (!asked || !next()) {
        return false;
    }
    WAYPOINT("FCFW");
    fabric_client_words_t& words = client_words(client);
    bool closed =
        client_wait([&words] { return words.teardown != 0; }, stop) &&
        client_wait(
            [] { return client_flushed() && noc_outstanding(CLIENT_NOC, CLIENT_WORDS) == 0; },
            stop);
    WAYPOINT("FCFD");
    if (closed) {
        words.teardown = 0;
        client.stage = CLIENT_CLOSED;
    }
    return closed;
}

}  // namespace fabric
