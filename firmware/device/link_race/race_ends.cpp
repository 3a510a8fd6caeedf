// The two ends of an op: one sends; the other receives the messages, delays and reads them.
#include "race_moves.hpp"

namespace race {
namespace {

void fill(uint32_t channel, uint32_t number) {
    auto* message = reinterpret_cast<volatile uint32_t*>(slot_of(channel));
    for (uint32_t i = 0; i < args.payload_bytes / 4; ++i) {
        message[i] = link_race_pattern(args.run_id, channel, number, i);
    }
}

bool take_credit(uint32_t channel, uint32_t number) {
    if (!wait_for(FOR_CREDIT, channel, [=] { return word_of(channel).bytes_sent == 0; })) {
        return false;
    }
    judge(FOR_CREDIT, channel, number);
    state.credits = state.credits + 1;
    return true;
}

bool send_message(uint32_t channel, uint32_t number) {
    fill(channel, number);
    mark(word_of(channel), args.payload_bytes, number);
    if (!send(slot_of(channel), args.payload_bytes) || !send_word(word_of(channel))) {
        return false;
    }
    state.messages = state.messages + 1;
    return true;
}

bool await_message(uint32_t channel, uint32_t number) {
    WAYPOINT("PAYW");
    if (!wait_for(FOR_MESSAGE, channel, [=] { return word_of(channel).bytes_sent != 0; })) {
        return false;
    }
    judge(FOR_MESSAGE, channel, number);
    return true;
}

bool delay() {
    WAYPOINT("DWLW");
    uint32_t start = wall_clock();
    return wait_until([=] { return wall_clock() - start >= args.dwell_cycles; });
}

void read_out(uint32_t channel, uint32_t number) {
    const auto* message = reinterpret_cast<const volatile uint32_t*>(slot_of(channel));
    for (uint32_t i = 0; i < args.payload_bytes / 4; ++i) {
        uint32_t expected = link_race_pattern(args.run_id, channel, number, i), found = message[i];
        if (found == expected) {
            continue;
        }
        if (state.mismatched_words == 0) {
            state.first_mismatch = {reinterpret_cast<uint32_t>(&message[i]), expected, found};
        }
        state.mismatched_words = state.mismatched_words + 1;
    }
    state.messages = state.messages + 1;
}

bool receive(uint32_t channel, uint32_t number) {
    bool early = args.credit_on_arrival != 0;
    if (!early && !await_message(channel, number)) {
        return false;
    }
    if (!delay()) {
        return false;
    }
    read_out(channel, number);
    return early || return_credit(channel, number);
}

}  // namespace

bool send_all() {
    for (uint32_t number = 1; number <= args.rounds; ++number) {
        for (uint32_t channel = 0; channel < args.channels; ++channel) {
            WAYPOINT("CMPW");
            if ((number > 1 && !take_credit(channel, number - 1)) ||
                !send_message(channel, number)) {
                return false;
            }
        }
    }
    if (args.teardown == 0) {
        return true;
    }
    state.phase = LINK_RACE_TEARDOWN;
    WAYPOINT("TDNW");
    for (uint32_t channel = 0; channel < args.channels; ++channel) {
        if (!take_credit(channel, args.rounds)) {
            return false;
        }
    }
    WAYPOINT("TDND");
    return true;
}

bool receive_all() {
    for (uint32_t number = 1; number <= args.rounds; ++number) {
        for (uint32_t channel = 0; args.credit_on_arrival != 0 && channel < args.channels;
             ++channel) {
            if (!await_message(channel, number) || !return_credit(channel, number)) {
                return false;
            }
        }
        for (uint32_t channel = 0; channel < args.channels; ++channel) {
            if (!receive(channel, number)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace race
