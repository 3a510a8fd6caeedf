// Round trip over one link: the time from a send until its answer arrives.
#include "bench_moves.hpp"

namespace bench {
namespace {

bool ping_once(uint32_t round) {
    uint32_t slot = send_slot(0);
    eth_channel_sync_t &tail = tail_of(slot), &credit = words->credits[0];
    word_at(slot) = round;
    tail.bytes_sent = args.payload_bytes;
    number_of(tail) = round;
    uint32_t start = wall_clock();
    credit.bytes_sent = args.payload_bytes;
    if (!send_message(slot, receive_slot(0)) ||
        !wait_until([&] { return credit.bytes_sent == 0; })) {
        return false;
    }
    record_round(wall_clock() - start);
    return true;
}

bool answer_once(uint32_t round) {
    uint32_t slot = receive_slot(0);
    eth_channel_sync_t& tail = tail_of(slot);
    if (!wait_until([&] { return tail.bytes_sent != 0; })) {
        return false;
    }
    tail.bytes_sent = 0;
    // Read before the answer: afterwards the next message may arrive.
    uint32_t arrived = word_at(slot);
    if (!send_completion(0)) {
        return false;
    }
    mismatch(arrived == round ? 0 : 1);
    state.received = round + 1;
    return true;
}

}  // namespace

bool ping() {
    if (args.first != 0) {
        WAYPOINT("CMPW");
    } else {
        WAYPOINT("PAYW");
    }
    for (uint32_t round = 0; round < args.rounds; ++round) {
        if (!(args.first != 0 ? ping_once(round) : answer_once(round)) ||
            must_stop_now(state.control)) {
            return false;
        }
        state.rounds = round + 1;
    }
    return true;
}

}  // namespace bench
