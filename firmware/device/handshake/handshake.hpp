// The handshake of the two ERISCs of a link, before a kernel's first message. Its words are at the
// same place in every kernel, so that the handshake of one run cannot clobber another's data.
#pragma once
#include "common/erisc.hpp"
#include "common/eth_sync.hpp"
#include "common/txq.hpp"
#include "common/waypoint.hpp"

struct handshake_words_t {
    eth_channel_sync_t arrived;                    // the peer writes here
    eth_channel_sync_t source;
};
static handshake_words_t* const handshake_words =
    reinterpret_cast<handshake_words_t*>(ERISC_UNRESERVED);

enum handshake_t : uint32_t { HANDSHAKE_STOPPED = 0, HANDSHAKE_READY = 1, HANDSHAKE_NOT_ALIKE = 2 };
constexpr uint32_t HANDSHAKE_REPEAT = 50000;      // cycles; the peer may be launched any time later
constexpr uint32_t HANDSHAKE_BYTES = 16;

// `mark` is the value on which both ends must agree. `wait` waits for a condition and returns false
// if the kernel must stop.
template <typename Wait>
bool handshake_send(Wait wait) {
    if (!wait([] { return !txq_busy(); })) {
        return false;
    }
    txq_write(reinterpret_cast<uint32_t>(&handshake_words->source),
              reinterpret_cast<uint32_t>(&handshake_words->arrived), HANDSHAKE_BYTES);
    return true;
}

inline void handshake_fill(eth_channel_sync_t& sync, uint32_t bytes_sent, uint32_t ack,
                           uint32_t run_id, uint32_t mark) {
    sync.receiver_ack = ack;
    sync.src_id = run_id;
    *const_cast<volatile uint32_t*>(&sync.reserved_2) = mark;
    sync.bytes_sent = bytes_sent;
}

// The sender offers until the answer arrives. It repeats the offer: one that arrives before the
// peer's host has started that tile may be lost when the host clears the words. `next` begins the
// kernel's next stage, the answer, and returns false if the kernel must stop.
template <typename Wait, typename Next>
handshake_t handshake_offer(uint32_t run_id, uint32_t mark, Wait wait, Next next) {
    eth_channel_sync_t& arrived = handshake_words->arrived;
    handshake_fill(handshake_words->source, HANDSHAKE_BYTES, 0, run_id, mark);
    handshake_fill(arrived, HANDSHAKE_BYTES, 0, run_id, mark);
    if (!handshake_send(wait) || !next()) {
        return HANDSHAKE_STOPPED;
    }
    while (arrived.bytes_sent != 0) {
        uint32_t start = wall_clock();
        WAYPOINT("EHSW");
        if (!wait([&] {
                return arrived.bytes_sent == 0 || wall_clock() - start >= HANDSHAKE_REPEAT;
            })) {
            return HANDSHAKE_STOPPED;
        }
        if (arrived.bytes_sent != 0 && !handshake_send(wait)) {
            return HANDSHAKE_STOPPED;
        }
    }
    WAYPOINT("EHSD");
    return arrived.receiver_ack == HANDSHAKE_READY ? HANDSHAKE_READY : HANDSHAKE_NOT_ALIKE;
}

template <typename Wait, typename Next>
handshake_t handshake_answer(uint32_t run_id, uint32_t mark, Wait wait, Next next) {
    eth_channel_sync_t& arrived = handshake_words->arrived;
    WAYPOINT("EHSW");
    if (!wait([&] { return arrived.bytes_sent != 0 && arrived.src_id == run_id; })) {
        return HANDSHAKE_STOPPED;
    }
    WAYPOINT("EHSD");
    if (!next()) {
        return HANDSHAKE_STOPPED;
    }
    handshake_t answer = arrived.reserved_2 == mark ? HANDSHAKE_READY : HANDSHAKE_NOT_ALIKE;
    handshake_fill(handshake_words->source, 0, answer, run_id, mark);
    arrived.bytes_sent = 0;
    return handshake_send(wait) ? answer : HANDSHAKE_STOPPED;
}
