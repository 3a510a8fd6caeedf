// Interfaces between the parts of the mux: its channels and their clients.
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
inline fabric_mux_words_t& words() {
    return *reinterpret_cast<fabric_mux_words_t*>(args.words_address);
}

// The time since which a channel has had a packet that the router does not take.
struct wait_t {
    bool blocked;
    uint32_t since;
};

inline bool must_leave() {
    return words().termination_signal == IMMEDIATELY_TERMINATE || launched().exit_erisc_kernel != 0;
}

inline void rest() {
#if MESHSCOPE_ETH
    yield_to_base_firmware();
#endif
}

// While it is parked, the end of the mux is still seen.
inline void rest_and_look() {
    rest();
    if (must_leave()) {
        state.control.termination_signal = IMMEDIATELY_TERMINATE;
    }
}

// Members that are not volatile are read by this core only.
struct channel_t {
    volatile uint32_t* free_slots;        // the stream's value
    volatile uint32_t* connection;        // connection_t
    uint32_t first_slot, slot;            // slot: number of the slot of the oldest unsent packet
    uint32_t under_way, taken;            // packets sent that have not left; packets that have left
    uint32_t client_mid, counter_address; // of the client that has opened the channel; mid 0: none
};
extern channel_t channels[FABRIC_MUX_MAX_CHANNELS];

// Returns the packets in a channel, including those in flight.
inline uint32_t queued(uint32_t channel) {
    return args.num_buffers_full_size_channel - (*channels[channel].free_slots & STREAM_VALUE_MASK);
}
inline uint32_t unsent(uint32_t channel) { return queued(channel) - channels[channel].under_way; }

// --- mux_channels.cpp ---
// Reads and checks the arguments, and empties the channels. Returns false if refused.
bool set_up();
// Begins the next stage, before which it may park. Returns false if stopped.
bool next();
// Returns the slot of the oldest unsent packet; `pass_slot` advances to the next one.
uint32_t next_slot(uint32_t channel);
void pass_slot(uint32_t channel);
uint32_t packet_bytes(uint32_t slot);
// Frees the slot of the channel's oldest packet, which has left, and updates the client. Returns
// false if stopped.
bool free_slot(uint32_t channel);
// Opens and closes the channel at its client's request. Returns false if stopped.
bool answer_client(uint32_t channel);
inline bool has_wish(uint32_t channel) {
    uint32_t settled = channels[channel].client_mid != 0 ? OPEN_CONNECTION : UNUSED_CONNECTION;
    return *channels[channel].connection != settled;
}
inline bool serve_client(uint32_t channel) { return !has_wish(channel) || answer_client(channel); }

}  // namespace fabric
