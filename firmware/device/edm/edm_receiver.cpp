// A receiver channel: messages arrive over the link, workers read them, and each is acknowledged
// and later completed.
#include "edm_moves.hpp"

namespace edm {
namespace {

void send_credit(const eth_channel_sync_t& word, const cursor_t& message) {
    txq_write(reinterpret_cast<uint32_t>(&word), reinterpret_cast<uint32_t>(message.words),
              sizeof(word));
}

bool is_end_mark(const eth_channel_sync_t& tail) { return (tail.src_id & SYNC_EMPTY) != 0; }

bool read_by_workers(const channel_t& channel) {
    return channel.args->workers == 0 || workers_passed(channel, channel.tail) ||
           is_end_mark(*channel.tail.tail) ||
           state.control.termination_signal == GRACEFULLY_TERMINATE;
}

void acknowledge(channel_t& channel) {
    eth_channel_sync_t &tail = *channel.head.tail, &ack = ack_of(channel.head);
    fill_sync(ack, tail.bytes_sent, 1, tail.src_id, channel.sent);
    send_credit(ack, channel.head);
    tail.receiver_ack = 1;
}

// A message that no worker reads is completed at once; its completion also acknowledges it.
bool take_message(channel_t& channel) {
    const eth_channel_sync_t& tail = *channel.head.tail;
    bool read = channel.args->workers != 0 && !is_end_mark(tail);
    if (read) {
        acknowledge(channel);
    }
    if ((tail.src_id & SYNC_LAST) != 0) {
        channel.ended = true;
        channel.last = channel.sent + 1;
    }
    if (channel.args->workers == 0 && !is_end_mark(tail)) {
        check_message(channel, channel.head, channel.sent);
    }
    channel.state->messages_sent = ++channel.sent;
    channel.state->acknowledged = ++channel.acknowledged;
    advance(channel, channel.head);
    return !read || state.control.termination_signal != KEEP_RUNNING || signal_workers(channel);
}

void complete(channel_t& channel) {
    eth_channel_sync_t &tail = *channel.tail.tail, &completion = completion_of(channel.tail);
    if (channel.args->workers != 0 && !is_end_mark(tail)) {
        channel.state->worker_signals = channel.state->worker_signals + 1;
    }
    fill_sync(completion, 0, 1, tail.src_id, channel.completed);
    fill_sync(tail, 0, 0, 0, 0);  // before the completion: the next message may come at once
    send_credit(completion, channel.tail);
    channel.state->completed = ++channel.completed;
    advance(channel, channel.tail);
}

}  // namespace

step_t step_receiver(channel_t& channel) {
    step_t step = STEP_IDLE;
    if (channel.sent - channel.completed < args.buffers_per_channel &&
        channel.head.tail->bytes_sent != 0 && txq_free_soon()) {
        if (!take_message(channel)) {
            return STEP_FAILED;
        }
        step = STEP_PROGRESS;
    }
    if (channel.completed != channel.sent && read_by_workers(channel) && txq_free_soon()) {
        complete(channel);
        show(channel);
        step = STEP_PROGRESS;
    }
    return step;
}

void show_receiver_wait(const channel_t& channel) {
    if (channel.completed != channel.sent) {
        WAYPOINT("WRDW");
    } else {
        WAYPOINT("PAYW");
    }
}

}  // namespace edm
