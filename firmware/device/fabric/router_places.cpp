// The image's description of its channels and constants for tools, in debug information and file.
// Nothing here runs.
#include "router_moves.hpp"

namespace {

constexpr uint8_t NONE = k_unused_stream_id;

constexpr fabric_channel_place_t sender_place(uint32_t channel) {
    bool control = channel == control_sender_channel;
    uint32_t virtual_channel = control                              ? control_virtual_channel
                               : channel >= vc1_sender_channel ? 1u
                                                                    : 0u;
    return channel >= num_sender_channels
               ? fabric_channel_place_t{0, 0, 0, NONE, NONE, NONE, 0}
               : fabric_channel_place_t{
                     control ? control_sender_buffers : sender_buffers(channel),
                     static_cast<uint16_t>(control ? control_buffer_size : channel_buffer_size),
                     static_cast<uint16_t>(control ? control_slots : sender_slots),
                     static_cast<uint8_t>(sender_channel_0_free_slots_stream_id + channel),
                     NONE,
                     static_cast<uint8_t>(to_sender_0_pkts_completed_id + channel),
                     static_cast<uint8_t>(virtual_channel)};
}

constexpr fabric_channel_place_t receiver_place(uint32_t channel) {
    bool control = channel == control_receiver_channel;
    return channel >= num_receiver_channels
               ? fabric_channel_place_t{0, 0, 0, NONE, NONE, NONE, 0}
               : fabric_channel_place_t{
                     control ? control_receiver_buffers : receiver_buffers(channel),
                     static_cast<uint16_t>(control ? control_buffer_size : channel_buffer_size),
                     static_cast<uint16_t>(control ? control_slots : receiver_slots),
                     NONE,
                     static_cast<uint8_t>(to_receiver_0_pkts_sent_id + channel),
                     NONE,
                     static_cast<uint8_t>(control ? control_virtual_channel : channel)};
}

// Constants and types that this image's code may not use, named once so that they stay in its debug
// information.
template <uint32_t... constants>
struct keep_t {};
typedef keep_t<
    topology, edm_status_ptr_addr, termination_signal_addr, edm_local_sync_ptr_addr,
    edm_handshake_addr, local_sender_channel_0_connection_info_addr,
    local_sender_channel_0_connection_semaphore_addr,
    local_sender_channel_0_connection_buffer_index_addr, postcode_addr, routing_info_addr,
    sender_channel_0_free_slots_stream_id, to_receiver_0_pkts_sent_id, to_sender_0_pkts_acked_id,
    to_sender_0_pkts_completed_id, vc_0_free_slots_from_downstream_edge_1_stream_id,
    vc_1_free_slots_from_downstream_edge_1_stream_id,
    num_vc1_sender_channels, channel_buffers_addr, channel_buffer_size, sender_slots, receiver_slots, packet_header_bytes, max_payload_bytes,
    HYBRID_MESH_MAX_ROUTE_BUFFER_SIZE, ROUTER_WORDS, fallback_receiver_slot(0)>
    kept_constants_t;

}  // namespace

struct fabric_kept_t {
    kept_constants_t constants;
    fabric_connection_info_t connection;
    connection_t connections;
    NocSendType send_type;
    fabric_postcode_t postcode;
    EDMStatus status;
    eth_chan_directions direction;
    hybrid_mesh_action_t action;
    low_latency_hop_t hop;
    fabric_packet_flags_t flags;
    fabric_phase_t phase;
};

extern "C" {
extern const fabric_channel_places_t fabric_channel_places;
__attribute__((used)) const fabric_channel_places_t fabric_channel_places = {
    {sender_place(0), sender_place(1), sender_place(2), sender_place(3), sender_place(4),
     sender_place(5)
#ifdef FABRIC_INTERMESH_VC
         ,
     sender_place(6), sender_place(7)
#endif
    },
    {receiver_place(0), receiver_place(1), receiver_place(2)},
    {fallback_buffers, fallback_buffer_size, fallback_slots, NONE, fallback_pkts_sent_stream_id,
     fallback_pkts_completed_stream_id, 0}};
extern const fabric_kept_t* const fabric_kept;
__attribute__((used)) const fabric_kept_t* const fabric_kept = nullptr;
}
