// Channels without workers, for measurements: the EDM generates the messages, or checks and drops
// them. Writing or checking every word would take longer than the link. So a message is written
// once per buffer and only its number changes; the receiver checks a stretch of each message that
// advances from one to the next, and at the end all words that are still in the buffers.
#include "edm_moves.hpp"

namespace edm {
namespace {

constexpr uint32_t STRETCH_WORDS = 8;

// Word 0 is the message's number.
uint32_t pattern(uint32_t channel, uint32_t index) {
    return (channel + 1) * 0x9E3779B9u + index * 0x01000193u;
}
volatile uint32_t* words_of(uint32_t buffer) {
    return reinterpret_cast<volatile uint32_t*>(buffer);
}

void mismatch(channel_t& channel, uint32_t by) {
    channel.state->mismatched_words = channel.state->mismatched_words + by;
}

void check_words(channel_t& channel, uint32_t buffer, uint32_t first, uint32_t end) {
    const volatile uint32_t* words = words_of(buffer);
    uint32_t bad = 0;
    for (uint32_t i = first; i < end; ++i) {
        bad += words[i] != pattern(channel.index, i) ? 1 : 0;
    }
    if (bad != 0) {
        mismatch(channel, bad);
    }
}

}  // namespace

void make_messages(const channel_t& channel) {
    cursor_t message = channel.first;
    for (uint32_t buffer = 0; buffer < args.buffers_per_channel; ++buffer) {
        volatile uint32_t* words = words_of(buffer_of(message.tail));
        for (uint32_t i = 0; i < args.buffer_bytes / 4; ++i) {
            words[i] = pattern(channel.index, i);
        }
        advance(channel, message);
    }
}

void number_message(const cursor_t& message, uint32_t number) {
    words_of(buffer_of(message.tail))[0] = number;
}

void check_message(channel_t& channel, const cursor_t& message, uint32_t number) {
    uint32_t address = buffer_of(message.tail), length = args.buffer_bytes / 4;
    if (words_of(address)[0] != number) {
        mismatch(channel, 1);
    }
    uint32_t first = number * STRETCH_WORDS % length;
    check_words(channel, address, first == 0 ? 1 : first, first + STRETCH_WORDS);
}

void check_buffers(channel_t& channel) {
    cursor_t message = channel.first;
    for (uint32_t buffer = 0; buffer < args.buffers_per_channel && buffer < channel.sent;
         ++buffer) {
        check_words(channel, buffer_of(message.tail), 1, args.buffer_bytes / 4);
        advance(channel, message);
    }
}

}  // namespace edm
