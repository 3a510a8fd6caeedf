// Arrivals at the traffic kernel: every word, exactly once, in the order of each source.
#include "traffic_moves.hpp"

namespace fabric {
namespace {

fabric_traffic_source_t& source_at(uint32_t index) {
    return reinterpret_cast<fabric_traffic_source_t*>(args.sources_address)[index];
}

const fabric_traffic_arrival_t& arrival_of(const fabric_traffic_source_t& source, uint32_t index) {
    return reinterpret_cast<const fabric_traffic_arrival_t*>(
        args.arrivals_address)[source.first_arrival + index];
}

uint32_t wrong_words(const fabric_traffic_source_t& source,
                     const fabric_traffic_arrival_t& arrival) {
    uint32_t word = traffic_first_word(args.run_id, source.source, arrival.number) +
                    arrival.first_word * TRAFFIC_WORD_STEP;
    const auto* found = reinterpret_cast<const volatile uint32_t*>(arrival.address);
    const auto* end = found + arrival.bytes / 4;
    uint32_t wrong = 0;
    for (; found != end; ++found, word += TRAFFIC_WORD_STEP) {
        wrong += *found != word ? 1 : 0;
    }
    return wrong;
}

void look_at(fabric_traffic_source_t& source, const fabric_traffic_arrival_t& arrival) {
    uint32_t wrong = wrong_words(source, arrival);
    if (wrong != 0) {
        if (state.wrong_words == 0) {
            state.first_wrong_source = source.source;
            state.first_wrong_number = arrival.number;
            state.first_wrong_address = arrival.address;
        }
        source.wrong_words = source.wrong_words + wrong;
        state.wrong_words = state.wrong_words + wrong;
    }
    source.checked = source.checked + 1;
    state.arrived = state.arrived + 1;
}

// Checks the arrivals up to the next one with an increment, if it has arrived.
bool take_next(fabric_traffic_source_t& source) {
    uint32_t there = source.counter - source.counted;
    for (uint32_t i = source.checked; i < source.arrivals; ++i) {
        uint32_t counts = arrival_of(source, i).counts;
        if (counts == 0) {
            continue;
        }
        if (counts > there) {
            return false;
        }
        while (source.checked <= i) {
            look_at(source, arrival_of(source, source.checked));
        }
        source.counted = source.counted + counts;
        return true;
    }
    return false;
}

uint32_t turn;

}  // namespace

bool check_arrivals() {
    for (uint32_t i = 0; i < args.sources; ++i) {
        turn = turn + 1 >= args.sources ? 0 : turn + 1;
        fabric_traffic_source_t& source = source_at(turn);
        if (source.counter != source.counted && take_next(source)) {
            return true;
        }
    }
    return false;
}

bool all_arrived() {
    for (uint32_t i = 0; i < args.sources; ++i) {
        const fabric_traffic_source_t& source = source_at(i);
        if (source.checked != source.arrivals) {
            return false;
        }
    }
    return true;
}

void settle_arrivals() {
    for (uint32_t i = 0; i < args.sources; ++i) {
        fabric_traffic_source_t& source = source_at(i);
        source.missing = source.arrivals - source.checked;
        source.doubled = source.missing == 0 ? source.counter - source.counted : 0;
        state.missing = state.missing + source.missing;
        state.doubled = state.doubled + source.doubled;
    }
}

}  // namespace fabric
