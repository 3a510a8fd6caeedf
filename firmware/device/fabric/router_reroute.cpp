// The state of the link: freezing it when it is lost, and the exchange over it when it is back.
#pragma GCC optimize("Os")  // off the path of packets
#include "router_reroute.hpp"

namespace fabric_router {

detour_t detour;
bool detours;

namespace {

const volatile uint32_t no_stream = 0;         // replaces a stream that does not count

constexpr uint32_t MOST_SLOTS = 8;
// Constants with twelve low zero bits take one instruction.
constexpr uint32_t SETTLE_CYCLES = 64;         // until this core's update of a stream is visible
constexpr int32_t STEADY_CYCLES = 5000;        // a link that is up for this long counts as restored
// Until the receivers are empty, unless they wait for packets that this link does not carry
// meanwhile.
constexpr uint32_t DRAIN_CYCLES = 0x8000;
constexpr uint32_t RETRY_CYCLES = 0x20000;  // over another link before the next attempt to return
constexpr uint32_t MAIL_CYCLES = 0x5000;  // time of polling for more messages after one arrived
constexpr uint32_t CARRIER_CYCLES = 0x18000;   // without a message of others before a router leaves

uint32_t resync_known, resync_serial, told_at;
uint8_t told_phase;
uint32_t resent_announce;
uint32_t owed_announce;                        // of a control packet, which is not sent again

void settle() {
    uint32_t start = wall_clock();
    while (wall_clock() - start < SETTLE_CYCLES) {
    }
}

void empty(stream_t stream) { stream_add(stream, -static_cast<int32_t>(stream_value(stream))); }

void use_slots(receiver_t& receiver, uint32_t first, uint32_t slots) {
    receiver.first = first;
    receiver.end = first + slots * channel_buffer_size;
    receiver.head = receiver.tail = first + receiver.received % slots * channel_buffer_size;
}

// Completions that have arrived belong to the oldest packets: they are taken until no channel has
// one.
void take_last_completions() {
    bool any;
    do {
        any = false;
        for (sender_t& sender : senders) {
            uint32_t count = stream_value(sender.completions);
            if (count != 0) {
                stream_add(sender.completions, -static_cast<int32_t>(count));
                for (; count != 0; --count) {
                    confirm(sender);
                }
                any = true;
            }
        }
        settle();
    } while (any);
}

void freeze() {
    if (announce == stream_update_address(to_receiver_0_pkts_sent_id + control_receiver_channel)) {
        owed_announce = announce;
    }
    announce = HELD;
    detour.frozen = true;
    detour.ready = 0;
    settle();
    take_last_completions();
    for (sender_t& sender : senders) {
        sender.completions = const_cast<stream_t>(&no_stream);
    }
    for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
        receiver_t& receiver = receivers[channel];
        uint32_t arrived = stream_value(receiver.arrived);
        detour.expected[channel] = receiver.received + arrived;
        detour.expected_at[channel] = static_cast<uint16_t>(detour.expected[channel]);
        detour.frozen_at[channel] = static_cast<uint16_t>(remotes[channel].sent());
        receiver.arrived = stream_of(fallback_arrived_0_stream_id + channel);
        stream_add(receiver.arrived, static_cast<int32_t>(arrived));
    }
    settle();
}

// All late arrivals over the link are here: from now on they count again.
void rebase() {
    announce = RESUMES;
    detour.frozen = false;
    detour.ready = 0;
    for (uint32_t channel = 0; channel < num_data_senders; ++channel) {
        senders[channel].completions = stream_of(to_sender_0_pkts_completed_id + channel);
        empty(senders[channel].completions);
    }
    for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
        receivers[channel].arrived = stream_of(to_receiver_0_pkts_sent_id + channel);
        empty(receivers[channel].arrived);
        use_slots(receivers[channel], receiver_buffers(channel), receiver_slots);
    }
    reset_carrier();
    settle();
}

bool drained() {
    bool all = delivery_idle() && carrier_handed_on();
    for (const receiver_t& receiver : receivers) {
        all = all && receiver_idle(receiver);
    }
    return all;
}

void tell(uint8_t phase) {
    if (txq_busy()) {
        return;
    }
    fabric_resync_t& message = words->resync_source;
    fill(message);
    message.phase = phase;
    stamp(message, ++resync_serial);
    txq_write(reinterpret_cast<uint32_t>(&message), reinterpret_cast<uint32_t>(&words->resync),
              sizeof(message));
    told_phase = phase;
    told_at = wall_clock();
}

// Sends the missing packets over the link. Returns true if none is left.
bool resend() {
    if (txq_busy()) {
        return false;
    }
    if (resent_announce != 0) {
        txq_write_register(resent_announce, 1u << STREAM_INCREMENT_SHIFT);
        resent_announce = 0;
        return false;
    }
    for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
        remote_t& remote = remotes[channel];
        uint32_t& next = detour.next[channel];
        if (next != remote.sent()) {
            uint32_t slot = log_entry(remote, next);
            txq_write(slot, remote.first + next % receiver_slots * channel_buffer_size,
                      packet_bytes(header_at(slot)));
            ++next;
            state.packets_resent = state.packets_resent + 1;
            resent_announce = remote.announce_address;
            return false;
        }
    }
    return true;
}

void step_return() {
    if (detour.phase == PHASE_WAITS) {
        if (drained()) {
            detour.phase = PHASE_EMPTY;
        } else if (wall_clock() - detour.since >= DRAIN_CYCLES) {
            enter(state.epoch + 1);  // one virtual channel may wait for another one
        }
    }
    if (detour.phase == PHASE_EMPTY && detour.peer_phase >= PHASE_EMPTY) {
        hear(words->resync, true);
        rebase();
        detour.phase = PHASE_REBASED;
    }
    if (detour.phase != PHASE_WAITS &&
        (told_phase != detour.phase || wall_clock() - told_at >= REPEAT_CYCLES)) {
        tell(detour.phase);
    } else if (detour.phase == PHASE_REBASED && detour.peer_phase >= PHASE_REBASED && resend()) {
        announce = owed_announce;
        owed_announce = 0;
        state.link = LINK_DIRECT;
        state.fallback_xy = 0;
        report(EVENT_LINK_UP, state.epoch, 0, 0, 0);
    }
}

void take_resync() {
    const fabric_resync_t& message = words->resync;
    if (!is_new(message, resync_known) || !join(message.epoch)) {
        return;
    }
    if (state.link == LINK_DIRECT) {
        if (message.phase < PHASE_DIRECT) {
            tell(PHASE_DIRECT);
        }
    } else {
        detour.peer_phase = message.phase;
    }
}

}  // namespace

void enter(uint32_t epoch) {
    if (!detour.frozen) {
        freeze();
    }
    detour.since = wall_clock() + (state.link == LINK_RETURNING ? RETRY_CYCLES : 0);
    state.epoch = epoch;
    state.link = is_odd() ? LINK_LOST : LINK_RETURNING;
    detour.heard = false;
    detour.dirty = true;
    detour.phase = detour.peer_phase = told_phase = PHASE_WAITS;
    detour.peer_ready = 0;
    resent_announce = 0;
    detours = true;
    restart_detour();
}

bool join(uint32_t epoch) {
    if (is_after(epoch, state.epoch)) {
        enter(epoch);
    }
    return epoch == state.epoch;
}

void link_lost() {
    if (!is_odd()) {
        enter(state.epoch + 1);
    }
}

void link_is_back() {
    if (is_odd() && static_cast<int32_t>(wall_clock() - detour.since) >= STEADY_CYCLES) {
        enter(state.epoch + 1);
    }
}

// Late packets occupy the slots from the first expected packet to the last one sent; the longer
// piece of the rest is safe.
uint32_t use_safe_slots(uint32_t channel) {
    int32_t late =
        static_cast<int16_t>(detour.peer_frozen_at[channel] - detour.expected_at[channel]);
    uint32_t place = 0, slots = receiver_slots;
    if (late > 0) {
        uint32_t begin = detour.expected_at[channel] % receiver_slots;
        place = (begin + static_cast<uint32_t>(late)) % receiver_slots;
        slots = late >= static_cast<int32_t>(receiver_slots)
                    ? 0
                    : (place <= begin ? begin : receiver_slots) - place;
        if (place > begin && begin > slots) {
            place = 0;
            slots = begin;
        }
    }
    bool none = slots == 0;
    slots = none ? 1 : slots > MOST_SLOTS ? MOST_SLOTS : slots;
    use_slots(receivers[channel],
              none ? fallback_receiver_slot(channel)
                   : receiver_buffers(channel) + place * channel_buffer_size,
              slots);
    return slots;
}

void look_for_mail() {
    if (words->fallback_bell != 0 || stream_value(stream_of(fallback_pkts_sent_stream_id)) != 0 ||
        *const_cast<volatile uint32_t*>(&words->resync.serial) != resync_known) {
        detour.last_mail = wall_clock() | 1;
        detours = true;
    }
}

void step_reroute() {
    if (words->fallback_bell != 0) {
        words->fallback_bell = 0;
        detour.requests_unread = detour.deliveries_unread = true;
        detour.last_mail = wall_clock() | 1;
    }
    if (!detour.frozen || detour.requests_unread || !carrier_rests()) {
        step_carrier();
    }
    take_deliveries();
    take_resync();
    if (state.link == LINK_DIRECT) {
        detours = !carrier_rests() || !delivery_idle() ||
                  wall_clock() - detour.last_mail < MAIL_CYCLES;
    } else if (is_odd()) {
        step_detour();
    } else {
        step_return();
    }
}

bool carrier_idle() {
    if (state.link == LINK_RETURNING || !detour_idle()) {
        return false;
    }
    return carrier_rests() && (detour.last_mail == 0 || state.link != LINK_DIRECT ||
                               wall_clock() - detour.last_mail >= CARRIER_CYCLES);
}

bool tell_drained() {
    if (state.link == LINK_DIRECT && txq_busy()) {
        return false;
    }
    words->identity.seen = DRAINED;
    if (state.link == LINK_DIRECT) {
        txq_write(reinterpret_cast<uint32_t>(&words->identity),
                  reinterpret_cast<uint32_t>(&words->peer_identity), sizeof(fabric_identity_t));
    } else if (state.link == LINK_FALLBACK) {
        detour.dirty = true;
    } else {
        words->peer_identity.seen = DRAINED;  // the peer cannot be reached
    }
    return true;
}

}  // namespace fabric_router
