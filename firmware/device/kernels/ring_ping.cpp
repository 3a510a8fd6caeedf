// Ring ping on an ERISC: sender and receiver in one image. Flow control over the link is eth_channel_sync_t with payload and
// sync word merged into one send; the receiver acknowledges from a 16-byte word of its own, and completes from another.
#include "ring_ping.hpp"

#include "common/build_id.hpp"
#include "common/noc.hpp"
#include "common/txq.hpp"

extern "C" {
__attribute__((used)) ring_ping_state_t ring_ping_state = {.magic = waypoint_word("PING"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
__attribute__((used)) eth_channel_places_t eth_channel_places = {};
}

static ring_ping_words_t* const ring_ping_words = reinterpret_cast<ring_ping_words_t*>(ERISC_UNRESERVED);

namespace {

constexpr uint32_t NOC = 0;
constexpr uint32_t TRANSACTION = 5;              // an id of our own: base firmware's traffic in a yield does not disturb it
constexpr uint32_t HANDSHAKE_REPEAT = 50000;     // cycles; the peer's host side may clear the word while it boots

ring_ping_state_t& state = ring_ping_state;
ring_ping_args_t& args = ring_ping_state.args;

// Base firmware runs every yield_interval passes of a wait, so remote access through this tile stays alive.
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

bool dwell() {
    if (args.dwell_cycles == 0) {
        return true;
    }
    WAYPOINT("DWLW");
    uint32_t start = wall_clock();
    bool going_on = wait_until([=] { return wall_clock() - start >= args.dwell_cycles; });
    WAYPOINT("DWLD");
    return going_on;
}

eth_channel_sync_t& channel(uint32_t index) { return erisc_info->channels[index]; }
eth_channel_sync_t& tail_of(uint32_t buffer) { return *reinterpret_cast<eth_channel_sync_t*>(buffer + args.payload_bytes); }
volatile uint32_t& lap_of(eth_channel_sync_t& sync) { return *const_cast<volatile uint32_t*>(&sync.reserved_2); }

void fill_sync(eth_channel_sync_t& sync, uint32_t bytes_sent, uint32_t ack, uint32_t source, uint32_t lap) {
    sync.receiver_ack = ack;
    sync.src_id = source;
    lap_of(sync) = lap;
    sync.bytes_sent = bytes_sent;  // last: whoever looks at it finds the rest in place
}

bool send(uint32_t source, uint32_t destination, uint32_t bytes) {
    WAYPOINT("RTXW");
    if (!wait_until([] { return !txq_busy(); })) {
        return false;
    }
    WAYPOINT("RTXD");
    txq_write(source, destination, bytes);
    return true;
}

bool send_sync(const eth_channel_sync_t& source, uint32_t index) {
    return send(reinterpret_cast<uint32_t>(&source), reinterpret_cast<uint32_t>(&channel(index)), sizeof(source));
}

bool noc_barrier() {
    WAYPOINT("NWBW");
    bool done = wait_until([] { return noc_outstanding(NOC, TRANSACTION) == 0; });
    WAYPOINT("NWBD");
    return done;
}

bool tell_sibling(volatile uint32_t& word, uint32_t value) {
    WAYPOINT("NWIW");
    if (!wait_until([] { return !niu_busy(NOC, NOC_BUFFER_REGISTER); })) {
        return false;
    }
    WAYPOINT("NWID");
    noc_start_word_write(NOC, TRANSACTION, noc_mid(args.sibling_x, args.sibling_y), reinterpret_cast<uint32_t>(&word), value);
    return true;
}

bool write_to_sibling(uint32_t source, uint32_t destination, uint32_t bytes) {
    while (bytes != 0) {
        uint32_t part = bytes < NOC_MAX_PACKET_BYTES ? bytes : NOC_MAX_PACKET_BYTES;
        WAYPOINT("NAWW");
        if (!wait_until([] { return !niu_busy(NOC, NOC_BUFFER_WRITE); })) {
            return false;
        }
        WAYPOINT("NAWD");
        noc_start_write(NOC, TRANSACTION, source, noc_mid(args.sibling_x, args.sibling_y), destination, part);
        source += part;
        destination += part;
        bytes -= part;
    }
    return noc_barrier();
}

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

// --- setup -------------------------------------------------------------------------------------------------------------

bool read_arguments() {
    uint32_t address = runtime_args_address(ACTIVE_ETH, 0);
    if (address == 0) {
        return false;
    }
    args = *reinterpret_cast<const ring_ping_args_t*>(address);
    if (args.pause_at_stage != 0) {
        state.control.pause_at_stage = args.pause_at_stage - 1;
    }
    if (args.yield_interval == 0) {
        args.yield_interval = 1;
    }
    state.min_lap_cycles = 0xFFFFFFFF;
    bool size_right = args.payload_bytes >= 16 && args.payload_bytes <= RING_PING_MAX_PAYLOAD && args.payload_bytes % 16 == 0;
    return size_right && args.run_id != 0 && args.role <= RING_PING_RECEIVER;
}

void describe_channels() {
    bool sender = args.role == RING_PING_SENDER;
    uint32_t buffer = sender ? RING_PING_SEND_BUFFER : RING_PING_RECEIVE_BUFFER;
    eth_channel_places.channels[RING_PING_HANDSHAKE_CHANNEL].role = ETH_CHANNEL_HANDSHAKE;
    eth_channel_place_t& place = eth_channel_places.channels[RING_PING_CHANNEL];
    place.sync = sender ? nullptr : &tail_of(buffer);
    place.buffer_address = buffer;
    place.buffer_bytes = args.payload_bytes;
    place.role = sender ? ETH_CHANNEL_SENDER : ETH_CHANNEL_RECEIVER;
}

// The sender offers until the receiver's completion comes back. It repeats the offer, because the first one may arrive
// before the other host side has finished clearing that tile's words.
bool handshake_as_sender() {
    eth_channel_sync_t& mine = channel(RING_PING_HANDSHAKE_CHANNEL);
    fill_sync(ring_ping_words->handshake, 16, 0, args.run_id, args.payload_bytes);
    fill_sync(mine, 16, 0, args.run_id, args.payload_bytes);
    while (mine.bytes_sent != 0) {
        if (!send_sync(ring_ping_words->handshake, RING_PING_HANDSHAKE_CHANNEL)) {
            return false;
        }
        uint32_t start = wall_clock();
        WAYPOINT("EHSW");
        if (!wait_until([&] { return mine.bytes_sent == 0 || wall_clock() - start >= HANDSHAKE_REPEAT; })) {
            return false;
        }
    }
    WAYPOINT("EHSD");
    return true;
}

bool handshake_as_receiver() {
    fill_sync(tail_of(RING_PING_RECEIVE_BUFFER), 0, 0, 0, 0);
    eth_channel_sync_t& mine = channel(RING_PING_HANDSHAKE_CHANNEL);
    WAYPOINT("EHSW");
    if (!wait_until([&] { return mine.bytes_sent != 0 && mine.src_id == args.run_id; })) {
        return false;
    }
    WAYPOINT("EHSD");
    if (lap_of(mine) != args.payload_bytes) {
        state.phase = RING_PING_REFUSED;  // the sender would write past our buffer; it stays in EHSW
        return false;
    }
    mine.receiver_ack = 1;
    fill_sync(ring_ping_words->ack, 16, 1, args.run_id, args.payload_bytes);
    fill_sync(ring_ping_words->completion, 0, 0, args.run_id, args.payload_bytes);
    if (!send_sync(ring_ping_words->ack, RING_PING_HANDSHAKE_CHANNEL)) {
        return false;
    }
    fill_sync(mine, 0, 0, 0, 0);
    return send_sync(ring_ping_words->completion, RING_PING_HANDSHAKE_CHANNEL);
}

// The two cores of one chip tell each other that their hand-over words are ready.
bool meet_sibling() {
    ring_ping_words->filled = 0;
    ring_ping_words->freed = 0;
    if (!tell_sibling(ring_ping_words->hello, args.run_id)) {
        return false;
    }
    WAYPOINT("LSYW");
    bool met = wait_until([] { return ring_ping_words->hello == args.run_id; });
    WAYPOINT("LSYD");
    return met;
}

// --- the ring ----------------------------------------------------------------------------------------------------------

bool send_lap(uint32_t lap, uint32_t last) {
    fill_sync(channel(RING_PING_CHANNEL), args.payload_bytes, 0, args.ring_position, lap | last);
    fill_sync(tail_of(RING_PING_SEND_BUFFER), args.payload_bytes, 0, args.ring_position, lap | last);
    if (!send(RING_PING_SEND_BUFFER, RING_PING_RECEIVE_BUFFER, args.payload_bytes + sizeof(eth_channel_sync_t))) {
        return false;
    }
    state.sent = state.sent + 1;
    return true;
}

// After the acknowledge the send buffer may be filled again; after the completion the next send may start.
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
    if (!send_lap(lap, last) || !wait_for_acknowledge() || !wait_for_completion() || !wait_for_hand_over(lap, last_seen)) {
        return false;
    }
    record_lap(wall_clock() - start);
    return dwell() && tell_sibling(ring_ping_words->freed, lap + 1);
}

bool sender_lap(uint32_t lap, uint32_t& last) {
    return wait_for_hand_over(lap, last) && dwell() && send_lap(lap, last) && wait_for_acknowledge() &&
           tell_sibling(ring_ping_words->freed, lap + 1) && wait_for_completion();
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
    channel(RING_PING_HANDSHAKE_CHANNEL).bytes_sent = 0;  // a repeated offer may have arrived after the handshake
    fill_sync(mine, arrived.bytes_sent, 1, arrived.src_id, lap_of(arrived));
    fill_sync(ring_ping_words->ack, arrived.bytes_sent, 1, args.ring_position, lap_of(arrived));
    if (!send_sync(ring_ping_words->ack, RING_PING_CHANNEL)) {
        return false;
    }
    state.acks = state.acks + 1;
    state.received = state.received + 1;
    check_payload(RING_PING_RECEIVE_BUFFER, lap);
    if (!dwell()) {
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

// Every credit must be back before the core is given up: the peer still writes into these words until then.
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
    if (!begin_stage(state.control, yield_to_base_firmware)) {
        return false;
    }
    bool shaken = args.role == RING_PING_SENDER ? handshake_as_sender() : handshake_as_receiver();
    if (!shaken || !begin_stage(state.control, yield_to_base_firmware) || !meet_sibling()) {
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
