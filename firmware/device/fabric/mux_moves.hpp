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

// --- mux_channels.cpp ---
// Reads and judges the arguments, and makes the channels empty. False: refused.
bool set_up();
// Packets that lie in a channel.
uint32_t queued(uint32_t channel);
uint32_t next_slot(uint32_t channel);
uint32_t packet_bytes(uint32_t slot);
// The oldest packet of the channel has left: its slot is free, and the client is told. False: told to leave.
bool free_slot(uint32_t channel);
// Opens and closes the channel as its client asks. False: told to leave.
bool serve_client(uint32_t channel);

}  // namespace fabric
