// The route over another router's link: messages to the peer, and those from the peer.
#pragma GCC optimize("Os")  // off the path of packets
#include "router_reroute.hpp"

namespace fabric_router {
namespace {

constexpr uint32_t FALLBACKS = sizeof(args.fallback_xy) / sizeof(args.fallback_xy[0]);

alignas(16) fabric_resync_t request;           // the last message
uint32_t sibling;                              // index of the other router that gets the request
bool asking;                                   // the request is not taken yet
uint32_t asked_at, rest_since, none_since;
bool rests;
uint32_t turn;                                 // virtual channel whose packet is next
uint32_t told_completed[2];
uint32_t progress_at[2];  // time at which a packet was sent, or the peer acknowledged one

enum delivery_t : uint8_t { NO_DELIVERY, PULLS, ANSWERS };
delivery_t delivery;
const fabric_resync_t* delivered;
uint32_t known[FABRIC_MAX_FALLBACKS];

void none_left() {
    if (state.link != LINK_NONE_LEFT) {
        state.link = LINK_NONE_LEFT;
        state.fallback_xy = 0;
        none_since = wall_clock();
        report(EVENT_NO_ROUTE_LEFT, 0, 0, 0, 0);
    }
}

void try_next() {
    asking = false;
    ++sibling;
    if (sibling >= FALLBACKS || args.fallback_xy[sibling] == 0) {
        sibling = 0;
        rests = true;
        rest_since = wall_clock();
        none_left();
    }
}

// The request was taken: it will arrive unless that link fails as well.
void taken() {
    asking = false;
    if (request.bytes != 0) {
        // The peer may have acknowledged it before.
        uint32_t& next = detour.next[request.virtual_channel];
        next += static_cast<uint16_t>(next) == request.number ? 1u : 0u;
        state.packets_rerouted = state.packets_rerouted + 1;
    }
    if (detour.heard && state.link != LINK_FALLBACK) {
        state.link = LINK_FALLBACK;
        state.fallback_xy = args.fallback_xy[sibling];
        report(EVENT_REROUTED, state.fallback_xy, state.epoch, 0, 0);
    }
}

bool may_send(uint32_t channel) {
    uint32_t next = detour.next[channel];
    return detour.heard && next != remotes[channel].sent() &&
           next - detour.peer_completed[channel] < slots_of(channel, detour.peer_ready);
}

void send(bool packet) {
    fill(request);
    request.bytes = 0;
    if (packet) {
        uint32_t slot = log_entry(remotes[turn], detour.next[turn]);
        request.virtual_channel = static_cast<uint8_t>(turn);
        request.number = static_cast<uint16_t>(detour.next[turn]);
        request.bytes = static_cast<uint16_t>(packet_bytes(header_at(slot)));
        request.source = slot;
        progress_at[turn] = wall_clock();
    }
    stamp(request, (request.serial + 1) & ~FALLBACK_REFUSED);
    uint32_t mail = word_address(offsetof(fabric_router_words_t, fallback_request) +
                                 args.fallback_index * sizeof(fabric_resync_t));
    if (post(request, xy_mid(args.fallback_xy[sibling]), mail)) {
        asking = true;
        asked_at = wall_clock();
        detour.dirty = false;
        for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
            told_completed[channel] = receivers[channel].completed;
        }
    }
}

void ask() {
    uint32_t now = wall_clock();
    if (asking) {
        uint32_t answer = words->fallback_taken;
        if ((answer & ~FALLBACK_REFUSED) != request.serial) {
            if (now - asked_at >= ANSWER_CYCLES) {
                try_next();
            }
        } else if ((answer & FALLBACK_REFUSED) != 0) {
            try_next();
        } else {
            taken();
        }
        return;
    }
    if (args.fallback_xy[0] == 0) {
        none_left();
        return;
    }
    if (rests && now - rest_since < REST_CYCLES) {
        return;
    }
    rests = false;
    bool news = detour.dirty, packet = false;
    for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
        news = news || told_completed[channel] != receivers[channel].completed;
        // A message was lost.
        if (detour.next[channel] != detour.acknowledged[channel] &&
            now - progress_at[channel] >= ANSWER_CYCLES) {
            detour.next[channel] = detour.acknowledged[channel];
        }
        turn = turn + 1 == num_data_receivers ? 0 : turn + 1;
        packet = may_send(turn);
        if (packet) {
            break;
        }
    }
    if (packet || news || now - asked_at >= REPEAT_CYCLES) {
        send(packet);
    }
}

// Pulls the packet of a message into the next free slot, if it is the expected one.
bool pull(const fabric_resync_t& message) {
    uint32_t channel = message.virtual_channel;
    if (message.bytes == 0 || message.bytes > channel_buffer_size ||
        channel >= num_data_receivers) {
        return false;
    }
    const receiver_t& receiver = receivers[channel];
    uint32_t expected = detour.expected[channel], slots = slots_of(channel, detour.ready);
    if (static_cast<uint16_t>(expected) != message.number ||
        expected - receiver.completed >= slots || !niu_free_soon(NOC_BUFFER_READ)) {
        return false;
    }
    start_read(EVENTS, xy_mid(message.from_xy), message.source,
               receiver.first + expected % slots * channel_buffer_size, message.bytes);
    return true;
}

void open_delivery() {
    delivery = ANSWERS;
    if (join(delivered->epoch) && is_odd()) {
        delivery = pull(*delivered) ? PULLS : ANSWERS;
        hear(*delivered, !detour.heard);  // during the transfer of the packet
    }
}

}  // namespace

void take_deliveries() {
    for (uint32_t i = 0; detour.deliveries_unread && delivery == NO_DELIVERY; ++i) {
        if (i == FABRIC_MAX_FALLBACKS) {
            detour.deliveries_unread = false;
        } else if (is_new(words->fallback_delivery[i], known[i])) {
            delivered = &words->fallback_delivery[i];
            open_delivery();
        }
    }
    if (delivery == PULLS && pulled()) {
        uint32_t channel = delivered->virtual_channel;
        stream_add(receivers[channel].arrived, 1);
        ++detour.expected[channel];
        delivery = ANSWERS;
    }
    if (delivery == ANSWERS &&
        answer(delivered->from_xy, word_address(offsetof(fabric_router_words_t, fallback_done)),
               delivered->serial)) {
        delivery = NO_DELIVERY;
    }
}

bool delivery_idle() { return delivery == NO_DELIVERY; }
bool detour_idle() {
    return !is_odd() || (!asking && !detour.dirty) || state.link == LINK_NONE_LEFT;
}

void restart_detour() {
    asking = rests = false;
    sibling = 0;
}

void step_detour() {
    for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
        if (detour.heard && slots_of(channel, detour.ready) == 0 &&
            receiver_idle(receivers[channel]) && carrier_rests()) {
            detour.ready |= use_safe_slots(channel) << 4 * channel;
            detour.dirty = true;
        }
    }
    ask();
    uint32_t patience = args.unrouted_timeout_cycles;
    if (state.link == LINK_NONE_LEFT && patience != 0 && wall_clock() - none_since >= patience) {
        abandon();
    }
}

// Its producer is informed later (serve_client).
void confirm(sender_t& sender) {
    ++sender.completed;
    ++sender.producer.owed;
    if (sender.dropped != 0) {
        pass_dropped(sender);
    }
    sender.state->packets_completed = sender.completed;
    ++sender.remote->free_slots;
}

void hear(const fabric_resync_t& message, bool first) {
    for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
        remote_t& remote = remotes[channel];
        detour.peer_frozen_at[channel] = message.frozen[channel];
        // The counters are those of the packets sent last, or a few older.
        uint32_t oldest = remote.sent() - (receiver_slots - remote.free_slots);
        uint32_t arrived = oldest + static_cast<uint32_t>(static_cast<int16_t>(
                                        message.arrived[channel] - static_cast<uint16_t>(oldest)));
        uint32_t completed = oldest +
                             static_cast<uint32_t>(static_cast<int16_t>(
                                 message.completed[channel] - static_cast<uint16_t>(oldest)));
        if (first && (detour.abandoned >> channel & 1) != 0) {
            // Dropped packets are not awaited: the next packets are those that the peer expects.
            uint32_t count = remote.sent() - oldest, slots[receiver_slots];
            for (uint32_t i = 0; i < count; ++i) {
                slots[i] = log_entry(remote, oldest + i);
            }
            for (uint32_t i = 0; i < count; ++i) {
                remote.log[(arrived + i) % receiver_slots] = slots[i];
            }
            uint32_t sent = arrived + count, place = sent % receiver_slots;
            remote.rounds = sent - place;
            remote.log_at = remote.log + place;
            remote.slot = remote.first + place * channel_buffer_size;
            detour.abandoned &= ~(1u << channel);
        } else {
            for (; remote.free_slots != receiver_slots && is_after(completed, oldest); ++oldest) {
                confirm(senders[header_at(log_entry(remote, oldest)).src_ch_id % num_data_senders]);
            }
        }
        if (first) {
            detour.next[channel] = detour.acknowledged[channel] = arrived;
            detour.peer_completed[channel] = completed;
        } else {
            if (is_after(arrived, detour.acknowledged[channel])) {
                detour.acknowledged[channel] = arrived;
                progress_at[channel] = wall_clock();
            }
            if (is_after(arrived, detour.next[channel])) {
                detour.next[channel] = arrived;
            }
            if (is_after(completed, detour.peer_completed[channel])) {
                detour.peer_completed[channel] = completed;
            }
        }
    }
    detour.peer_ready |= message.ready;
    words->peer_identity.seen = message.seen;
    detour.dirty = detour.dirty || first;
    detour.heard = true;
}

// Packets that are sent and not completed may have arrived. They are dropped all the same, or the
// routers before this one would wait forever.
void abandon() {
    if (detour.abandoned == 0) {
        enter(state.epoch + 2);  // the peer's earlier messages do not cover this epoch
        detour.abandoned = (1u << num_data_receivers) - 1;
        state.link = LINK_NONE_LEFT;
        none_since = wall_clock() - args.unrouted_timeout_cycles;
    }
    for (remote_t& remote : remotes) {
        for (uint32_t count = receiver_slots - remote.free_slots; count != 0; --count) {
            packet_header_t& header = header_at(log_entry(remote, remote.sent() - count));
            report_drop(EVENT_DROPPED, header);
            sender_t& sender = senders[header.src_ch_id % num_data_senders];
            sender.state->packets_dropped = sender.state->packets_dropped + 1;
            confirm(sender);
        }
    }
}

}  // namespace fabric_router
