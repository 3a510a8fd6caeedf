// Ring ping before the first lap: arguments, the handshake over the link, and the handshake with
// the sibling.
#include "ring_ping_moves.hpp"

namespace ring_ping {
namespace {

// Cycles; the peer's host may clear the word while the peer boots.
constexpr uint32_t HANDSHAKE_REPEAT = 50000;

// The sender offers until the receiver's completion returns. It repeats the offer: the first one
// may arrive before the peer's host has cleared that tile's words.
bool handshake_as_sender() {
    eth_channel_sync_t& mine = channel(RING_PING_HANDSHAKE_CHANNEL);
    fill_sync(ring_ping_words->handshake, 16, 0, args.run_id, args.payload_bytes);
    fill_sync(mine, 16, 0, args.run_id, args.payload_bytes);
    auto offer = [] {
        return send_sync(ring_ping_words->handshake, RING_PING_HANDSHAKE_CHANNEL);
    };
    if (!offer() || !begin_stage(state.control, yield_to_base_firmware)) {
        return false;
    }
    while (mine.bytes_sent != 0) {
        uint32_t start = wall_clock();
        WAYPOINT("EHSW");
        if (!wait_until(
                [&] { return mine.bytes_sent == 0 || wall_clock() - start >= HANDSHAKE_REPEAT; })) {
            return false;
        }
        if (mine.bytes_sent != 0 && !offer()) {
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
    if (!begin_stage(state.control, yield_to_base_firmware)) {
        return false;
    }
    if (lap_of(mine) != args.payload_bytes) {
        // The sender would write past the buffer; it stays in EHSW.
        state.phase = RING_PING_REFUSED;
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

// The two cores of one chip signal each other that their hand-over words are ready.
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

}  // namespace

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
    bool size_right = args.payload_bytes >= 16 && args.payload_bytes <= RING_PING_MAX_PAYLOAD &&
                      args.payload_bytes % 16 == 0;
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

bool set_up() {
    if (!begin_stage(state.control, yield_to_base_firmware)) {
        return false;
    }
    bool shaken = args.role == RING_PING_SENDER ? handshake_as_sender() : handshake_as_receiver();
    return shaken && begin_stage(state.control, yield_to_base_firmware) && meet_sibling();
}

}  // namespace ring_ping
