// Interfaces between the parts of the EDM: a channel's private state, waits, sends over the link,
// workers' semaphores.
#pragma once
#include "common/txq.hpp"
#include "edm.hpp"
#include "semaphore/semaphore.hpp"

extern "C" {
extern edm_state_t edm_state;
extern eth_channel_places_t eth_channel_places;
}

namespace edm {

constexpr uint32_t NOC = 0;
// Not used by base firmware, so that its traffic in a yield does not disturb it.
constexpr uint32_t TRANSACTION = 5;

// In the sync word's src_id, beside the channel's number.
constexpr uint32_t SYNC_LAST = 1u << 31;         // no message of this channel follows
constexpr uint32_t SYNC_EMPTY = 1u << 30;  // a sync word without a message, which signals the end

// Bytes of one part of a message. Parts are short so that credits need not wait for a whole
// message.
constexpr uint32_t PART_BYTES = 4096;

inline edm_state_t& state = edm_state;
inline edm_args_t& args = edm_state.args;
static edm_words_t* const words = reinterpret_cast<edm_words_t*>(EDM_WORDS);

// A message of a channel: its buffer, and its worker: it is the `round`-th of worker `turn`.
struct cursor_t {
    eth_channel_sync_t* tail;                     // behind the buffer
    eth_channel_sync_t* words;                    // of this buffer in `credits`
    uint32_t buffer;
    uint32_t turn;
    uint32_t round;
};

struct channel_t {
    const edm_channel_args_t* args;
    edm_channel_state_t* state;
    eth_channel_place_t* place;
    uint32_t index;
    uint32_t turns;                               // workers that take turns: 1 unless ROUND_ROBIN
    uint32_t together;                            // workers that share one buffer: 1 unless SHARED
    cursor_t first;                               // of the first message
    cursor_t head;                                // sender: next to send; receiver: next to arrive
    cursor_t acked;                               // sender: next to be acknowledged
    cursor_t tail;                                // next to be completed
    cursor_t credit;                              // next credit or signal to the workers
    uint32_t sent, acknowledged, completed;       // as in `state`
    uint32_t credits;                             // given
    uint32_t rest;                                // sender: unsent bytes of the message at `head`
    bool done;
    bool ended;                                   // the number of messages is known
    uint32_t last;                                // that number
};

extern channel_t channels[EDM_MAX_CHANNELS];

inline uint32_t stride() { return args.buffer_bytes + sizeof(eth_channel_sync_t); }
inline uint32_t buffer_of(const eth_channel_sync_t* tail) {
    return reinterpret_cast<uint32_t>(tail) - args.buffer_bytes;
}
inline eth_channel_sync_t& ack_of(const cursor_t& cursor) {
    return cursor.words[EDM_MAX_CHANNELS * EDM_MAX_BUFFERS];
}
inline eth_channel_sync_t& completion_of(const cursor_t& cursor) {
    return cursor.words[2 * EDM_MAX_CHANNELS * EDM_MAX_BUFFERS];
}
inline volatile uint32_t& sequence_of(eth_channel_sync_t& sync) {
    return *const_cast<volatile uint32_t*>(&sync.reserved_2);
}

inline void fill_sync(eth_channel_sync_t& sync, uint32_t bytes_sent, uint32_t ack, uint32_t source,
                      uint32_t sequence) {
    sync.receiver_ack = ack;
    sync.src_id = source;
    sequence_of(sync) = sequence;
    sync.bytes_sent = bytes_sent;  // last: a reader that finds it finds the rest in place
}

// Publishes the channel to the decoder: the oldest message that is not completed.
inline void show(const channel_t& channel) {
    channel.place->buffer_address = buffer_of(channel.tail.tail);
    channel.place->sync = channel.args->is_sender != 0 ? channel.tail.words : channel.tail.tail;
}

inline void advance(const channel_t& channel, cursor_t& cursor) {
    if (++cursor.buffer == args.buffers_per_channel) {
        cursor.buffer = 0;
        cursor.tail = channel.first.tail;
        cursor.words = channel.first.words;
    } else {
        cursor.tail = reinterpret_cast<eth_channel_sync_t*>(
            reinterpret_cast<uint32_t>(cursor.tail) + stride());
        ++cursor.words;
    }
    if (++cursor.turn == channel.turns) {
        cursor.turn = 0;
        ++cursor.round;
    }
}

template <typename Condition>
bool wait_until(Condition condition) {
    while (!condition()) {
        if (must_stop_now(state.control)) {
            return false;
        }
        yield_to_base_firmware();
    }
    return true;
}

inline bool send(uint32_t source, uint32_t destination, uint32_t bytes) {
    if (!wait_until([] { return !txq_busy(); })) {
        return false;
    }
    txq_write(source, destination, bytes);
    return true;
}

// For the 16-byte words that the peer waits for: after another such word the queue is free at once.
inline bool txq_free_soon() {
    for (uint32_t polls = 0; polls < 8; ++polls) {
        if (!txq_busy()) {
            return true;
        }
    }
    return false;
}

inline bool send_word(const eth_channel_sync_t& source, const eth_channel_sync_t& destination) {
    return send(reinterpret_cast<uint32_t>(&source), reinterpret_cast<uint32_t>(&destination),
                sizeof(source));
}

// Returns true if every worker concerned has filled or read the message at the cursor.
inline bool workers_passed(const channel_t& channel, const cursor_t& cursor) {
    for (uint32_t worker = cursor.turn; worker < cursor.turn + channel.together; ++worker) {
        uint32_t signals = semaphore_at(channel.args->semaphore_address + worker * SEMAPHORE_BYTES);
        if (signals >= TERMINATE_IMMEDIATELY) {
            state.control.termination_signal = IMMEDIATELY_TERMINATE;
            return false;
        }
        if (((signals - cursor.round) & EDM_MESSAGES) == 0) {
            return false;
        }
    }
    return true;
}

// --- edm_setup.cpp ---
// Reads and checks the arguments, and clears the words that the peer and the workers write. Returns
// false if refused.
bool set_up();
// Returns false if stopped or refused.
bool shake_hands();

// --- edm_workers.cpp ---
// Signals the worker, or the workers, whose turn it is that a buffer may be filled or read.
bool signal_workers(channel_t& channel);
// Takes back the credits that the workers have not used, and clears their semaphores here.
bool settle_workers(channel_t& channel);
// Returns true if all workers have signalled their last message.
bool workers_ended(const channel_t& channel);

// --- edm_sender.cpp, edm_receiver.cpp ---
enum step_t : uint32_t { STEP_IDLE = 0, STEP_PROGRESS = 1, STEP_FAILED = 2 };
bool open_sender(channel_t& channel);
step_t step_sender(channel_t& channel);
step_t step_receiver(channel_t& channel);
// Stores the waypoint of an idle channel's wait.
void show_sender_wait(const channel_t& channel);
void show_receiver_wait(const channel_t& channel);

// Returns true if a step may make progress. Short, because most passes find none.
inline bool sender_may_step(const channel_t& channel) {
    if (channel.acknowledged != channel.sent &&
        (channel.acked.words->receiver_ack != 0 || channel.acked.words->bytes_sent == 0)) {
        return true;
    }
    if (channel.completed != channel.acknowledged && channel.tail.words->bytes_sent == 0) {
        return true;
    }
    return channel.rest != 0 || (channel.sent - channel.completed < args.buffers_per_channel &&
                                 !(channel.ended && channel.sent == channel.last));
}
inline bool receiver_may_step(const channel_t& channel) {
    return channel.completed != channel.sent || channel.head.tail->bytes_sent != 0;
}

// --- edm_messages.cpp: channels without workers ---
void make_messages(const channel_t& channel);
void number_message(const cursor_t& message, uint32_t number);
// Checks the message's number and one stretch, a different one each time.
void check_message(channel_t& channel, const cursor_t& message, uint32_t number);
// Checks every word of the messages that the buffers still hold.
void check_buffers(channel_t& channel);

}  // namespace edm
