// One of two successive ops: arguments, the guide's handshake, messages, the guide's teardown.
#include "common/build_id.hpp"
#include "race_moves.hpp"

extern "C" {
__attribute__((used)) link_race_state_t link_race_state = {
    .magic = waypoint_word("RACE"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
__attribute__((used)) eth_channel_places_t eth_channel_places = {};
}

namespace race {
namespace {

bool arguments_fit() {
    bool size = args.payload_bytes >= 32 && args.payload_bytes % 16 == 0 &&
                args.payload_bytes < LINK_RACE_END;
    return size && args.run_id != 0 && args.run_id < 256 && args.rounds != 0 &&
           args.channels != 0 && args.channels <= LINK_RACE_MAX_CHANNELS &&
           slot_of(args.channels) <= LINK_RACE_END &&
           (args.credit_on_arrival == 0 || args.rounds == 1);
}

bool set_up() {
    uint32_t address = runtime_args_address(ACTIVE_ETH, 0);
    if (address == 0) {
        return false;
    }
    args = *reinterpret_cast<const link_race_args_t*>(address);
    if (args.yield_interval == 0) {
        args.yield_interval = 1024;
    }
    if (!arguments_fit()) {
        return false;
    }
    for (uint32_t channel = 0; channel < args.channels; ++channel) {
        eth_channel_place_t& place = eth_channel_places.channels[channel];
        place.buffer_address = slot_of(channel);
        place.buffer_bytes = args.payload_bytes;
        place.role = args.sends != 0 ? ETH_CHANNEL_SENDER : ETH_CHANNEL_RECEIVER;
    }
    return true;
}

// The guide's handshake: the sender sends a word and waits until it is 0 again; the receiver waits
// for the word and returns it.
bool shake_hands() {
    WAYPOINT("EHSW");
    eth_channel_sync_t& word = word_of(0);
    bool sends = args.sends != 0;
    if (sends) {
        mark(word, LINK_RACE_HANDSHAKE_BYTES, 0);
        if (!send_word(word)) {
            return false;
        }
    }
    uint32_t awaited = sends ? 0 : LINK_RACE_HANDSHAKE_BYTES;
    if (!wait_for(FOR_HANDSHAKE, 0, [&] { return word.bytes_sent == awaited; })) {
        return false;
    }
    judge(FOR_HANDSHAKE, 0, 0);
    WAYPOINT("EHSD");
    return sends || return_credit(0, 0);
}

bool run() {
    state.phase = LINK_RACE_HANDSHAKE;
    if (args.handshake != 0 && !shake_hands()) {
        return false;
    }
    state.phase = LINK_RACE_RUNNING;
    bool done = args.sends != 0 ? send_all() : receive_all();
    return done && wait_until([] { return !txq_busy(); });
}

}  // namespace
}  // namespace race

extern "C" void kernel_main() {
    WAYPOINT("K");
    if (!race::set_up()) {
        link_race_state.phase = LINK_RACE_REFUSED;
    } else if (race::run()) {
        link_race_state.phase = LINK_RACE_FINISHED;
    } else {
        link_race_state.phase = LINK_RACE_STOPPED;
    }
    WAYPOINT("KD");
}
