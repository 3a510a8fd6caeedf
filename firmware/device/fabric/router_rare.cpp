// Rare work of a router: dropped packets, its client's connection, waypoints of waits, and
// teardown.
#pragma GCC optimize("Os")  // off the path of packets
#include "router_moves.hpp"

namespace fabric_router {

uint32_t xy_mid(uint32_t xy) { return noc_mid(xy & 0xFFFF, xy >> 16); }

void pass_dropped(sender_t& sender) {
    while (sender.completed != sender.sent &&
           (sender.dropped >> sender.completed % sender_slots & 1) != 0) {
        sender.dropped &= ~(1u << sender.completed % sender_slots);
        ++sender.completed;
        ++sender.producer.owed;
    }
}

void drop_head(sender_t& sender, fabric_event_t event) {
    report_drop(event, header_at(sender.head));
    sender.dropped |= 1u << sender.sent % sender_slots;
    sender.state->packets_sent = ++sender.sent;
    sender.state->packets_dropped = sender.state->packets_dropped + 1;
    stream_add(sender.free_slots, 1);
    sender.head += channel_buffer_size;
    if (sender.head == sender.end) {
        sender.head = sender.first;
    }
    pass_dropped(sender);
    sender.state->packets_completed = sender.completed;
    sender.state->slot = sender.completed % sender_slots;
    sender.state->last_progress = wall_clock();
}

void serve_client() {
    for (sender_t& waiting : senders) {
        if (waiting.producer.owed != 0) {
            tell_producer(waiting);
        }
    }
    sender_t& sender = senders[0];
    volatile uint32_t& connection = words->conn_semaphore[0].value;
    EDMChannelWorkerLocationInfo& info = words->conn_info[0];
    uint32_t mid = noc_mid(info.worker_x, info.worker_y);
    if (connection == OPEN_CONNECTION && sender.producer.mid == 0) {
        sender.producer.mid = mid;
        sender.producer.address = info.worker_semaphore_address;
        tell_producer(sender);  // completions since it read its counter
    } else if (connection == CLOSE_CONNECTION_REQUEST && niu_free_soon(NOC_BUFFER_ATOMIC)) {
        info.edm_read_counter = sender.completed;
        sender.producer.mid = 0;
        sender.producer.owed = 0;
        connection = UNUSED_CONNECTION;
        start_increment(WORDS, mid, info.worker_teardown_semaphore_address, 1);
    }
}

bool sender_idle(const sender_t& sender) {
    return sender.sent == sender.completed && sender.producer.owed == 0 &&
           stream_value(sender.free_slots) == sender_slots;
}

bool show_wait() {
    for (const receiver_t& receiver : receivers) {
        if (receiver.state->waits_for == WAITS_FOR_DOWNSTREAM) {
            WAYPOINT("RDSW");
            return true;
        }
        if (receiver.state->waits_for == WAITS_FOR_NOC) {
            WAYPOINT("RNOW");
            return true;
        }
    }
    for (const sender_t& sender : senders) {
        if (stream_value(sender.free_slots) != sender_slots) {
            if (sender.remote->free_slots == 0) {
                WAYPOINT("RRSW");
            } else {
                WAYPOINT("RTXW");
            }
            return true;
        }
    }
    return false;
}

namespace {

constexpr uint32_t QUIET_CYCLES = 20000;  // without a packet before a router leaves gracefully

bool all_idle() {
    bool idle = announce <= HELD && (control_idle() || announce == HELD) && carrier_idle();
    for (const receiver_t& receiver : receivers) {
        idle = idle && receiver_idle(receiver);
    }
    for (const sender_t& sender : senders) {
        idle = idle && sender_idle(sender);
    }
    return idle;
}

}  // namespace

bool may_leave(farewell_t& farewell, bool progress) {
    uint32_t now = wall_clock();
    if (!farewell.handed_on) {
        farewell.handed_on = true;
        farewell.quiet_since = now;
        hand_on_termination();
    }
    if (progress || !all_idle()) {
        farewell.quiet_since = now;
        return false;
    }
    if (now - farewell.quiet_since < QUIET_CYCLES) {
        return false;
    }
    if (!farewell.told) {
        farewell.told = tell_drained();
        if (!farewell.told) {
            return false;
        }
        WAYPOINT("TDNW");
    }
    return *const_cast<volatile uint8_t*>(&words->peer_identity.seen) == DRAINED;
}

// Waits for accesses in flight to end, for a bounded time: a jammed network may never end them.
void tear_down() {
    WAYPOINT("TDNW");
    serve_client();
    uint32_t start = wall_clock();
    while (wall_clock() - start < QUIET_CYCLES &&
           (txq_busy() || noc_outstanding(NOC, WORDS) != 0)) {
        yield_to_base_firmware();
    }
    WAYPOINT("TDND");
}

}  // namespace fabric_router
