// A socket's end-to-end flow control: the sender never has more in flight than the receiver's fifo
// holds. Credit messages in a channel of their own report what the receiver has taken.
#include "worker_moves.hpp"

namespace ccl {
namespace {

constexpr uint32_t CREDIT_ID = ATOMIC_ID + 1;
constexpr uint32_t ROOM = 64;                     // for a credit with its sync word, 32-aligned

alignas(32) uint8_t credits[MAX_DEPTH][ROOM];
uint32_t credits_due;                             // for packets that were sent

uint32_t credit_at(uint32_t slot) { return reinterpret_cast<uint32_t>(credits[slot]); }

}  // namespace

bool has_room(uint32_t bytes) {
    return state.socket.bytes_sent - state.socket.bytes_acked + bytes <= args.fifo_bytes;
}

void count_sent(uint32_t bytes) {
    state.socket.bytes_sent = state.socket.bytes_sent + bytes;
    ++credits_due;
}

bool credits_are_due() { return credits_due != 0; }

bool take_credits() {
    while (credits_due != 0 && available(CCL_SEMAPHORE_INBOUND)) {
        if (!read_channel(CREDIT_ID, credit_at(0), CCL_CREDIT_BYTES) ||
            !wait_until([] { return noc_outstanding(NOC, CREDIT_ID) == 0; })) {
            return false;
        }
        compiler_barrier();
        state.socket.bytes_acked = word_at(credit_at(0));
        --credits_due;
        if (!release_channel(credit_at(0), CCL_CREDIT_BYTES)) {
            return false;
        }
    }
    return true;
}

bool send_credit(const packet_t& packet) {
    state.socket.bytes_acked = state.socket.bytes_acked + packet.bytes;
    word_at(credit_at(packet.slot)) = state.socket.bytes_acked;
    return write_channel(WRITE_IDS + packet.slot, credit_at(packet.slot), CCL_CREDIT_BYTES);
}

}  // namespace ccl
