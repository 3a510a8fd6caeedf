// Interfaces between the parts of the worker that use the fabric.
#pragma once
#include "fabric/adapter_moves.hpp"
#include "worker_moves.hpp"

namespace ccl {

constexpr uint32_t PART_BYTES = 32;               // parts of a message are a multiple of this

inline bool stop() { return must_stop_now(state.control); }
inline uint32_t header_bytes() {
    return args.is_2d != 0 ? sizeof(HybridMeshPacketHeader) : sizeof(LowLatencyPacketHeader);
}

// --- worker_connect.cpp ---
// Headers that may be in flight to the router. All members but the command and the length are
// written in advance.
struct headers_t {
    static constexpr uint32_t COUNT = 5;
    alignas(16) HybridMeshPacketHeader each[COUNT];
    uint32_t next;
};
extern headers_t to_receiver, to_sender;

}  // namespace ccl
