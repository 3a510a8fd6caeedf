// A sender channel: sends the packets that its producer put into its slots to the peer's receiver
// channel, and takes completions.
#include "router_moves.hpp"

namespace fabric_router {
namespace {

void advance(sender_t& sender) {
    sender.head += channel_buffer_size;
    if (sender.head == sender.end) {
        sender.head = sender.first;
    }
}

void show(sender_t& sender) {
    sender.state->packets_completed = sender.completed;
    sender.state->slot = sender.completed % sender_slots;
    sender.state->last_progress = wall_clock();
}

// The producer is informed first: it waits for the slots.
void take_completions(sender_t& sender, uint32_t count) {
    uint32_t each = sender.dropped == 0 ? count : 1;
    for (uint32_t left = count; left != 0; left -= each) {
        sender.completed += each;
        sender.producer.owed += each;
        if (sender.dropped != 0) {
            pass_dropped(sender);
        }
    }
    tell_producer(sender);
    stream_add(sender.completions, -static_cast<int32_t>(count));
    sender.remote->free_slots += count;
    show(sender);
}

bool wait_for_remote(sender_t& sender) {
    if (args.packet_timeout_cycles == 0) {
        return false;
    }
    if (!sender.waits) {
        sender.waits = true;
        sender.waits_since = wall_clock();
    }
    if (!sender.draining && wall_clock() - sender.waits_since < args.packet_timeout_cycles) {
        return false;
    }
    sender.draining = true;
    state.timed_out = state.timed_out + 1;
    drop_head(sender, EVENT_TIMED_OUT);
    return true;
}

bool send_next(sender_t& sender) {
    remote_t& remote = *sender.remote;
    if (remote.free_slots == 0) {
        return wait_for_remote(sender);
    }
    bool held = false;
    if (announce != 0 || txq_busy()) {
        held = announce == HELD;
        if (!held) {
            return false;
        }
    }
    packet_header_t& header = header_at(sender.head);
    if (header.payload_size_bytes > max_payload_bytes) {
        state.routing_errors = state.routing_errors + 1;
        drop_head(sender, EVENT_ROUTING_ERROR);
        return true;
    }
    uint32_t bytes = packet_bytes(header);
    header.src_ch_id = sender.channel;
    if (!held) {
        txq_write(sender.head, remote.slot, bytes);
    }
    *remote.log_at++ = sender.head;  // while the queue latches
    if (!held) {
        announce = remote.announce_address;
        announce_sent();
    }
    sender.waits = sender.draining = false;
    stream_add(sender.free_slots, 1);
    --remote.free_slots;
    remote.slot += remote.bytes;
    if (remote.slot == remote.end) {
        remote.slot = remote.first;
        remote.log_at = remote.log;
        remote.rounds += receiver_slots;
    }
    advance(sender);
    sender.state->packets_sent = ++sender.sent;
    sender.state->last_progress = wall_clock();
    count_sent(bytes);
    return true;
}

bool is_client(const sender_t& sender) { return &sender == senders; }

}  // namespace

void announce_sent() {
    for (uint32_t polls = 0; polls < 4; ++polls) {
        if (!txq_busy()) {
            txq_write_register(announce, 1u << STREAM_INCREMENT_SHIFT);
            announce = 0;
            return;
        }
    }
}

void tell_producer(sender_t& sender) {
    producer_t& producer = sender.producer;
    if (is_client(sender)) {
        words->conn_info[0].edm_read_counter = sender.completed;
    }
    if (producer.mid == 0) {
        producer.owed = 0;
        return;
    }
    if (!niu_free_soon(NOC_BUFFER_REGISTER)) {
        return;
    }
    uint32_t value = is_client(sender) ? sender.completed : producer.owed << STREAM_INCREMENT_SHIFT;
    start_word(WORDS, producer.mid, producer.address, value);
    producer.owed = 0;
}

bool step_sender(sender_t& sender) {
    bool progress = false;
    if (sender.sent != sender.completed) {
        uint32_t count = stream_value(sender.completions);
        if (count != 0) {
            take_completions(sender, count);
            progress = true;
        }
    }
    if (stream_value(sender.free_slots) != sender_slots) {
        progress = send_next(sender) || progress;
    }
    return progress;
}

}  // namespace fabric_router
