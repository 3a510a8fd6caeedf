// What the parts of rerouting share. A lost link is frozen: what it still brings does not count. Then its two routers tell each other
// by messages over the link of another router of their direction what they have (an odd epoch), and packets travel in such messages,
// one after the other, into a slot that the lost link cannot reach. When it is back both empty these slots, tell each other over it
// what they have (an even epoch), behind all that it brought late, and what is missing is sent again.
#pragma once
#include "router_moves.hpp"

namespace fabric_router {

// Times with twelve low bits of 0 take one instruction.
constexpr uint32_t REPEAT_CYCLES = 0xF000;     // a message that nothing new calls for
constexpr uint32_t ANSWER_CYCLES = 0x18000;    // an answer takes no longer
constexpr uint32_t REST_CYCLES = 0x5000;       // before all other routers are asked again

struct detour_t {
    bool frozen;
    bool heard;                                // a message of this epoch
    bool dirty;                                // the peer has not been told of something
    bool requests_unread, deliveries_unread;   // the bell was rung
    uint8_t phase, peer_phase;                 // fabric_phase_t
    uint32_t ready, peer_ready;                // slots of each virtual channel that take packets, four bits each
    uint32_t abandoned;                        // a bit for each virtual channel: packets were dropped whose fate is not known
    uint32_t expected[2];                      // packets that are here whole, by virtual channel
    uint16_t frozen_at[2], peer_frozen_at[2];  // packets that were sent over the link
    uint16_t expected_at[2];                   // that had come over it
    uint32_t next[2];                          // the next packet to be sent (again)
    uint32_t acknowledged[2];                  // packets that the peer has
    uint32_t peer_completed[2];
    uint32_t since;                            // this epoch began, or its link may be tried from here on
    uint32_t last_mail;
};
extern detour_t detour;

inline uint32_t slots_of(uint32_t channel, uint32_t ready) { return ready >> 4 * channel & 15; }

// Whether a message is whole and has another serial number than the last one. Its writer leaves it as it is until it is answered.
bool is_new(const fabric_resync_t& message, uint32_t& known);
void stamp(fabric_resync_t& message, uint32_t serial);
// A message to the peer: who we are and what we have.
void fill(fabric_resync_t& message);
// False: a message of an epoch that is over. A later one begins.
bool join(uint32_t epoch);
void enter(uint32_t epoch);
void abandon();
// A packet of this sender channel is completed.
void confirm(sender_t& sender);
// Lets packets that come over another link into slots that nothing else reaches, and tells how many.
uint32_t use_safe_slots(uint32_t channel);
// The peer says what it has, in the first message of an epoch (`first`) or later.
void hear(const fabric_resync_t& message, bool first);
inline bool is_odd() { return (state.epoch & 1) != 0; }
inline bool is_after(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) > 0; }

// Writes a message into another router's words, and rings. False: not now.
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
bool carrier_handed_on();        // nobody reads the slot of what came over the link
bool pulled();                   // a read has come to an end; it waits a little

}  // namespace fabric_router
