// Ring ping on an ERISC: sender and receiver in one image. Flow control over the link is
// eth_channel_sync_t, with payload and sync word merged into one send. The receiver acknowledges
// from one 16-byte word and completes from another.
#include "common/build_id.hpp"
#include "ring_ping_moves.hpp"

extern "C" {
__attribute__((used)) ring_ping_state_t ring_ping_state = {
    .magic = waypoint_word("PING"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
__attribute__((used)) eth_channel_places_t eth_channel_places = {};
}

using namespace ring_ping;

namespace {

void make_payload(uint32_t lap) {
    auto* words = reinterpret_cast<volatile uint32_t*>(RING_PING_SEND_BUFFER);
    for (uint32_t i = 0; i < args.payload_bytes / 4; ++i) {
        words[i] = ring_ping_pattern(lap, i);
    }
}

void check_payload(uint32_t buffer, uint32_t lap) {
    const auto* words = reinterpret_cast<const volatile uint32_t*>(buffer);
    for (uint32_t i = 0; i < args.payload_bytes / 4; ++i) {
        if (words[i] != ring_ping_pattern(lap, i)) {
            if (state.mismatched_words == 0) {
                state.first_bad_lap = lap;
            }
            state.mismatched_words = state.mismatched_words + 1;
        }
    }
}

bool send_lap(uint32_t lap, uint32_t last) {
    fill_sync(channel(RING_PING_CHANNEL), args.payload_bytes, 0, args.ring_position, lap | last);
    fill_sync(tail_of(RING_PING_SEND_BUFFER), args.payload_bytes, 0, args.ring_position,
              lap | last);
    if (!send(RING_PING_SEND_BUFFER, RING_PING_RECEIVE_BUFFER,
              args.payload_bytes + sizeof(eth_channel_sync_t))) {
        return false;
    }
    state.sent = state.sent + 1;
    return true;
}

// After the acknowledge the send buffer may be filled again; after the completion the next send may
// start.
bool wait_for_acknowledge() {
    eth_channel_sync_t& mine = channel(RING_PING_CHANNEL);
    WAYPOINT("ACKW");
    if (!wait_until([&] { return mine.receiver_ack != 0 || mine.bytes_sent == 0; })) {
        return false;
    }
    WAYPOINT("ACKD");
    state.acks = state.acks + 1;
    return true;
}

bool wait_for_completion() {
    eth_channel_sync_t& mine = channel(RING_PING_CHANNEL);
    WAYPOINT("CMPW");
    if (!wait_until([&] { return mine.bytes_sent == 0; })) {
        return false;
    }
    WAYPOINT("CMPD");
    state.completions = state.completions + 1;
    return true;
}

bool wait_for_hand_over(uint32_t lap, uint32_t& last) {
    WAYPOINT("HOVW");
    if (!wait_until([=] { return (ring_ping_words->filled & ~RING_PING_LAST) == lap + 1; })) {
        return false;
    }
    WAYPOINT("HOVD");
    last = ring_ping_words->filled & RING_PING_LAST;
    state.received = state.received + 1;
    check_payload(RING_PING_SEND_BUFFER, lap);
    return true;
}

void record_lap(uint32_t cycles) {
    state.last_lap_cycles = cycles;
    if (cycles < state.min_lap_cycles) {
        state.min_lap_cycles = cycles;
    }
    if (cycles > state.max_lap_cycles) {
        state.max_lap_cycles = cycles;
    }
    state.sum_lap_cycles = state.sum_lap_cycles + cycles;
}

bool master_lap(uint32_t lap, uint32_t& last) {
    bool enough = args.laps != 0 && lap + 1 >= args.laps;
    last = enough || state.control.termination_signal == GRACEFULLY_TERMINATE ? RING_PING_LAST : 0;
    make_payload(lap);
    uint32_t start = wall_clock();
    uint32_t last_seen = 0;
    if (!send_lap(lap, last) || !wait_for_acknowledge() || !wait_for_completion() ||
        !wait_for_hand_over(lap, last_seen)) {
        return false;
    }
    record_lap(wall_clock() - start);
    return delay() && tell_sibling(ring_ping_words->freed, lap + 1);
}

bool sender_lap(uint32_t lap, uint32_t& last) {
    return wait_for_hand_over(lap, last) && delay() && send_lap(lap, last) &&
           wait_for_acknowledge() && tell_sibling(ring_ping_words->freed, lap + 1) &&
           wait_for_completion();
}

bool receiver_lap(uint32_t lap, uint32_t& last) {
    eth_channel_sync_t& arrived = tail_of(RING_PING_RECEIVE_BUFFER);
    eth_channel_sync_t& mine = channel(RING_PING_CHANNEL);
    WAYPOINT("PAYW");
    if (!wait_until([&] { return arrived.bytes_sent != 0; })) {
        return false;
    }
    WAYPOINT("PAYD");
    last = lap_of(arrived) & RING_PING_LAST;
    // A repeated offer may have arrived after the handshake.
    channel(RING_PING_HANDSHAKE_CHANNEL).bytes_sent = 0;
    fill_sync(mine, arrived.bytes_sent, 1, arrived.src_id, lap_of(arrived));
    fill_sync(ring_ping_words->ack, arrived.bytes_sent, 1, args.ring_position, lap_of(arrived));
    if (!send_sync(ring_ping_words->ack, RING_PING_CHANNEL)) {
        return false;
    }
    state.acks = state.acks + 1;
    state.received = state.received + 1;
    check_payload(RING_PING_RECEIVE_BUFFER, lap);
    if (!delay()) {
        return false;
    }
    WAYPOINT("HSLW");
    if (!wait_until([=] { return ring_ping_words->freed == lap; })) {
        return false;
    }
    WAYPOINT("HSLD");
    if (!write_to_sibling(RING_PING_RECEIVE_BUFFER, RING_PING_SEND_BUFFER, args.payload_bytes) ||
        !tell_sibling(ring_ping_words->filled, (lap + 1) | last)) {
        return false;
    }
    fill_sync(arrived, 0, 0, 0, 0);
    fill_sync(mine, 0, 0, 0, 0);
    fill_sync(ring_ping_words->completion, 0, 0, args.ring_position, lap);
    if (!send_sync(ring_ping_words->completion, RING_PING_CHANNEL)) {
        return false;
    }
    state.completions = state.completions + 1;
    return true;
}

bool run_ring() {
    for (uint32_t lap = 0;; lap = (lap + 1) & ~RING_PING_LAST) {
        uint32_t last = 0;
        if (!begin_stage(state.control, yield_to_base_firmware)) {
            return false;
        }
        bool passed = args.role == RING_PING_RECEIVER ? receiver_lap(lap, last)
                      : args.master != 0              ? master_lap(lap, last)
                                                      : sender_lap(lap, last);
        if (!passed) {
            return false;
        }
        state.laps = state.laps + 1;
        if (last != 0) {
            return true;
        }
    }
}

// Every credit must be returned before the kernel leaves: until then the peer writes into these
// words.
bool tear_down() {
    if (!begin_stage(state.control, yield_to_base_firmware)) {
        return false;
    }
    WAYPOINT("TDNW");
    bool returned = wait_until([] {
        bool link_idle = channel(RING_PING_CHANNEL).bytes_sent == 0 && !txq_busy();
        bool taken = args.role == RING_PING_SENDER || ring_ping_words->freed == state.laps;
        return link_idle && taken && noc_outstanding(NOC, TRANSACTION) == 0;
    });
    WAYPOINT("TDND");
    ring_ping_words->hello = 0;
    return returned;
}

bool run() {
    state.phase = RING_PING_HANDSHAKE;
    if (!set_up()) {
        return false;
    }
    state.phase = RING_PING_RUNNING;
    if (!run_ring()) {
        return false;
    }
    state.phase = RING_PING_TEARDOWN;
    return tear_down();
}

}  // namespace

extern "C" void kernel_main() {
    WAYPOINT("K");
    if (!read_arguments()) {
        state.phase = RING_PING_REFUSED;
        return;
    }
    describe_channels();
    if (run()) {
        state.phase = RING_PING_FINISHED;
    } else if (state.phase != RING_PING_REFUSED) {
        state.phase = RING_PING_STOPPED;
    }
    WAYPOINT("KD");
}
