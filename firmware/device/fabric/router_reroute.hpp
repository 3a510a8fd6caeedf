// Interfaces between the parts of rerouting. A lost link is frozen: late arrivals over it do not
// count. Its two routers then exchange their state in messages over the link of another router of
// their direction (an odd epoch). Packets travel in these messages, one at a time, into a slot that
// the lost link cannot reach. When the link is back, both empty these slots and exchange their
// state over it (an even epoch), after everything it delivered late, and missing packets are sent
// again.
#pragma once
#include "router_moves.hpp"

namespace fabric_router {

// Constants with twelve low zero bits take one instruction.
constexpr uint32_t REPEAT_CYCLES = 0xF000;     // between repetitions of a message without news
constexpr uint32_t ANSWER_CYCLES = 0x18000;    // an answer takes no longer
constexpr uint32_t REST_CYCLES = 0x5000;       // before all other routers get the request again

struct detour_t {
    bool frozen;
    bool heard;                                // a message of this epoch has arrived
    bool dirty;                                // the peer's knowledge of this end is outdated
    bool requests_unread, deliveries_unread;   // the bell was rung
    uint8_t phase, peer_phase;                 // fabric_phase_t
    // Slots of each virtual channel that accept packets, four bits each.
    uint32_t ready, peer_ready;
    uint32_t abandoned;  // bit per virtual channel: packets were dropped that may have arrived
    uint32_t expected[2];                      // packets received whole, by virtual channel
    uint16_t frozen_at[2], peer_frozen_at[2];  // packets sent over the link
    uint16_t expected_at[2];                   // packets received over it
    uint32_t next[2];                          // the next packet to send (again)
    uint32_t acknowledged[2];                  // packets that the peer has
    uint32_t peer_completed[2];
    uint32_t since;  // start of this epoch, or the time from which its link may be tried
    uint32_t last_mail;
};
extern detour_t detour;

inline uint32_t slots_of(uint32_t channel, uint32_t ready) { return ready >> 4 * channel & 15; }

// Returns true if a message is whole and has a new serial number. Its writer does not change it
// until it is answered.
bool is_new(const fabric_resync_t& message, uint32_t& known);
void stamp(fabric_resync_t& message, uint32_t serial);
// Fills a message to the peer with this end's identity and state.
void fill(fabric_resync_t& message);
// Returns false for a message of an ended epoch. A later epoch begins.
bool join(uint32_t epoch);
void enter(uint32_t epoch);
void abandon();
// Completes a packet of this sender channel.
void confirm(sender_t& sender);
// Directs packets that arrive over another link into slots that nothing else reaches, and returns
// their number.
uint32_t use_safe_slots(uint32_t channel);
// Takes the peer's state from the first message of an epoch (`first`) or a later one.
void hear(const fabric_resync_t& message, bool first);
inline bool is_odd() { return (state.epoch & 1) != 0; }
inline bool is_after(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

// Writes a message into another router's words, and rings its bell. Returns false if it must be
// tried again later.
bool post(fabric_resync_t& message, uint32_t mid, uint32_t address);
constexpr uint32_t word_address(uint32_t offset) { return ROUTER_WORDS + offset; }

// --- router_detour.cpp ---
void step_detour();
void take_deliveries();
bool delivery_idle();
bool detour_idle();
void restart_detour();

// --- router_carrier.cpp: messages of other routers ---
void step_carrier();
void reset_carrier();
bool carrier_rests();
bool carrier_handed_on();  // the slot of the message that arrived over the link is not being read
bool pulled();                   // a read has ended; waits for a bounded number of polls

}  // namespace fabric_router
