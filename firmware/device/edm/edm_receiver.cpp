// A receiver channel: messages arrive over the link, workers read them, and each is acknowledged and later completed.
#include "edm_moves.hpp"

namespace edm {
namespace {

bool read_by_workers(const channel_t& channel) {
    bool empty = channel.ended && (tail_of(channel, channel.tail.buffer).src_id & SYNC_EMPTY) != 0;
    return channel.args->workers == 0 || empty || state.control.termination_signal == GRACEFULLY_TERMINATE ||
           workers_passed(channel, channel.tail);
}

bool take_message(channel_t& channel, eth_channel_sync_t& tail) {
    uint32_t number = channel.state->messages_sent, buffer = channel.head.buffer;
    eth_channel_sync_t& ack = words->ack[channel.index][buffer];
    fill_sync(ack, tail.bytes_sent, 1, tail.src_id, sequence_of(tail));
    txq_write(reinterpret_cast<uint32_t>(&ack), reinterpret_cast<uint32_t>(&words->credits[channel.index][buffer]), sizeof(ack));
    tail.receiver_ack = 1;
    channel.state->messages_sent = number + 1;
    channel.state->acknowledged = number + 1;
    advance(channel, channel.head);
    if ((tail.src_id & SYNC_LAST) != 0) {
        channel.ended = true;
        channel.last = number + 1;
    }
    if ((tail.src_id & SYNC_EMPTY) != 0) {
        return true;
    }
    if (channel.args->workers == 0) {
        check_message(channel, buffer, number);
    }
    return state.control.termination_signal != KEEP_RUNNING || signal_workers(channel);
}

void complete(channel_t& channel) {
    uint32_t number = channel.state->completed, buffer = channel.tail.buffer;
    eth_channel_sync_t& tail = tail_of(channel, buffer);
    eth_channel_sync_t& completion = words->completion[channel.index][buffer];
    if (channel.args->workers != 0 && (tail.src_id & SYNC_EMPTY) == 0) {
        channel.state->worker_signals = channel.state->worker_signals + 1;
    }
    fill_sync(completion, 0, 1, tail.src_id, number);
    fill_sync(tail, 0, 0, 0, 0);  // before the completion: the next message may come at once
    txq_write(reinterpret_cast<uint32_t>(&completion), reinterpret_cast<uint32_t>(&words->credits[channel.index][buffer]),
              sizeof(completion));
    channel.state->completed = number + 1;
    advance(channel, channel.tail);
}

}  // namespace

step_t step_receiver(channel_t& channel) {
    edm_channel_state_t& mine = *channel.state;
    step_t step = STEP_IDLE;
    if (mine.messages_sent - mine.completed < args.buffers_per_channel) {
        eth_channel_sync_t& tail = tail_of(channel, channel.head.buffer);
        if (tail.bytes_sent != 0 && !txq_busy()) {
            if (!take_message(channel, tail)) {
                return STEP_FAILED;
            }
            step = STEP_PROGRESS;
        }
    }
    if (mine.completed != mine.messages_sent && !txq_busy() && read_by_workers(channel)) {
        complete(channel);
        show(channel);
        step = STEP_PROGRESS;
    }
    return step;
}

void show_receiver_wait(const channel_t& channel) {
    if (channel.state->completed != channel.state->messages_sent) {
        WAYPOINT("WRDW");
    } else {
        WAYPOINT("PAYW");
    }
}

}  // namespace edm
