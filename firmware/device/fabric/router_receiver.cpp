// A receiver channel: forwards packets that arrive over the link to this chip and to other routers
// of this plane, and completes them.
#include "router_route.hpp"

namespace fabric_router {
namespace {

void advance(const receiver_t& receiver, uint32_t& slot) {
    slot += channel_buffer_size;
    if (slot == receiver.end) {
        slot = receiver.first;
    }
}

void set_wait(receiver_t& receiver, fabric_wait_t wait) {
    if (receiver.state->waits_for != wait) {
        receiver.state->waits_for = wait;
    }
}

// The head was forwarded or dropped: its slot is completed when its writes have left as well.
void finish_head(receiver_t& receiver) {
    receiver.pending = 0;
    stream_add(receiver.arrived, -1);
    advance(receiver, receiver.head);
    receiver.state->packets_received = ++receiver.received;
    receiver.state->last_progress = wall_clock();
    if (receiver.state->waits_for != WAITS_FOR_NOTHING) {
        receiver.state->waits_for = WAITS_FOR_NOTHING;
        receiver.state->pending = 0;
    }
}

void drop(receiver_t& receiver, fabric_event_t event) {
    report_drop(event, header_at(receiver.head));
    receiver.state->packets_dropped = receiver.state->packets_dropped + 1;
    finish_head(receiver);
}

void drop_unrouted(receiver_t& receiver) {
    state.routing_errors = state.routing_errors + 1;
    drop(receiver, EVENT_ROUTING_ERROR);
}

// Returns false if the head was dropped.
bool open_head(receiver_t& receiver) {
    packet_header_t& header = header_at(receiver.head);
    uint32_t ttl = header.tail.ttl - (header.tail.ttl != 0 ? 1u : 0u);
    header.tail.ttl = static_cast<uint8_t>(ttl);
    if (ttl == 0) {
        state.expired = state.expired + 1;
        drop(receiver, EVENT_EXPIRED);
        return false;
    }
    receiver.pending = route(header);
    receiver.chunk = 0;
    if (receiver.pending == 0) {
        drop_unrouted(receiver);
        return false;
    }
    if (args.packet_timeout_cycles != 0) {
        receiver.waits_since = wall_clock();
    }
    return true;
}

// Packets that have crossed the dateline travel in virtual channel 1; those of a ring until they
// turn.
downstream_t& towards(const receiver_t& receiver, uint32_t direction) {
    bool second = has_vc1 && (has_intermesh_vc || direction == opposite(args.my_direction)) &&
                  (receiver.second || args.dateline != 0);
    return downstream[!second            ? direction
                      : has_intermesh_vc ? VC1_DOWNSTREAM + direction
                                         : VC1_DOWNSTREAM];
}

moved_t forward(receiver_t& receiver, const packet_header_t& header, uint32_t direction) {
    downstream_t& down = towards(receiver, direction);
    if (down.mid == 0) {
        return BAD_PACKET;
    }
    if (stream_value(down.credits) == 0) {
        return WAITS_DOWNSTREAM;
    }
    if (!niu_free_soon(NOC_BUFFER_WRITE) || !niu_free_soon(NOC_BUFFER_REGISTER)) {
        return WAITS_NOC;
    }
    stream_add(down.credits, -1);
    start_write(transaction_of(receiver, receiver.received), receiver.head, down.mid, down.slot,
                packet_bytes(header));
    start_word(WORDS, down.mid, down.free_slots_address, -1u << STREAM_INCREMENT_SHIFT);
    down.slot += channel_buffer_size;
    if (down.slot == down.end) {
        down.slot = down.first;
    }
    if (receiver.draining != 0) {
        receiver.draining &= ~(1u << direction);
    }
    return MOVED;
}

// Executes the actions of the head that are possible now.
moved_t move_head(receiver_t& receiver) {
    packet_header_t& header = header_at(receiver.head);
    moved_t all = MOVED;
    uint32_t rest = receiver.pending & ((1u << DIRECTIONS) - 1);
    for (uint32_t direction = 0; rest != 0; ++direction, rest >>= 1) {
        if ((rest & 1) == 0) {
            continue;
        }
        moved_t moved = forward(receiver, header, direction);
        if (moved == BAD_PACKET) {
            return BAD_PACKET;
        }
        if (moved == MOVED) {
            receiver.pending &= ~(1u << direction);
        } else {
            all = moved;
        }
    }
    if ((receiver.pending & (ACTION_HERE | DELIVER_AFTER_FLUSH)) != 0) {
        moved_t moved = deliver(receiver, header);
        if (moved != MOVED) {
            return moved == BAD_PACKET ? moved : all == MOVED ? moved : all;
        }
        receiver.pending &= ~(ACTION_HERE | DELIVER_AFTER_FLUSH);
    }
    return all;
}

// Drops a head that made no progress within the timeout. Packets behind it for the same direction
// then do not wait.
bool give_up(receiver_t& receiver) {
    constexpr uint32_t directions = (1u << DIRECTIONS) - 1;
    if (args.packet_timeout_cycles == 0) {
        return false;
    }
    bool late = wall_clock() - receiver.waits_since >= args.packet_timeout_cycles;
    if (!late && (receiver.pending & directions & receiver.draining) == 0) {
        return false;
    }
    receiver.draining |= receiver.pending & directions;
    state.timed_out = state.timed_out + 1;
    drop(receiver, EVENT_TIMED_OUT);
    return true;
}

bool step_head(receiver_t& receiver) {
    if (receiver.pending == 0 && !open_head(receiver)) {
        return true;
    }
    uint32_t before = receiver.pending;
    moved_t moved = move_head(receiver);
    if (receiver.pending == 0) {
        finish_head(receiver);
        return true;
    }
    if (moved == BAD_PACKET) {
        drop_unrouted(receiver);
        return true;
    }
    if (receiver.state->pending != receiver.pending) {
        receiver.state->pending = receiver.pending;
    }
    set_wait(receiver, moved == WAITS_DOWNSTREAM ? WAITS_FOR_DOWNSTREAM : WAITS_FOR_NOC);
    return give_up(receiver) || receiver.pending != before;
}

// Completions of packets from the same sender channel are sent together.
void complete(receiver_t& receiver, bool tells) {
    uint32_t channel = header_at(receiver.tail).src_ch_id, count = 0;
    do {
        ++count;
        ++receiver.completed;
        advance(receiver, receiver.tail);
    } while (receiver.completed != receiver.received &&
             header_at(receiver.tail).src_ch_id == channel &&
             has_left(transaction_of(receiver, receiver.completed)));
    if (tells) {
        txq_write_register(stream_update_address(to_sender_0_pkts_completed_id + channel),
                           count << STREAM_INCREMENT_SHIFT);
    }
    receiver.state->packets_completed = receiver.completed;
    receiver.state->slot = receiver.completed % receiver_slots;
}

}  // namespace

// The stream is read once: a load may overtake the store that decrements it.
bool step_receiver(receiver_t& receiver) {
    bool progress = false;
    uint32_t arrived = stream_value(receiver.arrived);
    if (receiver.received != receiver.completed &&
        has_left(transaction_of(receiver, receiver.completed)) &&
        (announce == 0 ? !txq_busy() : announce == HELD)) {
        complete(receiver, announce == 0);
        progress = true;
    }
    for (; arrived != 0 && receiver.received - receiver.completed < PIPELINE; --arrived) {
        uint32_t received = receiver.received;
        progress = step_head(receiver) || progress;
        if (receiver.received == received) {
            break;
        }
    }
    return progress;
}

bool receiver_idle(const receiver_t& receiver) {
    return receiver.received == receiver.completed && receiver.pending == 0 &&
           stream_value(receiver.arrived) == 0;
}

}  // namespace fabric_router
