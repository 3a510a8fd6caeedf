// A ring of links: a sender sends over its link, the receiver at the other end hands the message to
// the next sender, on its chip, and so on. The master times a round from its send until the message
// returns.
#include "bench_moves.hpp"

namespace bench {
namespace {

uint32_t sibling() { return noc_mid(args.sibling_x, args.sibling_y); }

bool tell_sibling(volatile uint32_t& word, uint32_t value) {
    if (!wait_until([] { return !niu_busy(NOC, NOC_BUFFER_REGISTER); })) {
        return false;
    }
    noc_start_word_write(NOC, TRANSACTION, sibling(), reinterpret_cast<uint32_t>(&word), value);
    return true;
}

// Prepares a hand-over and a send up to the last store, before the message arrives.
void prepare_hand_over(uint32_t round) {
    constexpr uint32_t bulk = NOC_BUFFER_WRITE, word = NOC_BUFFER_REGISTER;
    uint32_t own = noc_own_mid(NOC), filled = reinterpret_cast<uint32_t>(&words->filled);
    niu_field(NOC, bulk, NIU_PACKET_TAG) = TRANSACTION << 10;
    niu_field(NOC, word, NIU_PACKET_TAG) = TRANSACTION << 10;
    niu_field(NOC, bulk, NIU_TARG_LO) = receive_slot(0);
    niu_field(NOC, bulk, NIU_TARG_MID) = own;
    niu_field(NOC, bulk, NIU_RET_LO) = send_slot(0);
    niu_field(NOC, bulk, NIU_RET_MID) = sibling();
    niu_field(NOC, bulk, NIU_CTRL) = NOC_WRITE_CTRL;
    niu_field(NOC, bulk, NIU_AT_LEN_BE) = args.payload_bytes;
    niu_field(NOC, word, NIU_TARG_LO) = filled;
    niu_field(NOC, word, NIU_TARG_MID) = sibling();
    niu_field(NOC, word, NIU_RET_LO) = 0;
    niu_field(NOC, word, NIU_RET_MID) = own;
    niu_field(NOC, word, NIU_CTRL) = NOC_WRITE_CTRL | CTRL_INLINE;
    niu_field(NOC, word, NIU_AT_LEN_BE) = 0xFu << (filled & 0x1C);
    niu_field(NOC, word, NIU_AT_DATA) = round + 1;
}

void hand_over_prepared() {
    niu_field(NOC, NOC_BUFFER_WRITE, NIU_CMD_CTRL) = 1;
    while (niu_busy(NOC, NOC_BUFFER_WRITE)) {
    }
    niu_field(NOC, NOC_BUFFER_REGISTER, NIU_CMD_CTRL) = 1;
}

// Hands over a message of more than one packet. The word that announces it follows on the same
// virtual channel.
bool hand_over_in_parts(uint32_t round) {
    for (uint32_t done = 0; done < args.payload_bytes; done += NOC_MAX_PACKET_BYTES) {
        if (!wait_until([] { return !niu_busy(NOC, NOC_BUFFER_WRITE); })) {
            return false;
        }
        uint32_t rest = args.payload_bytes - done,
                 part = rest < NOC_MAX_PACKET_BYTES ? rest : NOC_MAX_PACKET_BYTES;
        noc_start_write(NOC, TRANSACTION, receive_slot(0) + done, sibling(), send_slot(0) + done,
                        part);
    }
    return wait_until([] { return !niu_busy(NOC, NOC_BUFFER_WRITE); }) &&
           tell_sibling(words->filled, round + 1);
}

void prepare_send(uint32_t round) {
    uint32_t slot = send_slot(0);
    eth_channel_sync_t& tail = tail_of(slot);
    tail.bytes_sent = args.payload_bytes;
    number_of(tail) = round;
    words->credits[0].bytes_sent = args.payload_bytes;
    word_at(TXQ0_BASE + TXQ_TRANSFER_START) = slot;
    word_at(TXQ0_BASE + TXQ_TRANSFER_SIZE) = args.separate_sync == 0 ? slot_bytes()
                                                                     : args.payload_bytes;
    word_at(TXQ0_BASE + TXQ_DEST_ADDR) = receive_slot(0);
}

bool send_prepared() {
    compiler_barrier();
    word_at(TXQ0_BASE + TXQ_CMD) = TXQ_CMD_START_DATA;
    uint32_t sync = send_slot(0) + args.payload_bytes;
    return args.separate_sync == 0 ||
           send(sync, receive_slot(0) + args.payload_bytes, sizeof(eth_channel_sync_t));
}

// The sibling may then fill the slot again.
bool wait_completed(uint32_t round) {
    return wait_until([] { return words->credits[0].bytes_sent == 0; }) &&
           tell_sibling(words->freed, round + 1);
}

bool master_round(uint32_t round) {
    word_at(send_slot(0)) = round;
    prepare_send(round);
    uint32_t start = wall_clock();
    if (!send_prepared() || !wait_until([=] { return words->filled == round + 1; })) {
        return false;
    }
    record_round(wall_clock() - start);
    mismatch(word_at(send_slot(0)) == round ? 0 : 1);
    return wait_completed(round);
}

bool sender_round(uint32_t round) {
    return wait_until([=] { return words->filled == round + 1; }, [=] { prepare_send(round); }) &&
           send_prepared() && wait_completed(round);
}

bool receiver_round(uint32_t round) {
    uint32_t slot = receive_slot(0);
    eth_channel_sync_t& tail = tail_of(slot);
    bool one_packet = args.payload_bytes <= NOC_MAX_PACKET_BYTES;
    if (!wait_until(
            [=] { return words->freed == round && noc_outstanding(NOC, TRANSACTION) == 0; })) {
        return false;
    }
    if (!wait_until([&] { return tail.bytes_sent != 0; }, [=] { prepare_hand_over(round); })) {
        return false;
    }
    if (one_packet) {
        hand_over_prepared();
    } else if (!hand_over_in_parts(round)) {
        return false;
    }
    mismatch(word_at(slot) == round ? 0 : 1);
    state.received = round + 1;
    tail.bytes_sent = 0;
    return wait_until([] { return noc_outstanding(NOC, TRANSACTION) == 0; }) && send_completion(0);
}

}  // namespace

// The two cores of one chip signal each other that their words are ready.
bool meet_sibling() {
    words->filled = 0;
    words->freed = 0;
    if (!tell_sibling(words->hello, args.run_id)) {
        return false;
    }
    WAYPOINT("LSYW");
    bool met = wait_until([] { return words->hello == args.run_id; });
    WAYPOINT("LSYD");
    return met;
}

bool ring() {
    if (args.first != 0) {
        WAYPOINT("HOVW");
    } else {
        WAYPOINT("PAYW");
    }
    for (uint32_t round = 0; round < args.rounds; ++round) {
        bool passed = args.first == 0    ? receiver_round(round)
                      : args.master != 0 ? master_round(round)
                                         : sender_round(round);
        if (!passed || must_stop_now(state.control)) {
            return false;
        }
        state.rounds = round + 1;
    }
    words->hello = 0;
    return wait_until([] { return noc_outstanding(NOC, TRANSACTION) == 0; });
}

}  // namespace bench
