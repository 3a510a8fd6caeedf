// One step of a sender channel: a packet onto the link if there is one and the peer has a slot, and
// credits back to the producer.
#pragma once
#include "channels.hpp"
#include "streams.hpp"

constexpr uint32_t NOC = 0;
constexpr uint32_t CREDIT_TRANSACTION = 3;
constexpr uint32_t CONNECTION_UNUSED = 0, CONNECTION_OPEN = 1, CONNECTION_CLOSE_REQUESTED = 2;

template <uint32_t CHANNEL>
inline volatile EDMChannelWorkerLocationInfo& connection_info() {
    constexpr uint32_t address = local_sender_channel_0_connection_info_addr +
                                 CHANNEL * sender_channel_block_bytes;
    return *reinterpret_cast<volatile EDMChannelWorkerLocationInfo*>(address);
}

template <uint32_t CHANNEL>
inline volatile uint32_t& connection_semaphore() {
    constexpr uint32_t block = local_sender_channel_0_connection_info_addr +
                               CHANNEL * sender_channel_block_bytes;
    return word_at(block + connection_semaphore_offset);
}

inline void write_word_to(uint32_t transaction, uint32_t mid, uint32_t address, uint32_t value) {
    while (niu_busy(NOC, NOC_BUFFER_REGISTER)) {
    }
    noc_start_word_write(NOC, transaction, mid, address, value);
}

// A credit to another tile of this chip.
template <uint32_t stream_id>
inline void noc_update_ptr_val(uint32_t mid, int32_t value) {
    constexpr uint32_t address = stream_register(stream_id, STREAM_UPDATE);
    write_word_to(CREDIT_TRANSACTION, mid, address,
                  static_cast<uint32_t>(value) << STREAM_UPDATE_SHIFT);
}

template <typename CHANNEL_TYPE>
inline void notify_client_of_free_slots(const CHANNEL_TYPE& channel) {
    volatile auto& client = connection_info<CHANNEL_TYPE::channel>();
    uint32_t mid = noc_mid(client.worker_xy.x, client.worker_xy.y);
    write_word_to(CREDIT_TRANSACTION, mid, client.worker_semaphore_address,
                  channel.packets_completed);
}

template <typename CHANNEL_TYPE, uint32_t RECEIVER_SLOTS>
inline void send_next_data(CHANNEL_TYPE& channel,
                           OutboundReceiverChannelPointers<RECEIVER_SLOTS>& outbound) {
    volatile auto* header = channel.get_packet_header(channel.next_to_send);
    header->src_ch_id = CHANNEL_TYPE::channel;
    uint32_t bytes = sizeof(PACKET_HEADER_TYPE) + header->payload_size_bytes;
    uint32_t slot = outbound.remote_receiver_buffer_index.get();
    txq_write(channel.get_buffer_address(channel.next_to_send),
              remote_receiver_0_channel_address + slot * CHANNEL_BUFFER_SIZE, (bytes + 15) & ~15u);
    channel.next_to_send.increment();
    outbound.remote_receiver_buffer_index.increment();
    --outbound.num_free_slots;
    ++channel.packets_sent;
    remote_update_ptr_val<to_receiver_0_pkts_sent_id>(1);
    increment_local_update_ptr_val<CHANNEL_TYPE::free_slots_stream_id>(1);
}

template <typename CHANNEL_TYPE, uint32_t RECEIVER_SLOTS>
inline void process_completions(CHANNEL_TYPE& channel,
                                OutboundReceiverChannelPointers<RECEIVER_SLOTS>& outbound) {
    uint32_t completed = get_ptr_val<CHANNEL_TYPE::completed_stream_id>();
    if (completed != 0) {
        increment_local_update_ptr_val<CHANNEL_TYPE::completed_stream_id>(
            -static_cast<int32_t>(completed));
        outbound.num_free_slots += completed;
        channel.packets_completed += completed;
        if (connection_semaphore<CHANNEL_TYPE::channel>() == CONNECTION_OPEN) {
            notify_client_of_free_slots(channel);
        }
    }
}

// Closes the connection at the client's request: the next client resumes at the counter left for
// it.
template <typename CHANNEL_TYPE>
__attribute__((noinline, cold)) void close_connection(CHANNEL_TYPE& channel) {
    volatile auto& client = connection_info<CHANNEL_TYPE::channel>();
    client.edm_read_counter = channel.packets_completed;
    connection_semaphore<CHANNEL_TYPE::channel>() = CONNECTION_UNUSED;
    uint32_t mid = noc_mid(client.worker_xy.x, client.worker_xy.y);
    write_word_to(CREDIT_TRANSACTION, mid, client.worker_teardown_semaphore_address, 1);
}

template <typename CHANNEL_TYPE, uint32_t RECEIVER_SLOTS>
inline bool run_sender_channel_step_impl(
    CHANNEL_TYPE& channel, OutboundReceiverChannelPointers<RECEIVER_SLOTS>& outbound) {
    bool has_unsent_packet = get_ptr_val<CHANNEL_TYPE::free_slots_stream_id>() !=
                             CHANNEL_TYPE::slots;
    bool can_send = has_unsent_packet && outbound.has_space_for_packet() && !txq_busy();
    if (can_send) {
        send_next_data(channel, outbound);
    }
    process_completions(channel, outbound);
    if (__builtin_expect(
            connection_semaphore<CHANNEL_TYPE::channel>() == CONNECTION_CLOSE_REQUESTED, 0)) {
        close_connection(channel);
    }
    return can_send;
}

template <typename CHANNEL_TYPE>
inline bool run_sender_channel_step(CHANNEL_TYPE& channel) {
    return run_sender_channel_step_impl(channel, router_state.outbound);
}
