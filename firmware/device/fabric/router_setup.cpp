// The router before its first packet: arguments, channels, and the stages of bring-up.
#pragma GCC optimize("Os")  // off the path of packets
#include "router_moves.hpp"

namespace fabric_router {

sender_t senders[num_data_senders];
receiver_t receivers[num_data_receivers];
remote_t remotes[num_data_receivers];
downstream_t downstream[DIRECTIONS + num_vc1_edges];
uint32_t announce;
uint32_t own_mid;

uint32_t termination() {
    return launched().exit_erisc_kernel != 0 ? uint32_t{IMMEDIATELY_TERMINATE}
                                             : words->termination_signal;
}

bool wait_until(bool (*condition)(uint32_t), uint32_t argument) {
    while (!condition(argument)) {
        if (termination() != KEEP_RUNNING) {
            return false;
        }
        yield_to_base_firmware();
    }
    return true;
}

namespace {

constexpr uint32_t HANDSHAKE_REPEAT = 20000;  // cycles; the peer may be launched any time later
constexpr uint16_t ANY_MESH = 0xFFFF;

bool arguments_fit() {
    bool own = args.run_id != 0 && args.my_direction < DIRECTIONS &&
               args.downstream_xy[args.my_direction] == 0;
    bool routers = args.num_local_edms != 0 &&
                   args.num_local_edms <= sizeof(args.local_edm_xy) / sizeof(args.local_edm_xy[0]);
    bool straight = true;
    for (uint32_t direction = 0; direction < DIRECTIONS; ++direction) {
        straight = straight && (is_2d_fabric || args.downstream_xy[direction] == 0 ||
                                direction == opposite(args.my_direction));
    }
    bool map = !is_2d_fabric || fabric::has_coordinates(*routing_info);
    return own && routers && straight && map && args.fallback_index < FABRIC_MAX_FALLBACKS;
}

// Returns the direction of the router that puts packets into a sender channel of this router.
uint32_t upstream_of(uint32_t channel) {
    if (channel >= vc1_sender_channel) {
        if (!has_intermesh_vc) {
            return opposite(args.my_direction);
        }
        channel -= vc1_sender_channel - 1;
    }
    for (uint32_t direction = 0; direction < DIRECTIONS; ++direction) {
        bool other = direction != args.my_direction &&
                     (is_2d_fabric || direction == opposite(args.my_direction));
        if (other && downstream_sender_channel(direction, args.my_direction) == channel) {
            return direction;
        }
    }
    return NO_DIRECTION;
}

void open_sender(uint32_t channel) {
    uint32_t first = sender_buffers(channel);
    uint32_t upstream = channel == 0 ? uint32_t{NO_DIRECTION} : upstream_of(channel);
    senders[channel] = {
        .free_slots = stream_of(sender_channel_0_free_slots_stream_id + channel),
        .completions = stream_of(to_sender_0_pkts_completed_id + channel),
        .remote = &remotes[channel >= vc1_sender_channel ? vc1_receiver_channel : 0],
        .state = &state.senders[channel],
        .head = first,
        .first = first,
        .end = first + sender_slots * channel_buffer_size,
        .producer = {.mid = upstream < DIRECTIONS ? xy_mid(args.downstream_xy[upstream]) : 0},
        .channel = static_cast<uint8_t>(channel)};
}

void open_receiver(uint32_t channel) {
    uint32_t first = receiver_buffers(channel), end = first + receiver_slots * channel_buffer_size;
    receivers[channel] = {.arrived = stream_of(to_receiver_0_pkts_sent_id + channel),
                          .state = &state.receivers[channel],
                          .head = first,
                          .tail = first,
                          .first = first,
                          .end = end,
                          .first_id = PACKETS + channel * PIPELINE,
                          .second = has_vc1 && channel == vc1_receiver_channel};
    remotes[channel] = {
        .free_slots = receiver_slots,
        .slot = first,
        .first = first,
        .end = end,
        .bytes = channel_buffer_size,
        .announce_address = stream_update_address(to_receiver_0_pkts_sent_id + channel),
        .log_at = remotes[channel].log};
}

void open_downstream(uint32_t index, uint32_t direction, uint32_t channel, uint32_t credits) {
    uint32_t first = sender_buffers(channel);
    downstream[index] = {.credits = stream_of(credits),
                         .mid = xy_mid(args.downstream_xy[direction]),
                         .slot = first,
                         .first = first,
                         .end = first + sender_slots * channel_buffer_size,
                         .free_slots_address = stream_update_address(
                             sender_channel_0_free_slots_stream_id + channel)};
}

// Returns the direction of an entry of virtual channel 1.
uint32_t vc1_direction(uint32_t edge) {
    return has_intermesh_vc ? edge : opposite(args.my_direction);
}

void preset(uint32_t stream, uint32_t value) {
    word_at(STREAM_BASE + stream * STREAM_STRIDE + STREAM_PRESET) = value;
}

void open_streams() {
    for (uint32_t channel = 0; channel < FABRIC_MAX_SENDERS; ++channel) {
        preset(sender_channel_0_free_slots_stream_id + channel,
               channel < num_data_senders          ? sender_slots
               : channel == control_sender_channel ? control_slots
                                                   : 0);
        preset(to_sender_0_pkts_completed_id + channel, 0);
    }
    for (uint32_t channel = 0; channel < FABRIC_MAX_RECEIVERS; ++channel) {
        preset(to_receiver_0_pkts_sent_id + channel, 0);
    }
    for (uint32_t direction = 0; direction < DIRECTIONS; ++direction) {
        bool there = args.downstream_xy[direction] != 0;
        preset(vc_0_free_slots_from_downstream_edge_1_stream_id + direction,
               there ? sender_slots : 0);
        words->control_credits[direction] = there ? 1 : 0;
    }
    for (uint32_t edge = 0; edge < num_vc1_edges; ++edge) {
        preset(vc_1_free_slots_from_downstream_edge_1_stream_id + edge,
               has_vc1 && args.downstream_xy[vc1_direction(edge)] != 0 ? sender_slots : 0);
    }
    preset(fallback_pkts_sent_stream_id, 0);
    preset(fallback_pkts_completed_stream_id, 0);
    preset(fallback_arrived_0_stream_id, 0);
    preset(fallback_arrived_0_stream_id + 1, 0);
}

void fill_identity() {
    words->identity = {.run_id = args.run_id,
                       .protocol = FABRIC_PROTOCOL,
                       .topology = static_cast<uint8_t>(topology),
                       .direction = static_cast<uint8_t>(args.my_direction),
                       .slot_bytes = channel_buffer_size,
                       .header_bytes = packet_header_bytes,
                       .sender_slots = sender_slots,
                       .receiver_slots = receiver_slots,
                       .control_slots = control_slots,
                       .fallback_slots = fallback_slots,
                       .mesh_id = routing_info->my_mesh_id,
                       .device_id = routing_info->my_device_id,
                       .eth_channel = static_cast<uint8_t>(args.my_eth_channel),
                       .seen = NOT_SEEN,
                       .refusal = FITS,
                       .xy = own_xy(),
                       .run_id_again = args.run_id};
}

bool peer_is_there() {
    const volatile fabric_identity_t& peer = words->peer_identity;
    return peer.run_id == args.run_id && peer.run_id_again == args.run_id;
}

fabric_refusal_t judge_peer() {
    const fabric_identity_t &own = words->identity, &peer = words->peer_identity;
    if (peer.protocol != own.protocol || peer.topology != own.topology ||
        peer.header_bytes != own.header_bytes) {
        return OTHER_PROTOCOL;
    }
    if (peer.slot_bytes != own.slot_bytes || peer.sender_slots != own.sender_slots ||
        peer.receiver_slots != own.receiver_slots || peer.control_slots != own.control_slots ||
        peer.fallback_slots != own.fallback_slots) {
        return OTHER_SLOTS;
    }
    if (args.neighbor_mesh_id != ANY_MESH &&
        (peer.mesh_id != args.neighbor_mesh_id || peer.device_id != args.neighbor_device_id)) {
        return OTHER_NEIGHBOR;
    }
    return static_cast<fabric_refusal_t>(peer.refusal);
}

// Both ends send their identity until both have the other's. An end that refuses the other reports
// it and leaves.
bool shake_hands() {
    fill_identity();
    WAYPOINT("EHSW");
    do {
        if (!send_identity(NOT_SEEN)) {
            return false;
        }
        uint32_t start = wall_clock();
        if (!wait_until(
                [](uint32_t start) {
                    return peer_is_there() || wall_clock() - start >= HANDSHAKE_REPEAT;
                },
                start)) {
            return false;
        }
    } while (!peer_is_there());
    compiler_barrier();
    state.refusal = judge_peer();
    words->identity.refusal = static_cast<uint16_t>(state.refusal);
    if (!begin() || !send_identity(SEEN) || state.refusal != FITS) {
        return false;
    }
    const volatile fabric_identity_t& peer = words->peer_identity;
    if (!wait_until([](uint32_t) {
            return *const_cast<volatile uint8_t*>(&words->peer_identity.seen) != NOT_SEEN;
        })) {
        return false;
    }
    compiler_barrier();
    state.refusal = static_cast<fabric_refusal_t>(peer.refusal);
    WAYPOINT("EHSD");
    return state.refusal == FITS;
}

bool wait_for_niu(uint32_t buffer) {
    return wait_until([](uint32_t wanted) { return !niu_busy(NOC, wanted); }, buffer);
}

bool write_word(uint32_t mid, uint32_t address, uint32_t value) {
    if (!wait_for_niu(NOC_BUFFER_REGISTER)) {
        return false;
    }
    start_word(WORDS, mid, address, value);
    return true;
}

bool count_up_master() {
    if (!wait_for_niu(NOC_BUFFER_ATOMIC)) {
        return false;
    }
    start_increment(WORDS, xy_mid(args.local_edm_xy[0]), edm_local_sync_ptr_addr, 1);
    return true;
}

bool tell_subordinates(uint32_t address, uint32_t value) {
    for (uint32_t i = 1; i < args.num_local_edms; ++i) {
        if (!write_word(xy_mid(args.local_edm_xy[i]), address, value)) {
            return false;
        }
    }
    return true;
}

bool count_is(uint32_t count) {
    return wait_until([](uint32_t wanted) { return words->edm_local_sync == wanted; }, count);
}

// Local sync of this chip's routers. The master completes last, so that the subordinates cannot
// overwrite what it forwards.
bool meet() {
    uint32_t others = args.num_local_edms - 1;
    WAYPOINT("LSYW");
    if (args.is_local_master != 0) {
        if (!count_is(others) || !tell_subordinates(edm_local_sync_ptr_addr, args.num_local_edms) ||
            !count_is(2 * others)) {
            return false;
        }
        words->edm_local_sync = args.num_local_edms;
        words->edm_status = LOCAL_HANDSHAKE_COMPLETE;
    } else {
        if (!count_up_master() || !count_is(args.num_local_edms)) {
            return false;
        }
        words->edm_status = LOCAL_HANDSHAKE_COMPLETE;
        if (!count_up_master()) {
            return false;
        }
    }
    WAYPOINT("LSYD");
    return true;
}

bool wait_for_host() {
    WAYPOINT("HRDW");
    bool ready = wait_until([](uint32_t) { return words->edm_status == READY_FOR_TRAFFIC; });
    ready = ready && (args.is_local_master == 0 ||
                      tell_subordinates(edm_status_ptr_addr, READY_FOR_TRAFFIC));
    WAYPOINT("HRDD");
    return ready;
}

// Writes the address for its credits to a downstream router, as a client would.
bool connect(const downstream_t& down, uint32_t channel, uint32_t credits) {
    constexpr uint32_t stride = sizeof(EDMChannelWorkerLocationInfo);
    uint32_t info = local_sender_channel_0_connection_info_addr + channel * stride;
    uint32_t connection = local_sender_channel_0_connection_semaphore_addr +
                          channel * sizeof(words->conn_semaphore[0]);
    return down.mid == 0 ||
           (write_word(down.mid,
                       info + offsetof(EDMChannelWorkerLocationInfo, worker_semaphore_address),
                       stream_update_address(credits)) &&
            write_word(down.mid, info + offsetof(EDMChannelWorkerLocationInfo, worker_x),
                       own_xy()) &&
            write_word(down.mid, connection, OPEN_CONNECTION));
}

bool meet_producer(uint32_t channel) {
    sender_t& sender = senders[channel];
    if (sender.producer.mid == 0) {
        return true;
    }
    if (!wait_until(
            [](uint32_t channel) {
                return words->conn_semaphore[channel].value == OPEN_CONNECTION;
            },
            channel)) {
        return false;
    }
    const EDMChannelWorkerLocationInfo& info = words->conn_info[channel];
    sender.producer.mid = noc_mid(info.worker_x, info.worker_y);
    sender.producer.address = info.worker_semaphore_address;
    return true;
}

bool connect_routers() {
    WAYPOINT("FSCW");
    for (uint32_t direction = 0; direction < DIRECTIONS; ++direction) {
        if (!connect(downstream[direction], downstream_sender_channel(args.my_direction, direction),
                     vc_0_free_slots_from_downstream_edge_1_stream_id + direction)) {
            return false;
        }
    }
    for (uint32_t edge = 0; has_vc1 && edge < num_vc1_edges; ++edge) {
        if (!connect(downstream[VC1_DOWNSTREAM + edge],
                     downstream_vc1_sender_channel(args.my_direction, vc1_direction(edge)),
                     vc_1_free_slots_from_downstream_edge_1_stream_id + edge)) {
            return false;
        }
    }
    for (uint32_t channel = 1; channel < num_data_senders; ++channel) {
        if (!meet_producer(channel)) {
            return false;
        }
    }
    WAYPOINT("FSCD");
    return true;
}

void postcode(fabric_postcode_t code) { word_at(postcode_addr) = code; }

}  // namespace

bool begin() {
    return begin_stage(state.control, [] {
               state.control.termination_signal = termination();
               yield_to_base_firmware();
           }) &&
           termination() == KEEP_RUNNING;
}

bool send_identity(uint32_t seen) {
    words->identity.seen = static_cast<uint8_t>(seen);
    compiler_barrier();
    if (!wait_until([](uint32_t) { return !txq_busy(); })) {
        return false;
    }
    txq_write(reinterpret_cast<uint32_t>(&words->identity),
              reinterpret_cast<uint32_t>(&words->peer_identity), sizeof(fabric_identity_t));
    return true;
}

void hand_on_termination() {
    for (uint32_t i = 1; args.is_local_master != 0 && i < args.num_local_edms; ++i) {
        answer(args.local_edm_xy[i], termination_signal_addr, termination());
    }
}

bool set_up() {
    postcode(POSTCODE_INIT_STARTED);
    uint32_t address = runtime_args_address(ACTIVE_ETH, 0);
    if (address == 0) {
        return false;
    }
    args = *reinterpret_cast<const fabric_router_args_t*>(address);
    state.refusal = BAD_ARGUMENTS;
    if (args.pause_at_stage != 0) {
        state.control.pause_at_stage = args.pause_at_stage - 1;
    }
    if (!arguments_fit()) {
        return false;
    }
    own_mid = noc_own_mid(NOC);
    postcode(POSTCODE_TXQ_READY);
    open_streams();
    postcode(POSTCODE_STREAMS_READY);
    for (uint32_t direction = 0; direction < DIRECTIONS; ++direction) {
        open_downstream(direction, direction,
                        downstream_sender_channel(args.my_direction, direction),
                        vc_0_free_slots_from_downstream_edge_1_stream_id + direction);
    }
    for (uint32_t edge = 0; edge < num_vc1_edges; ++edge) {
        open_downstream(VC1_DOWNSTREAM + edge, vc1_direction(edge),
                        downstream_vc1_sender_channel(args.my_direction, vc1_direction(edge)),
                        vc_1_free_slots_from_downstream_edge_1_stream_id + edge);
    }
    postcode(POSTCODE_DOWNSTREAM_STARTED);
    for (uint32_t channel = 0; channel < num_data_receivers; ++channel) {
        open_receiver(channel);
    }
    for (uint32_t channel = 0; channel < num_data_senders; ++channel) {
        open_sender(channel);
    }
    open_control();
    postcode(POSTCODE_VCS_SET_UP);
    if (!open_status_queue()) {
        return false;
    }
    state.refusal = FITS;
    postcode(POSTCODE_WORKER_INTERFACES);
    return true;
}

bool bring_up() {
    words->edm_status = STARTED;
    if (!begin() || !shake_hands()) {
        return false;
    }
    postcode(POSTCODE_HANDSHAKE_DONE);
    words->edm_status = REMOTE_HANDSHAKE_COMPLETE;
    if (!begin() || !meet() || !begin() || !wait_for_host()) {
        return false;
    }
    postcode(POSTCODE_ROUTING_TABLE);
    if (!connect_routers()) {
        return false;
    }
    postcode(POSTCODE_VCS_OPENED);
    if (!begin()) {
        return false;
    }
    postcode(POSTCODE_INIT_COMPLETE);
    return true;
}

}  // namespace fabric_router
