// What the parts of the worker that know the fabric share.
#pragma once
#include "fabric/adapter_moves.hpp"
#include "worker_moves.hpp"

namespace ccl {

constexpr uint32_t PART_BYTES = 32;               // parts of a message are a multiple of this

inline bool stop() { return must_stop_now(state.control); }
inline uint32_t header_bytes() { return args.is_2d != 0 ? sizeof(HybridMeshPacketHeader) : sizeof(LowLatencyPacketHeader); }

// --- worker_connect.cpp ---
extern HybridMeshPacketHeader to_receiver, to_sender;   // all but the command and the length

}  // namespace ccl
