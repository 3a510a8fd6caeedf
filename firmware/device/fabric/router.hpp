// The fabric router: the words that the host writes and reads. One router runs at each end of a
// link; those of one chip and one routing plane forward packets to each other over the NoC. An
// image is built for each topology (FABRIC_TOPOLOGY): its channels, slots and streams are constants
// under tt-metal's names, so that a tool finds them in the image's debug information.
#pragma once
#include "common/erisc.hpp"
#include "common/kernel.hpp"
#include "fabric.hpp"
#include "stream.hpp"

#ifndef FABRIC_TOPOLOGY
#error "FABRIC_TOPOLOGY is set per image: Linear, Ring, Mesh or Torus"
#endif
constexpr Topology topology = FABRIC_TOPOLOGY;
constexpr bool is_2d_fabric = topology == Mesh || topology == Torus;
// Meshes joined by several links: packets leave over one link and arrive over another, and travel in
// virtual channel 1 from the link that they cross.
#ifdef FABRIC_INTERMESH_VC
constexpr bool has_intermesh_vc = true;
static_assert(topology == Mesh);
#else
constexpr bool has_intermesh_vc = false;
#endif

// Sender channel 0 is the local one (a worker or mux). Then follows one for each other router of
// the plane that forwards packets in virtual channel 0 (1D: the opposite one; 2D: by direction,
// `downstream_sender_channel`); then those of virtual channel 1: of rings one, in which only the
// opposite router sends; between meshes again one for each other router. The last one is the
// control channel.
constexpr uint32_t num_vc0_sender_channels = is_2d_fabric ? 4 : 2;
constexpr uint32_t num_vc1_sender_channels = has_intermesh_vc                        ? 3
                                             : topology == Ring || topology == Torus ? 1
                                                                                     : 0;
constexpr bool has_vc1 = num_vc1_sender_channels != 0;
constexpr uint32_t vc1_sender_channel = num_vc0_sender_channels;  // the first of them
constexpr uint32_t control_sender_channel = num_vc0_sender_channels + num_vc1_sender_channels;
constexpr uint32_t num_sender_channels = control_sender_channel + 1;
// Receiver channels: virtual channel 0, virtual channel 1 (if there is one), control.
constexpr uint32_t vc1_receiver_channel = 1;
constexpr uint32_t control_receiver_channel = has_vc1 ? 2 : 1;
constexpr uint32_t num_receiver_channels = control_receiver_channel + 1;
constexpr uint32_t FABRIC_MAX_SENDERS = has_intermesh_vc ? 8 : 6, FABRIC_MAX_RECEIVERS = 3;

// Returns the sender channel of the router towards `downstream` that a router towards `mine` puts
// packets into (tt-metal.md 4.4).
constexpr uint32_t downstream_sender_channel(uint32_t mine, uint32_t downstream) {
    return !is_2d_fabric ? 1 : mine > downstream ? mine : mine + 1;
}
constexpr uint32_t downstream_vc1_sender_channel(uint32_t mine, uint32_t downstream) {
    return vc1_sender_channel +
           (has_intermesh_vc ? downstream_sender_channel(mine, downstream) - 1 : 0);
}

constexpr uint32_t sender_slots = has_intermesh_vc ? 6 : 8;
constexpr uint32_t receiver_slots = topology == Linear ? 16 : 8;   // of each virtual channel
constexpr uint32_t control_slots = 4;
// Messages of other routers: one in flight to the link, one from it.
constexpr uint32_t fallback_slots = 2;
constexpr uint32_t packet_header_bytes = is_2d_fabric ? sizeof(HybridMeshPacketHeader)
                                                      : sizeof(LowLatencyPacketHeader);
// As large as possible (line: as an EDM buffer): fewer packets cost less.
constexpr uint32_t channel_buffer_size = topology == Linear ? 4160
                                         : topology == Ring ? 3536
                                         : has_intermesh_vc ? 2448
                                         : topology == Mesh ? 3616
                                                            : 2528;
constexpr uint32_t max_payload_bytes = channel_buffer_size - packet_header_bytes;
constexpr uint32_t control_buffer_size = packet_header_bytes;
static_assert(channel_buffer_size % 16 == 0);

// Streams of this tile (tt-metal.md 4.5); a value of 32 is unused.
constexpr uint32_t k_unused_stream_id = 32;
constexpr uint32_t sender_channel_0_free_slots_stream_id = 0;  // then one per sender channel
// Then one per receiver channel.
constexpr uint32_t to_receiver_0_pkts_sent_id = FABRIC_MAX_SENDERS;
constexpr uint32_t to_sender_0_pkts_acked_id = k_unused_stream_id;  // no first-level acknowledge
// Then one per sender channel.
constexpr uint32_t to_sender_0_pkts_completed_id = to_receiver_0_pkts_sent_id +
                                                   FABRIC_MAX_RECEIVERS;
// Credits for writing into the router of this plane towards direction d: in virtual channel 0 at
// this id + d; in virtual channel 1 between meshes at the second id + d, of rings (opposite router
// only) at the second id.
constexpr uint32_t vc_0_free_slots_from_downstream_edge_1_stream_id =
    to_sender_0_pkts_completed_id + FABRIC_MAX_SENDERS;
constexpr uint32_t vc_1_free_slots_from_downstream_edge_1_stream_id =
    vc_0_free_slots_from_downstream_edge_1_stream_id + DIRECTIONS;
constexpr uint32_t num_vc1_edges = has_intermesh_vc ? DIRECTIONS : 1;
// Messages of other routers that arrived over this link, and those that the peer has forwarded.
constexpr uint32_t fallback_pkts_sent_stream_id = vc_1_free_slots_from_downstream_edge_1_stream_id +
                                                  num_vc1_edges;
constexpr uint32_t fallback_pkts_completed_stream_id = fallback_pkts_sent_stream_id + 1;
// Packets of each virtual channel that arrived before the link was lost or over another link. While
// the link is lost they count instead of the peer's stream.
constexpr uint32_t fallback_arrived_0_stream_id = fallback_pkts_completed_stream_id + 1;
static_assert(fallback_arrived_0_stream_id + 1 < 32);

// The identity that the ends of a link exchange before the first packet.
struct fabric_identity_t {
    uint32_t run_id;
    uint16_t protocol;               // FABRIC_PROTOCOL
    uint8_t topology, direction;
    uint16_t slot_bytes, header_bytes;
    uint8_t sender_slots, receiver_slots, control_slots, fallback_slots;
    uint16_t mesh_id, device_id;
    uint8_t eth_channel, seen;       // fabric_seen_t
    uint16_t refusal;                // fabric_refusal_t
    uint32_t xy;                     // of its tile
    uint32_t run_id_again;           // last: a value that arrives in two parts is read whole
};
static_assert(sizeof(fabric_identity_t) == 32);
constexpr uint32_t FABRIC_PROTOCOL = 1;
// 1: the peer's identity has arrived here; 2: and this end is drained.
enum fabric_seen_t : uint8_t { NOT_SEEN = 0, SEEN = 1, DRAINED = 2 };

// The state that the two routers of a lost link exchange: over the link of another router of this
// direction (a request to that router, a message over its link, a delivery by its peer), and over
// their own link when it is back. Odd epoch: the link is not used. Even epoch, not 0: it is back. A
// higher epoch supersedes. The serial number is in each 16-byte unit, so that a message that
// arrives in parts is read whole.
struct fabric_resync_t {
    uint32_t epoch;
    uint32_t from_xy, to_xy;         // tile that has the packet; tile to which the message goes
    uint32_t serial;
    uint8_t phase;                   // fabric_phase_t, of an even epoch
    uint8_t virtual_channel;
    uint8_t seen;                    // fabric_seen_t
    uint8_t ready;                   // four bits per virtual channel: slots that accept packets
    // The packet that comes with the message, counted from 0 in its virtual channel; 0 bytes: none.
    uint16_t number, bytes;
    uint32_t source;                 // its address
    uint32_t serial_1;
    // Packets of each virtual channel received whole since bring-up, modulo 2^16.
    uint16_t arrived[2], completed[2];
    // Packets that this end had sent over the link in each virtual channel when it was lost.
    uint16_t frozen[2];
    uint32_t serial_2;
};
static_assert(sizeof(fabric_resync_t) == 48);
enum fabric_phase_t : uint8_t {
    PHASE_WAITS = 0,
    PHASE_EMPTY = 1,
    PHASE_REBASED = 2,
    PHASE_DIRECT = 3
};
constexpr uint32_t FABRIC_MAX_FALLBACKS = 4, FALLBACK_REFUSED = 1u << 31;

// Words that others write, from the start of unreserved L1; each a 16-byte unit of its own. The
// host clears them in all tiles of a fabric before it starts the first router.
struct fabric_router_words_t {
    fabric_identity_t identity;          // sent to the peer
    fabric_identity_t peer_identity;     // the peer writes here
    // TerminationSignal; the host writes the master's, which forwards it.
    volatile uint32_t termination_signal;
    uint32_t pad0[3];
    // Master: incremented by subordinates, once more when they are complete; subordinate: the
    // master writes the count of routers.
    volatile uint32_t edm_local_sync;
    uint32_t pad1[3];
    volatile uint32_t edm_status;        // EDMStatus
    uint32_t pad2[3];
    EDMChannelWorkerLocationInfo conn_info[FABRIC_MAX_SENDERS];
    struct {
        volatile uint32_t value;         // connection_t
        uint32_t pad[3];
    } conn_semaphore[FABRIC_MAX_SENDERS];
    SenderChannelProducerCursor buffer_index[FABRIC_MAX_SENDERS];
    fabric_resync_t resync;              // the peer writes here over the link when it is back
    fabric_resync_t resync_source;
    // By number of the other routers of this direction: messages they want sent.
    fabric_resync_t fallback_request[FABRIC_MAX_FALLBACKS];
    // By their number: messages for this router that arrived over their links.
    fabric_resync_t fallback_delivery[FABRIC_MAX_FALLBACKS];
    // Serial number of the request that was taken, or FALLBACK_REFUSED and that number.
    volatile uint32_t fallback_taken;
    volatile uint32_t fallback_done;     // serial number of the delivery that was taken
    volatile uint32_t fallback_bell;     // the writer of a request or a delivery writes 1
    uint32_t pad3;
    // 1: the control channel of the router towards this direction has room for a header, whose
    // router writes it.
    volatile uint32_t control_credits[DIRECTIONS];
};
constexpr uint32_t ROUTER_WORDS = ERISC_UNRESERVED;
constexpr uint32_t edm_handshake_addr = ROUTER_WORDS + offsetof(fabric_router_words_t, identity);
constexpr uint32_t termination_signal_addr = ROUTER_WORDS +
                                             offsetof(fabric_router_words_t, termination_signal);
constexpr uint32_t edm_local_sync_ptr_addr = ROUTER_WORDS +
                                             offsetof(fabric_router_words_t, edm_local_sync);
constexpr uint32_t edm_status_ptr_addr = ROUTER_WORDS + offsetof(fabric_router_words_t, edm_status);
constexpr uint32_t local_sender_channel_0_connection_info_addr =
    ROUTER_WORDS + offsetof(fabric_router_words_t, conn_info);
constexpr uint32_t local_sender_channel_0_connection_semaphore_addr =
    ROUTER_WORDS + offsetof(fabric_router_words_t, conn_semaphore);
constexpr uint32_t local_sender_channel_0_connection_buffer_index_addr =
    ROUTER_WORDS + offsetof(fabric_router_words_t, buffer_index);
// Entries for the status queue, before they are written.
constexpr uint32_t status_staging_addr = ROUTER_WORDS + (has_intermesh_vc ? 0x5C0 : 0x4C0),
                   status_staging_end = status_staging_addr + 0x140;
static_assert(sizeof(fabric_router_words_t) <= status_staging_addr - ROUTER_WORDS);
constexpr uint32_t postcode_addr = 0x3F420, routing_info_addr = 0x3F440;

// Slots, behind the words: sender channels, receiver channels, fallback slots, control slots. The
// same at both ends. Images with more text: behind their data (link/erisc_router_large.ld).
constexpr uint32_t channel_buffers_addr =
    ROUTER_WORDS + (topology == Torus || has_intermesh_vc ? 0x1000 : 0x600);
constexpr uint32_t sender_buffers(uint32_t channel) {
    return channel_buffers_addr + channel * sender_slots * channel_buffer_size;
}
constexpr uint32_t receiver_buffers(uint32_t channel) {
    return sender_buffers(control_sender_channel) + channel * receiver_slots * channel_buffer_size;
}
// While the link is lost, packets that arrive over another link go into receiver slots that the
// peer's late packets cannot reach. If there is none, they go into the slots of messages, since
// none is carried then: each virtual channel has one that late messages cannot reach.
constexpr uint32_t fallback_buffers = receiver_buffers(control_receiver_channel);
constexpr uint32_t fallback_buffer_size = sizeof(fabric_resync_t) + channel_buffer_size;
constexpr uint32_t fallback_receiver_slot(uint32_t channel) {
    return fallback_buffers +
           (channel == 0 ? sizeof(fabric_resync_t) : fallback_slots * fallback_buffer_size);
}
constexpr uint32_t control_sender_buffers = fallback_buffers +
                                            fallback_slots * fallback_buffer_size +
                                            (has_vc1 ? channel_buffer_size : 0);
constexpr uint32_t control_receiver_buffers = control_sender_buffers +
                                              control_slots * control_buffer_size;
constexpr uint32_t channel_buffers_end = control_receiver_buffers +
                                         control_slots * control_buffer_size;
static_assert(channel_buffers_end <= 0x3DC00);

// The channels of an image, for tools: the constant `fabric_channel_places` in its file. Unused:
// slots = 0, streams 32.
struct fabric_channel_place_t {
    uint32_t buffers_address;
    uint16_t buffer_bytes, slots;
    uint8_t free_slots_stream_id, pkts_sent_stream_id, completed_stream_id;
    uint8_t virtual_channel;             // 2: control
};
struct fabric_channel_places_t {
    fabric_channel_place_t senders[FABRIC_MAX_SENDERS];
    fabric_channel_place_t receivers[FABRIC_MAX_RECEIVERS];
    fabric_channel_place_t fallback;
};
constexpr uint32_t control_virtual_channel = 2;

// Runtime arguments, at kernel_config_base[ACTIVE_ETH] + rta_offset[0].
struct fabric_router_args_t {
    uint32_t run_id;  // the same in the whole fabric, nonzero, different for each bring-up
    uint32_t my_direction;                 // eth_chan_directions
    uint32_t my_eth_channel;
    uint32_t neighbor_mesh_id;             // the node required at the other end; 0xFFFF: any
    uint32_t neighbor_device_id;
    uint32_t is_local_master;
    uint32_t num_local_edms;               // routers of this chip, all planes
    uint32_t local_edm_xy[16];             // x | y << 16; the master first
    uint32_t downstream_xy[DIRECTIONS];    // the router of this plane towards a direction; 0 none
    // Other routers towards my_direction, in the order of attempts; 0: none.
    uint32_t fallback_xy[3];
    uint32_t fallback_index;  // number of this router among those, below FABRIC_MAX_FALLBACKS
    uint32_t dateline;  // 1: packets that arrive over this link continue in virtual channel 1
    // 1: the other end is in another mesh: packets that arrive get a new route.
    uint32_t inter_mesh;
    uint32_t packet_timeout_cycles;        // 0: no timeout
    // Without any link in my_direction before packets are dropped; 0: no timeout.
    uint32_t unrouted_timeout_cycles;
    uint32_t rate_interval_cycles;         // between two EVENT_RATE; 0: none
    uint32_t status_queue_xy;              // DRAM tile, x | y << 16; 0: none
    uint32_t status_queue_address;
    // Passes without and with progress before it yields to base firmware.
    uint32_t idle_count, busy_count;
    // 0: run; n: park before the n-th stage (1 offer of the handshake, 2 answer, 3 local sync,
    // 4 ready, 5 traffic, 6 teardown).
    uint32_t pause_at_stage;
};

// The private half of the credits and other state for tools. Written when it changes.
struct fabric_sender_state_t {
    volatile uint32_t packets_sent;
    volatile uint32_t packets_completed;
    volatile uint32_t packets_dropped;
    volatile uint32_t slot;                // oldest packet that is not completed
    volatile uint32_t last_progress;       // low half of the wall clock
};
struct fabric_receiver_state_t {
    volatile uint32_t packets_received;    // taken from the stream
    volatile uint32_t packets_completed;
    volatile uint32_t packets_dropped;
    volatile uint32_t slot;                // head: the oldest packet that is not completed
    volatile uint32_t waits_for;           // fabric_wait_t of the head
    volatile uint32_t pending;             // ACTION_* of the head that are not done yet
    volatile uint32_t last_progress;
};
enum fabric_wait_t : uint32_t {
    WAITS_FOR_NOTHING = 0,
    WAITS_FOR_DOWNSTREAM = 1,
    WAITS_FOR_NOC = 2,
    WAITS_FOR_TXQ = 3
};
enum fabric_link_t : uint32_t {
    LINK_DIRECT = 0,
    LINK_LOST = 1,
    LINK_FALLBACK = 2,
    LINK_RETURNING = 3,
    LINK_NONE_LEFT = 4
};

// The global `fabric_router_state` is of this type.
struct fabric_router_state_t {
    uint32_t magic;                        // "FABR"
    kernel_control_t control;  // its termination_signal is not used: see fabric_router_words_t
    fabric_router_args_t args;
    volatile fabric_refusal_t refusal;
    volatile fabric_link_t link;
    volatile uint32_t fallback_xy;         // of the router whose link is used
    volatile uint32_t epoch;               // changes of the link: odd while it is not used
    volatile uint32_t messages_carried;    // of other routers, over this link
    volatile uint32_t packets_resent;      // over this link, after it was back
    volatile uint32_t packets_rerouted;    // over another link
    volatile uint32_t passes, yields;
    volatile uint32_t status_entries, status_entries_lost;
    volatile uint32_t expired, timed_out, routing_errors, nacks_sent, control_dropped;
    fabric_sender_state_t senders[FABRIC_MAX_SENDERS];
    fabric_receiver_state_t receivers[FABRIC_MAX_RECEIVERS];
};
