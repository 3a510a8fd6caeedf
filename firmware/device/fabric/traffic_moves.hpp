// Interfaces between the parts of the traffic kernel.
#pragma once
#include "adapter_moves.hpp"
#include "clock.hpp"
#include "traffic.hpp"

extern "C" {
extern fabric_traffic_state_t fabric_traffic_state;
}

namespace fabric {

inline fabric_traffic_state_t& state = fabric_traffic_state;
inline fabric_traffic_args_t& args = fabric_traffic_state.args;
inline fabric_traffic_words_t& words() {
    return *reinterpret_cast<fabric_traffic_words_t*>(args.words_address);
}
inline bool stop() { return must_stop_now(state.control); }

// --- traffic_send.cpp ---
// Assembles the packet and hands it to its connection, which has a free slot. Returns false if
// stopped.
bool send_packet(const fabric_traffic_packet_t& packet);

// --- traffic_check.cpp ---
// Checks the next arrivals, if there are any. Returns true if it did.
bool check_arrivals();
bool all_arrived();
// Counts the arrivals that are missing and those that came too often.
void settle_arrivals();

}  // namespace fabric
