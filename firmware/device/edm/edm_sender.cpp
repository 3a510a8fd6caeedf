// A sender channel: workers fill its buffers, it sends them over the link, and the peer
// acknowledges and completes.
#include "edm_moves.hpp"

namespace edm {
namespace {

// Offers a buffer to its worker, which may fill it once the peer has acknowledged the buffer's last
// message.
bool offer_buffer(channel_t& channel) {
    bool more = !channel.ended || channel.credits < channel.last;
    if (!more || state.control.termination_signal != KEEP_RUNNING) {
        return true;
    }
    ++channel.credits;
    return signal_workers(channel);
}

// A completion also stands for an acknowledge that was not sent.
bool take_acknowledge(channel_t& channel) {
    const eth_channel_sync_t& credit = *channel.acked.words;
    if (credit.receiver_ack == 0 && credit.bytes_sent != 0) {
        return false;
    }
    channel.state->acknowledged = ++channel.acknowledged;
    advance(channel, channel.acked);
    return true;
}

bool take_completion(channel_t& channel) {
    if (channel.tail.words->bytes_sent != 0) {
        return false;
    }
    channel.state->completed = ++channel.completed;
    advance(channel, channel.tail);
    return true;
}

bool all_sent(const channel_t& channel) { return channel.ended && channel.sent == channel.last; }

bool filled(const channel_t& channel) {
    return channel.args->workers != 0 ? workers_passed(channel, channel.head)
                                      : state.control.termination_signal == KEEP_RUNNING;
}

void end_here(channel_t& channel) {
    channel.ended = true;
    channel.last = channel.sent + 1;
}

bool is_last_of_workers(const channel_t& channel) {
    if (args.termination_mode != WORKER_INITIATED || !workers_ended(channel)) {
        return false;
    }
    cursor_t next = channel.head;
    advance(channel, next);
    return !workers_passed(channel, next);
}

// Sends the next part; the sync word follows the last one.
bool send_part(channel_t& channel) {
    const eth_channel_sync_t& tail = *channel.head.tail;
    uint32_t from = reinterpret_cast<uint32_t>(&tail) - channel.rest;
    if (channel.rest > PART_BYTES) {
        txq_write(from, from, PART_BYTES);
        channel.rest -= PART_BYTES;
        return true;
    }
    if (args.separate_sync == 0) {
        txq_write(from, from, channel.rest + sizeof(tail));
    } else {
        txq_write(from, from, channel.rest);
        if (!send_word(tail, tail)) {
            return false;
        }
    }
    channel.rest = 0;
    channel.state->messages_sent = ++channel.sent;
    advance(channel, channel.head);
    return true;
}

bool send_end_mark(channel_t& channel) {
    eth_channel_sync_t& tail = *channel.head.tail;
    uint32_t source = channel.index | SYNC_LAST | SYNC_EMPTY;
    end_here(channel);
    fill_sync(tail, sizeof(tail), 0, source, channel.sent);
    fill_sync(*channel.head.words, sizeof(tail), 0, source, channel.sent);
    txq_write(reinterpret_cast<uint32_t>(&tail), reinterpret_cast<uint32_t>(&tail), sizeof(tail));
    channel.state->messages_sent = ++channel.sent;
    advance(channel, channel.head);
    return true;
}

bool send_next(channel_t& channel) {
    eth_channel_sync_t& tail = *channel.head.tail;
    bool own = channel.args->workers == 0;
    uint32_t bytes = own ? args.buffer_bytes : tail.bytes_sent, source = channel.index;
    if (bytes % 16 != 0 || bytes > args.buffer_bytes || bytes == 0) {
        state.phase = EDM_REFUSED;  // a worker's sync word with an invalid length
        return false;
    }
    if (own) {
        number_message(channel.head, channel.sent);
    } else {
        channel.state->worker_signals = channel.state->worker_signals + 1;
        if (is_last_of_workers(channel)) {
            source |= SYNC_LAST;
            end_here(channel);
        }
    }
    fill_sync(tail, bytes, 0, source, channel.sent);
    fill_sync(*channel.head.words, bytes, 0, source, channel.sent);
    channel.rest = bytes;
    return send_part(channel);
}

}  // namespace

bool open_sender(channel_t& channel) {
    for (uint32_t buffer = 0; buffer < args.buffers_per_channel; ++buffer) {
        if (!offer_buffer(channel)) {
            return false;
        }
    }
    return true;
}

step_t step_sender(channel_t& channel) {
    step_t step = STEP_IDLE;
    if (channel.acknowledged != channel.sent && take_acknowledge(channel)) {
        if (!offer_buffer(channel)) {
            return STEP_FAILED;
        }
        step = STEP_PROGRESS;
    }
    if (channel.completed != channel.acknowledged && take_completion(channel)) {
        show(channel);
        step = STEP_PROGRESS;
    }
    if (channel.rest != 0) {
        return txq_busy() ? step : send_part(channel) ? STEP_PROGRESS : STEP_FAILED;
    }
    if (channel.sent - channel.completed < args.buffers_per_channel && !all_sent(channel) &&
        !txq_busy()) {
        if (filled(channel)) {
            return send_next(channel) ? STEP_PROGRESS : STEP_FAILED;
        }
        // The peer completes a channel that ends early when it receives the end mark.
        if (state.control.termination_signal == GRACEFULLY_TERMINATE) {
            return send_end_mark(channel) ? STEP_PROGRESS : STEP_FAILED;
        }
    }
    return step;
}

void show_sender_wait(const channel_t& channel) {
    if (channel.acknowledged != channel.sent) {
        WAYPOINT("ACKW");
    } else if (channel.completed != channel.sent) {
        WAYPOINT("CMPW");
    } else {
        WAYPOINT("FILW");
    }
}

}  // namespace edm
