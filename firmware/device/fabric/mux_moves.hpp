// What the parts of the mux share: its channels and their clients.
#pragma once
#include "mux.hpp"
#include "stream.hpp"
#if MESHSCOPE_ETH
#include "common/erisc.hpp"
#endif

extern "C" {
extern fabric_mux_state_t fabric_mux_state;
}

namespace fabric {

inline fabric_mux_state_t& state = fabric_mux_state;
inline fabric_mux_args_t& args = fabric_mux_state.args;
inline fabric_mux_words_t& words() { return *reinterpret_cast<fabric_mux_words_t*>(args.words_address); }

// Since when a channel has had a packet that the router does not take.
struct wait_t {
    bool blocked;
    uint32_t since;
};

inline bool must_leave() { return words().termination_signal == IMMEDIATELY_TERMINATE || launched().exit_erisc_kernel != 0; }

inline void rest() {
#if MESHSCOPE_ETH
    yield_to_base_firmware();
#endif
}

// What is not volatile is in no other core's interest.
struct channel_t {
    volatile uint32_t* free_slots;        // the stream's value
    volatile uint32_t* connection;        // connection_t
    uint32_t first_slot, slot;            // slot: number of that of the oldest packet that was not sent
    uint32_t under_way, taken;            // packets that were sent and have not left; that have left
    uint32_t client_mid, counter_address; // of the client that has opened it; mid 0: none
};
extern channel_t channels[FABRIC_MUX_MAX_CHANNELS];

// Packets that lie in a channel, those under way as well.
inline uint32_t queued(uint32_t channel) { return args.num_buffers_full_size_channel - (*channels[channel].free_slots & STREAM_VALUE_MASK); }
inline uint32_t unsent(uint32_t channel) { return queued(channel) - channels[channel].under_way; }

// --- mux_channels.cpp ---
// Reads and judges the arguments, and makes the channels empty. False: refused.
bool set_up();
// Of the oldest packet that was not sent, and on to the one behind it.
uint32_t next_slot(uint32_t channel);
void pass_slot(uint32_t channel);
uint32_t packet_bytes(uint32_t slot);
// The oldest packet of the channel has left: its slot is free, and the client is told. False: told to leave.
bool free_slot(uint32_t channel);
// Opens and closes the channel as its client asks. False: told to leave.
bool answer_client(uint32_t channel);
inline bool has_wish(uint32_t channel) {
    uint32_t settled = channels[channel].client_mid != 0 ? OPEN_CONNECTION : UNUSED_CONNECTION;
    return *channels[channel].connection != settled;
}
inline bool serve_client(uint32_t channel) { return !has_wish(channel) || answer_client(channel); }

}  // namespace fabric
