// Interfaces between the parts of the router: the private state of every channel, stream registers,
// waits.
#pragma once
#include "common/noc.hpp"
#include "common/txq.hpp"
#include "leaving.hpp"
#include "route.hpp"
#include "router.hpp"

// All text is within the reach of a jump: a call needs one instruction instead of the compiler's
// two.
asm(".macro call a, b\n\t.ifb \\b\n\tjal ra, \\a\n\t.else\n\tjal \\a, \\b\n\t.endif\n.endm\n.macro "
    "tail target\n\tj \\target\n.endm");

extern "C" {
extern fabric_router_state_t fabric_router_state;
}

namespace fabric_router {

constexpr uint32_t NOC = 0;
// Transaction ids that base firmware does not use, so that its traffic in a yield does not disturb
// them. A receiver channel has PIPELINE of them.
constexpr uint32_t WORDS = 5, EVENTS = 6, CONTROL_PACKETS = 7, PACKETS = 8;
constexpr uint32_t PIPELINE = 4;

inline fabric_router_state_t& state = fabric_router_state;
inline fabric_router_args_t& args = fabric_router_state.args;
static fabric_router_words_t* const words = reinterpret_cast<fabric_router_words_t*>(ROUTER_WORDS);
static routing_l1_info_t* const routing_info =
    reinterpret_cast<routing_l1_info_t*>(routing_info_addr);

template <bool two_dimensions>
struct packet_header_of {
    typedef LowLatencyPacketHeader type;
};
template <>
struct packet_header_of<true> {
    typedef HybridMeshPacketHeader type;
};
typedef packet_header_of<is_2d_fabric>::type packet_header_t;
static_assert(sizeof(packet_header_t) == packet_header_bytes);

// --- Streams ---
typedef volatile uint32_t* stream_t;  // the value register
inline stream_t stream_of(uint32_t id) {
    return &word_at(STREAM_BASE + id * STREAM_STRIDE + STREAM_VALUE);
}
inline uint32_t stream_value(stream_t stream) { return *stream & STREAM_VALUE_MASK; }
inline void stream_add(stream_t stream, int32_t by) {
    *reinterpret_cast<stream_t>(reinterpret_cast<uint32_t>(stream) - STREAM_VALUE + STREAM_UPDATE) =
        static_cast<uint32_t>(by) << STREAM_INCREMENT_SHIFT;
}
constexpr uint32_t stream_update_address(uint32_t id) {
    return STREAM_BASE + id * STREAM_STRIDE + STREAM_UPDATE;
}

// --- Private state ---
// A receiver channel of the peer. Its senders share its slots.
struct remote_t {
    uint32_t free_slots;         // also read by the tool, by this name
    uint32_t slot;               // address of the next slot
    uint32_t first, end;
    uint32_t bytes;              // of a slot
    uint32_t announce_address;   // of the peer's stream
    uint32_t* log_at;            // entry of the next packet
    uint32_t rounds;             // number of the packet in the first slot
    // Slots of the packets that are not completed: packet n at n modulo receiver_slots.
    uint32_t log[receiver_slots];
    uint32_t sent() const { return rounds + static_cast<uint32_t>(log_at - log); }   // packets
};
// The producer of a sender channel: a client, or a router of this plane.
struct producer_t {
    uint32_t mid;                // 0: none
    uint32_t address;            // of the client's read counter, or of the upstream router's stream
    uint32_t owed;               // completions not yet reported to it
};
struct sender_t {
    stream_t free_slots, completions;
    remote_t* remote;
    fabric_sender_state_t* state;
    uint32_t head, first, end;   // next slot to be sent; bounds of the slots
    uint32_t sent, completed;    // packets; dropped ones count as both
    producer_t producer;
    uint32_t dropped;  // bit per slot whose packet was dropped and not yet passed by `completed`
    uint32_t waits_since;        // wall clock, if `waits`
    bool waits, draining;
    uint8_t channel;             // its number
};
struct receiver_t {
    stream_t arrived;
    fabric_receiver_state_t* state;
    // Addresses of slots: oldest that is still to be forwarded, oldest that is not completed.
    uint32_t head, tail;
    uint32_t first, end;
    uint32_t received, completed;
    uint32_t first_id;           // of its transactions
    // Actions that the head still needs: hybrid_mesh_action_t, DELIVER_AFTER_FLUSH.
    uint32_t pending;
    uint32_t chunk;              // of a scatter write: chunks done
    uint32_t waits_since;        // when the head was opened
    uint32_t draining;  // directions in which a packet has timed out: packets for them do not wait
    bool second;                 // virtual channel 1
};
// The increment, after earlier writes were acknowledged.
constexpr uint32_t DELIVER_AFTER_FLUSH = 0x40;
// A sender channel of another router of this plane.
struct downstream_t {
    stream_t credits;
    uint32_t mid;                // 0: no such router
    uint32_t slot, first, end;
    uint32_t free_slots_address;
};
constexpr uint32_t VC1_DOWNSTREAM = DIRECTIONS;   // then num_vc1_edges of them

constexpr uint32_t num_data_senders = control_sender_channel;
constexpr uint32_t num_data_receivers = control_receiver_channel;

extern sender_t senders[num_data_senders];
extern receiver_t receivers[num_data_receivers];
extern remote_t remotes[num_data_receivers];
extern downstream_t downstream[DIRECTIONS + num_vc1_edges];
// Stream of the peer to update for the packet sent last; 0: none; HELD, RESUMES.
extern uint32_t announce;
// The link is not used: packets go over another one (router_reroute.cpp).
constexpr uint32_t HELD = 1;
// The link is back: nothing is sent or completed until missing packets were sent again.
constexpr uint32_t RESUMES = 2;
extern uint32_t own_mid;

constexpr uint32_t opposite(uint32_t direction) { return direction ^ 1; }
static_assert(opposite(EAST) == WEST && opposite(SOUTH) == NORTH);
inline uint32_t low(noc_address_t address) { return static_cast<uint32_t>(address); }
inline uint32_t mid(noc_address_t address) { return static_cast<uint32_t>(address >> 32) & 0xFFFF; }
uint32_t xy_mid(uint32_t xy);    // 0 stays 0
inline uint32_t own_xy() { return (own_mid >> 4 & 0x3F) | (own_mid >> 10 & 0x3F) << 16; }
inline packet_header_t& header_at(uint32_t slot) {
    return *reinterpret_cast<packet_header_t*>(slot);
}
inline uint32_t packet_bytes(const packet_header_t& header) {
    return (packet_header_bytes + header.payload_size_bytes + 15) & ~15u;
}
inline uint32_t transaction_of(const receiver_t& receiver, uint32_t packet) {
    return receiver.first_id + packet % PIPELINE;
}
inline bool has_left(uint32_t id) { return noc_has_left(NOC, id); }

// A command buffer becomes free within a few cycles, unless the network is jammed.
inline bool niu_free_soon(uint32_t buffer) {
    for (uint32_t polls = 0; polls < 16; ++polls) {
        if (!niu_busy(NOC, buffer)) {
            return true;
        }
    }
    return false;
}

uint32_t termination();

// Before traffic starts, any signal ends a wait: returns false.
bool wait_until(bool (*condition)(uint32_t), uint32_t argument = 0);

// --- router_setup.cpp ---
// Reads and checks the arguments and sets up channels and streams. Returns false if refused.
bool set_up();
// Begins the next stage, before which it may park. Returns false if a signal ends the router.
bool begin();
// Runs the stages from the handshake to the first packet. Returns false if refused or stopped.
bool bring_up();
bool send_identity(uint32_t seen);
void hand_on_termination();

// --- router_sender.cpp ---
bool step_sender(sender_t& sender);
void tell_producer(sender_t& sender);
// Updates the peer's stream for the packet sent last, as soon as the queue is free.
void announce_sent();
inline uint32_t log_entry(const remote_t& remote, uint32_t packet) {
    return remote.log[packet % receiver_slots];
}

// --- router_rare.cpp ---
// Counts dropped packets as completed once all before them are.
void pass_dropped(sender_t& sender);
// Drops the head without sending it.
void drop_head(sender_t& sender, fabric_event_t event);
// Channel 0: opens and closes its client's connection.
void serve_client();
bool sender_idle(const sender_t& sender);
// Sets the waypoint of the first channel that waits. Returns false if none does.
bool show_wait();
// A router leaves gracefully if nothing has moved for QUIET_CYCLES and its peer is drained as well.
struct farewell_t {
    bool handed_on, told;
    uint32_t quiet_since;
};
bool may_leave(farewell_t& farewell, bool progress);
void tear_down();

// --- router_receiver.cpp ---
bool step_receiver(receiver_t& receiver);
bool receiver_idle(const receiver_t& receiver);
enum moved_t : uint32_t { MOVED = 0, WAITS_DOWNSTREAM = 1, WAITS_NOC = 2, BAD_PACKET = 3 };

// --- router_deliver.cpp ---
moved_t deliver(receiver_t& receiver, packet_header_t& header);

// --- router_noc.cpp: the buffer must not be busy ---
void start_write(uint32_t id, uint32_t source, uint32_t mid, uint32_t target, uint32_t bytes);
void start_read(uint32_t id, uint32_t mid, uint32_t target, uint32_t destination, uint32_t bytes);
void start_word(uint32_t id, uint32_t mid, uint32_t target, uint32_t value);
void start_increment(uint32_t id, uint32_t mid, uint32_t target, uint32_t value);

// Writes one of another router's words. Returns false if it must be tried again later.
bool answer(uint32_t xy, uint32_t address, uint32_t value);

// --- router_control.cpp ---
void open_control();
void step_control();
bool control_idle();
// Sends a negative acknowledge to the sender of a packet.
void send_nack(const packet_header_t& header);

// --- router_events.cpp ---
bool open_status_queue();
void report(fabric_event_t event, uint32_t a, uint32_t b, uint32_t c, uint32_t d);
void report_packet(fabric_event_t event, const packet_header_t& header);
// Reports a dropped packet and sends the negative acknowledge.
void report_drop(fabric_event_t event, const packet_header_t& header);
void count_sent(uint32_t bytes);
// Writes one staged entry, or reads how far the control plane has read.
void step_events();
// Watches link state and rates.
void watch_link();

// --- router_reroute.cpp: a lost link, and its return ---
extern bool detours;             // work is pending
void link_lost();
void link_is_back();
void step_reroute();
// Checks for requests and deliveries of other routers.
void look_for_mail();
// Returns true if no message of other routers is in flight, so that the router may leave.
bool carrier_idle();
// Reports to the peer, over the link in use, that this end is drained. Returns false if it must be
// tried again later.
bool tell_drained();

// The destination to look up in the tables.
struct fabric_node_t {
    uint32_t mesh, device;
};

// Return true if a step may make progress. Short, because most passes find none.
inline bool sender_may_step(const sender_t& sender) {
    return (sender.sent != sender.completed && *sender.completions != 0) ||
           *sender.free_slots != sender_slots;
}
inline bool receiver_may_step(const receiver_t& receiver) {
    return receiver.completed != receiver.received || receiver.pending != 0 ||
           *receiver.arrived != 0;
}

}  // namespace fabric_router
