// Functions shared by setup and ring: waits, sends over the link, writes to the sibling.
#pragma once
#include "common/noc.hpp"
#include "common/txq.hpp"
#include "ring_ping.hpp"

extern "C" {
extern ring_ping_state_t ring_ping_state;
extern eth_channel_places_t eth_channel_places;
}

static ring_ping_words_t* const ring_ping_words =
    reinterpret_cast<ring_ping_words_t*>(ERISC_UNRESERVED);

namespace ring_ping {

constexpr uint32_t NOC = 0;
// Not used by base firmware, so that its traffic in a yield does not disturb it.
constexpr uint32_t TRANSACTION = 5;

inline ring_ping_state_t& state = ring_ping_state;
inline ring_ping_args_t& args = ring_ping_state.args;

// Base firmware runs every yield_interval passes of a wait, so that remote access through this tile
// continues.
template <typename Condition>
bool wait_until(Condition condition) {
    uint32_t passes = 0;
    while (!condition()) {
        if (must_stop_now(state.control)) {
            return false;
        }
        if (++passes >= args.yield_interval) {
            passes = 0;
            yield_to_base_firmware();
        }
    }
    state.last_progress = wall_clock();
    return true;
}

inline bool delay() {
    if (args.dwell_cycles == 0) {
        return true;
    }
    WAYPOINT("DWLW");
    uint32_t start = wall_clock();
    bool going_on = wait_until([=] { return wall_clock() - start >= args.dwell_cycles; });
    WAYPOINT("DWLD");
    return going_on;
}

inline eth_channel_sync_t& channel(uint32_t index) { return erisc_info->channels[index]; }
inline eth_channel_sync_t& tail_of(uint32_t buffer) {
    return *reinterpret_cast<eth_channel_sync_t*>(buffer + args.payload_bytes);
}
inline volatile uint32_t& lap_of(eth_channel_sync_t& sync) {
    return *const_cast<volatile uint32_t*>(&sync.reserved_2);
}

inline void fill_sync(eth_channel_sync_t& sync, uint32_t bytes_sent, uint32_t ack, uint32_t source,
                      uint32_t lap) {
    sync.receiver_ack = ack;
    sync.src_id = source;
    lap_of(sync) = lap;
    sync.bytes_sent = bytes_sent;  // last: a reader that finds it finds the rest in place
}

inline bool send(uint32_t source, uint32_t destination, uint32_t bytes) {
    WAYPOINT("RTXW");
    if (!wait_until([] { return !txq_busy(); })) {
        return false;
    }
    WAYPOINT("RTXD");
    txq_write(source, destination, bytes);
    return true;
}

inline bool send_sync(const eth_channel_sync_t& source, uint32_t index) {
    return send(reinterpret_cast<uint32_t>(&source), reinterpret_cast<uint32_t>(&channel(index)),
                sizeof(source));
}

inline bool noc_barrier() {
    WAYPOINT("NWBW");
    bool done = wait_until([] { return noc_outstanding(NOC, TRANSACTION) == 0; });
    WAYPOINT("NWBD");
    return done;
}

inline bool tell_sibling(volatile uint32_t& word, uint32_t value) {
    WAYPOINT("NWIW");
    if (!wait_until([] { return !niu_busy(NOC, NOC_BUFFER_REGISTER); })) {
        return false;
    }
    WAYPOINT("NWID");
    noc_start_word_write(NOC, TRANSACTION, noc_mid(args.sibling_x, args.sibling_y),
                         reinterpret_cast<uint32_t>(&word), value);
    return true;
}

inline bool write_to_sibling(uint32_t source, uint32_t destination, uint32_t bytes) {
    while (bytes != 0) {
        uint32_t part = bytes < NOC_MAX_PACKET_BYTES ? bytes : NOC_MAX_PACKET_BYTES;
        WAYPOINT("NAWW");
        if (!wait_until([] { return !niu_busy(NOC, NOC_BUFFER_WRITE); })) {
            return false;
        }
        WAYPOINT("NAWD");
        noc_start_write(NOC, TRANSACTION, source, noc_mid(args.sibling_x, args.sibling_y),
                        destination, part);
        source += part;
        destination += part;
        bytes -= part;
    }
    return noc_barrier();
}

// --- ring_ping_setup.cpp ---
bool read_arguments();
void describe_channels();
// Runs the handshake with the peer, then with the sibling. Returns false if stopped or refused.
bool set_up();

}  // namespace ring_ping
