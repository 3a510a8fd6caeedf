// Messages of other routers of this direction: sends them over this link and forwards those that
// arrive for them.
#pragma GCC optimize("Os")  // off the path of packets
#include "router_reroute.hpp"

namespace fabric_router {
namespace {

constexpr uint32_t PATIENCE = 200000;          // cycles for a router that may have left
constexpr uint32_t PULL_POLLS = 64;  // a slot has arrived by then unless the network is jammed
constexpr uint32_t OUT = fallback_buffers, IN = fallback_buffers + fallback_buffer_size;

enum out_t : uint8_t { OUT_IDLE, OUT_PULLS, OUT_SENT };
enum in_t : uint8_t { IN_IDLE, IN_OFFERED };
out_t out;
in_t in;
bool refuses;
bool in_is_owed;                               // the slot must be returned to the peer
bool in_is_taken;                              // the peer's slot is in use
uint32_t next;                                 // the router whose request is read first
uint32_t known[FABRIC_MAX_FALLBACKS];
const fabric_resync_t* taken;
uint32_t offered, offered_at;                  // serial number of the last offer

// Reports about the message that came over the link: first, that it has arrived and its source slot
// is free; then, that it was forwarded.
enum told_t : uint32_t { ARRIVED = 1, HANDED_ON = 2 };
void tell_peer(told_t what) {
    txq_write_register(stream_update_address(fallback_pkts_completed_stream_id),
                       what << STREAM_INCREMENT_SHIFT);
}

bool tell(uint32_t refused) {
    return answer(taken->from_xy, word_address(offsetof(fabric_router_words_t, fallback_taken)),
                  taken->serial | refused);
}

void take_request() {
    if (!detour.requests_unread || niu_busy(NOC, NOC_BUFFER_READ)) {
        return;
    }
    for (uint32_t i = 0; i < FABRIC_MAX_FALLBACKS; ++i) {
        next = (next + 1) % FABRIC_MAX_FALLBACKS;
        taken = &words->fallback_request[next];
        if (!is_new(*taken, known[next])) {
            continue;
        }
        refuses = detour.frozen || taken->bytes > channel_buffer_size;
        if (!refuses) {
            *reinterpret_cast<fabric_resync_t*>(OUT) = *taken;
            if (taken->bytes != 0) {
                start_read(EVENTS, xy_mid(taken->from_xy), taken->source, OUT + sizeof(*taken),
                           taken->bytes);
            }
        }
        out = OUT_PULLS;
        return;
    }
    detour.requests_unread = false;
}

void step_out() {
    stream_t told = stream_of(fallback_pkts_completed_stream_id);
    uint32_t what = detour.frozen ? uint32_t{ARRIVED + HANDED_ON} : stream_value(told);
    if (!detour.frozen && what != 0) {
        stream_add(told, -static_cast<int32_t>(what));
    }
    if (out == OUT_SENT && (what & ARRIVED) != 0) {
        out = OUT_IDLE;
    }
    in_is_taken = in_is_taken && (what & HANDED_ON) == 0;
    if (out == OUT_IDLE) {
        take_request();
    }
    if (out != OUT_PULLS || !pulled()) {
        return;
    }
    if (refuses || state.link != LINK_DIRECT) {
        if (tell(FALLBACK_REFUSED)) {
            out = OUT_IDLE;
        }
    } else if (!in_is_taken && announce == 0 && !txq_busy() && tell(0)) {
        txq_write(OUT, IN, sizeof(*taken) + taken->bytes);
        announce = stream_update_address(fallback_pkts_sent_stream_id);
        announce_sent();
        state.messages_carried = state.messages_carried + 1;
        out = OUT_SENT;
        in_is_taken = true;
    }
}

void step_in() {
    if (in == IN_IDLE) {
        if (detour.frozen || stream_value(stream_of(fallback_pkts_sent_stream_id)) == 0 ||
            announce != 0 || txq_busy()) {
            return;
        }
        fabric_resync_t& offer = *reinterpret_cast<fabric_resync_t*>(IN);
        offer.from_xy = words->identity.xy;
        offer.source = IN + sizeof(offer);
        stamp(offer, offered + 1);
        detour.last_mail = wall_clock() | 1;
        if (post(offer, xy_mid(offer.to_xy),
                 word_address(offsetof(fabric_router_words_t, fallback_delivery) +
                              args.fallback_index * sizeof(offer)))) {
            in = IN_OFFERED;
            ++offered;
            in_is_owed = true;
            tell_peer(ARRIVED);
            offered_at = wall_clock();
        }
        return;
    }
    bool gone = termination() != KEEP_RUNNING && wall_clock() - offered_at >= PATIENCE;
    if (words->fallback_done != offered && !gone) {
        return;
    }
    if (detour.frozen || !in_is_owed) {
        in = IN_IDLE;
    } else if (announce == 0 && !txq_busy()) {
        stream_add(stream_of(fallback_pkts_sent_stream_id), -1);
        tell_peer(HANDED_ON);
        in = IN_IDLE;
    }
}

}  // namespace

void step_carrier() {
    step_in();
    step_out();
}

bool carrier_handed_on() { return in == IN_IDLE; }
bool carrier_rests() { return in == IN_IDLE && out == OUT_IDLE; }

bool pulled() {
    for (uint32_t polls = 0; polls < PULL_POLLS; ++polls) {
        if (noc_outstanding(NOC, EVENTS) == 0) {
            return true;
        }
    }
    return false;
}

// Messages in flight are lost; their senders send them again.
void reset_carrier() {
    const stream_t streams[] = {stream_of(fallback_pkts_sent_stream_id),
                                stream_of(fallback_pkts_completed_stream_id)};
    for (stream_t stream : streams) {
        stream_add(stream, -static_cast<int32_t>(stream_value(stream)));
    }
    if (out == OUT_SENT) {
        out = OUT_IDLE;
    }
    in_is_owed = false;
}

bool is_new(const fabric_resync_t& message, uint32_t& known) {
    const volatile fabric_resync_t& seen = message;
    uint32_t serial = seen.serial;
    if (serial == known || serial != seen.serial_1 || serial != seen.serial_2) {
        return false;
    }
    compiler_barrier();
    known = serial;
    return true;
}

void stamp(fabric_resync_t& message, uint32_t serial) {
    message.serial = message.serial_1 = message.serial_2 = serial;
}

void fill(fabric_resync_t& message) {
    message.epoch = state.epoch;
    message.from_xy = words->identity.xy;
    message.to_xy = words->peer_identity.xy;
    message.phase = detour.phase;
    message.seen = words->identity.seen;
    message.ready = static_cast<uint8_t>(detour.ready);
    for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
        message.arrived[channel] = static_cast<uint16_t>(detour.expected[channel]);
        message.completed[channel] = static_cast<uint16_t>(receivers[channel].completed);
        message.frozen[channel] = detour.frozen_at[channel];
    }
}

bool post(fabric_resync_t& message, uint32_t mid, uint32_t address) {
    if (!niu_free_soon(NOC_BUFFER_WRITE) || !niu_free_soon(NOC_BUFFER_REGISTER)) {
        return false;
    }
    start_write(WORDS, reinterpret_cast<uint32_t>(&message), mid, address, sizeof(message));
    start_word(WORDS, mid, word_address(offsetof(fabric_router_words_t, fallback_bell)), 1);
    return true;
}

bool answer(uint32_t xy, uint32_t address, uint32_t value) {
    if (!niu_free_soon(NOC_BUFFER_REGISTER)) {
        return false;
    }
    start_word(WORDS, xy_mid(xy), address, value);
    return true;
}

}  // namespace fabric_router
