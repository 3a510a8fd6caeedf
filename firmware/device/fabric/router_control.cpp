// The control channel: headers only, routed by tables, for negative acknowledges. Slot 0 of its
// sender channel is the router's own, slot i belongs to the router that sends in sender channel i;
// so each of them has one credit. No header waits for long.
#pragma GCC optimize("Os")  // rare packets
#include "router_route.hpp"

namespace fabric_router {
namespace {

constexpr uint32_t PATIENCE = 20000;  // cycles
constexpr uint32_t NOBODY = 0xFFFFFFFF;

stream_t free_slots, completions, arrived;
uint32_t remote_free, remote_slot, remote_announce;
uint32_t sent_slots[control_slots];      // in the order of sending
uint32_t sent, completed;                // packets
uint32_t busy;                           // bit per slot that was sent and is not completed
uint32_t upstream_mid[control_slots];
uint32_t head, received, waits_since;
bool waits, leaves;                      // the head waits; the head's copy has not left yet
// A packet of this router in transfer to another router of the chip.
alignas(16) packet_header_t own;

uint32_t sender_slot(uint32_t slot) { return control_sender_buffers + slot * control_buffer_size; }
uint32_t receiver_slot(uint32_t slot) {
    return control_receiver_buffers + slot * control_buffer_size;
}
bool is_filled(uint32_t slot) {
    return (*const_cast<volatile uint8_t*>(&header_at(sender_slot(slot)).tail.flags) &
            FABRIC_CONTROL) != 0;
}

// Returns a slot that its producer has handed over, NOBODY while another one is still being
// written: they cannot be told apart.
uint32_t next_filled() {
    uint32_t filled = 0, next = NOBODY;
    for (uint32_t slot = 0; slot < control_slots; ++slot) {
        if ((busy >> slot & 1) == 0 && is_filled(slot)) {
            ++filled;
            next = slot;
        }
    }
    return filled == control_slots - stream_value(free_slots) ? next : NOBODY;
}

void send_next() {
    if (stream_value(free_slots) == control_slots || remote_free == 0 || announce != 0 ||
        txq_busy()) {
        return;
    }
    uint32_t slot = next_filled();
    if (slot == NOBODY) {
        return;
    }
    header_at(sender_slot(slot)).src_ch_id = control_sender_channel;
    txq_write(sender_slot(slot), receiver_slot(remote_slot), control_buffer_size);
    announce = remote_announce;
    stream_add(free_slots, 1);
    --remote_free;
    remote_slot = (remote_slot + 1) % control_slots;
    busy |= 1u << slot;
    sent_slots[sent++ % control_slots] = slot;
    state.senders[control_sender_channel].packets_sent = sent;
}

void take_completion() {
    if (sent == completed || stream_value(completions) == 0 ||
        !niu_free_soon(NOC_BUFFER_REGISTER)) {
        return;
    }
    stream_add(completions, -1);
    uint32_t slot = sent_slots[completed++ % control_slots];
    header_at(sender_slot(slot)).tail.flags = 0;
    busy &= ~(1u << slot);
    ++remote_free;
    state.senders[control_sender_channel].packets_completed = completed;
    if (upstream_mid[slot] != 0) {
        start_word(WORDS, upstream_mid[slot],
                   reinterpret_cast<uint32_t>(&words->control_credits[args.my_direction]), 1);
    }
}

// Puts a header into another router's control channel. Returns false if it has no room now.
bool hand_over(uint32_t source, uint32_t direction) {
    uint32_t mid = downstream[direction].mid;
    if (words->control_credits[direction] == 0 || !niu_free_soon(NOC_BUFFER_WRITE) ||
        !niu_free_soon(NOC_BUFFER_REGISTER)) {
        return false;
    }
    words->control_credits[direction] = 0;
    uint32_t slot = sender_slot(downstream_sender_channel(args.my_direction, direction));
    start_write(CONTROL_PACKETS, source, mid, slot, control_buffer_size);
    start_word(
        WORDS, mid,
        stream_update_address(sender_channel_0_free_slots_stream_id + control_sender_channel),
        -1u << STREAM_INCREMENT_SHIFT);
    return true;
}

uint32_t direction_of(uint32_t actions) {
    uint32_t direction = 0;
    while (direction < DIRECTIONS && (actions >> direction & 1) == 0) {
        ++direction;
    }
    return direction;
}

bool carry_out(const packet_header_t& header) {
    const NocUnicastAtomicIncCommandHeader& command = header.command_fields.unicast_seminc;
    if (header.noc_send_type != NOC_UNICAST_ATOMIC_INC || (command.noc_address & 3) != 0) {
        state.control_dropped = state.control_dropped + 1;
        return true;
    }
    if (!niu_free_soon(NOC_BUFFER_ATOMIC)) {
        return false;
    }
    start_increment(WORDS, mid(command.noc_address), low(command.noc_address), command.val);
    return true;
}

// Forwards a header that arrived. Without room it waits for a bounded time and is dropped.
bool move_on(packet_header_t& header) {
    if (!waits && (header.tail.ttl == 0 || --header.tail.ttl == 0)) {
        state.control_dropped = state.control_dropped + 1;
        return true;
    }
    uint32_t actions = route_by_tables(destination(header)), direction = direction_of(actions);
    bool lost = (actions & ACTION_HERE) == 0 &&
                (direction == DIRECTIONS || downstream[direction].mid == 0);
    if (!lost && ((actions & ACTION_HERE) != 0
                      ? carry_out(header)
                      : hand_over(reinterpret_cast<uint32_t>(&header), direction))) {
        return true;
    }
    if (!waits) {
        waits = true;
        waits_since = wall_clock();
    }
    if (!lost && wall_clock() - waits_since < PATIENCE) {
        return false;
    }
    state.control_dropped = state.control_dropped + 1;
    return true;
}

void step_receiver_side() {
    if (!leaves) {
        if (stream_value(arrived) == 0 || !move_on(header_at(receiver_slot(head)))) {
            return;
        }
        leaves = true;
        waits = false;
    }
    if (announce != 0 || !has_left(CONTROL_PACKETS) || txq_busy()) {
        return;
    }
    leaves = false;
    stream_add(arrived, -1);
    head = (head + 1) % control_slots;
    txq_write_register(
        stream_update_address(to_sender_0_pkts_completed_id + control_sender_channel),
        1u << STREAM_INCREMENT_SHIFT);
    fabric_receiver_state_t& shown = state.receivers[control_receiver_channel];
    shown.packets_received = ++received;
    shown.packets_completed = received;
    shown.slot = head;
}

// Pending negative acknowledges, merged per sender.
constexpr uint32_t PENDING_NACKS = 4;
struct nack_t {
    fabric_node_t to;
    uint32_t mid, address;
    uint32_t count;              // 0: unused
};
nack_t nacks[PENDING_NACKS];
uint32_t nacks_waiting;          // senders with a pending negative acknowledge

void fill(packet_header_t& header, const nack_t& nack) {
    header = {};
    header.command_fields.unicast_seminc = {
        .noc_address = static_cast<noc_address_t>(nack.mid) << 32 | nack.address,
        .val = nack.count,
        .flush = 0};
    header.noc_send_type = NOC_UNICAST_ATOMIC_INC;
    set_destination(header, nack.to);
    header.tail = {.ttl = 255,
                   .flags = FABRIC_TABLE_ROUTED | FABRIC_CONTROL,
                   .src_device_id = routing_info->my_device_id,
                   .src_mesh_id = routing_info->my_mesh_id};
}

// Returns false if it must be tried again later.
bool send(const nack_t& nack) {
    uint32_t actions = route_by_tables(nack.to), direction = direction_of(actions);
    if ((actions & ACTION_HERE) != 0) {
        if (!niu_free_soon(NOC_BUFFER_ATOMIC)) {
            return false;
        }
        start_increment(WORDS, nack.mid, nack.address, nack.count);
    } else if (direction == args.my_direction) {
        if ((busy & 1) != 0 || is_filled(0)) {
            return false;
        }
        fill(header_at(sender_slot(0)), nack);
        stream_add(free_slots, -1);
    } else {
        if (!has_left(CONTROL_PACKETS)) {
            return false;
        }
        fill(own, nack);
        return hand_over(reinterpret_cast<uint32_t>(&own), direction);
    }
    return true;
}

bool has_way(fabric_node_t to) {
    uint32_t actions = route_by_tables(to), direction = direction_of(actions);
    return (actions & ACTION_HERE) != 0 || direction == args.my_direction ||
           (direction < DIRECTIONS && downstream[direction].mid != 0);
}

void send_nacks() {
    for (nack_t& nack : nacks) {
        if (nack.count != 0 && send(nack)) {
            state.nacks_sent = state.nacks_sent + nack.count;
            nack.count = 0;
            --nacks_waiting;
        }
    }
}

}  // namespace

void open_control() {
    free_slots = stream_of(sender_channel_0_free_slots_stream_id + control_sender_channel);
    completions = stream_of(to_sender_0_pkts_completed_id + control_sender_channel);
    arrived = stream_of(to_receiver_0_pkts_sent_id + control_receiver_channel);
    remote_announce = stream_update_address(to_receiver_0_pkts_sent_id + control_receiver_channel);
    remote_free = control_slots;
    for (uint32_t slot = 0; slot < control_slots; ++slot) {
        header_at(sender_slot(slot)).tail.flags = 0;
        upstream_mid[slot] =
            slot != 0 && slot < num_vc0_sender_channels ? senders[slot].producer.mid : 0;
    }
}

void step_control() {
    if (control_idle()) {
        return;
    }
    send_nacks();
    step_receiver_side();
    take_completion();
    send_next();
}

bool control_idle() {
    return nacks_waiting == 0 && sent == completed && !leaves && stream_value(arrived) == 0 &&
           stream_value(free_slots) == control_slots;
}

void send_nack(const packet_header_t& dropped) {
    const fabric_tail_t& tail = dropped.tail;
    if (tail.nack_address == 0) {
        return;
    }
    fabric_node_t to = {tail.src_mesh_id, tail.src_device_id};
    uint32_t mid = noc_mid(tail.src_x, tail.src_y);
    nack_t* unused = nullptr;
    for (nack_t& nack : nacks) {
        if (nack.count == 0) {
            unused = &nack;
        } else if (nack.mid == mid && nack.address == tail.nack_address &&
                   nack.to.device == to.device && nack.to.mesh == to.mesh) {
            ++nack.count;
            return;
        }
    }
    if (unused == nullptr || !has_way(to)) {
        state.control_dropped = state.control_dropped + 1;
        return;
    }
    ++nacks_waiting;
    *unused = {.to = to, .mid = mid, .address = tail.nack_address, .count = 1};
}

}  // namespace fabric_router
