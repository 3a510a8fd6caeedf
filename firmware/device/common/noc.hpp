// NIU command buffers and counters (wormhole.md 3.3, wormhole.md 3.4). Buffers are assigned as in
// tt-metal: 0 bulk writes, 1 reads, 2 register and inline writes, 3 atomics.
#pragma once
#include "registers.hpp"

constexpr uint32_t NIU_BASE = 0xFFB20000;
constexpr uint32_t NIU_STRIDE = 0x10000;         // NoC 0 to NoC 1
constexpr uint32_t NIU_BUFFER_STRIDE = 0x400;
constexpr uint32_t NIU_TARG_LO = 0x00, NIU_TARG_MID = 0x04;
constexpr uint32_t NIU_RET_LO = 0x0C, NIU_RET_MID = 0x10;
constexpr uint32_t NIU_PACKET_TAG = 0x18, NIU_CTRL = 0x1C, NIU_AT_LEN_BE = 0x20, NIU_AT_DATA = 0x24,
                   NIU_CMD_CTRL = 0x28;
constexpr uint32_t NIU_ROUTER_CFG_2 = 0x10C;     // the firmware's scratch register
constexpr uint32_t NIU_NOC_ID_LOGICAL = 0x138;
constexpr uint32_t NIU_COUNTERS = 0x200;
constexpr uint32_t NIU_COUNTER_OUTSTANDING = 0x10;  // plus the transaction id

constexpr uint32_t NOC_BUFFER_WRITE = 0, NOC_BUFFER_READ = 1, NOC_BUFFER_REGISTER = 2,
                   NOC_BUFFER_ATOMIC = 3;
constexpr uint32_t CTRL_ATOMIC = 1 << 0, CTRL_WRITE = 1 << 1, CTRL_INLINE = 1 << 3,
                   CTRL_RESPONSE = 1 << 4, CTRL_STATIC_VC = 1 << 7;
// Response, static VC 1: tt-metal's value in buffer 1.
constexpr uint32_t NOC_READ_CTRL = 0x2090;
constexpr uint32_t NOC_WRITE_CTRL = CTRL_WRITE | CTRL_RESPONSE | CTRL_STATIC_VC | (1 << 13);
constexpr uint32_t NOC_MAX_PACKET_BYTES = 8192;

inline uint32_t niu(uint32_t noc, uint32_t offset) { return NIU_BASE + noc * NIU_STRIDE + offset; }
inline volatile uint32_t& niu_field(uint32_t noc, uint32_t buffer, uint32_t field) {
    return word_at(niu(noc, buffer * NIU_BUFFER_STRIDE + field));
}
inline uint32_t niu_counter(uint32_t noc, uint32_t index) {
    return word_at(niu(noc, NIU_COUNTERS + 4 * index));
}

// A coordinate in the form of the MID registers: x in bits 9:4, y in bits 15:10 (bits 3:0 are
// address bits 35:32).
constexpr uint32_t noc_mid(uint32_t x, uint32_t y) { return (x << 4) | (y << 10); }

// This tile's coordinate on one NoC, in MID form, translated where translation is on.
inline uint32_t noc_own_mid(uint32_t noc) {
    uint32_t id = word_at(niu(noc, NIU_NOC_ID_LOGICAL));
    return noc_mid(id & 0x3F, (id >> 6) & 0x3F);
}

inline bool niu_busy(uint32_t noc, uint32_t buffer) {
    return niu_field(noc, buffer, NIU_CMD_CTRL) != 0;
}

// Returns the number of requests of a transaction id that await their response or acknowledgement.
inline uint32_t noc_outstanding(uint32_t noc, uint32_t id) {
    return niu_counter(noc, NIU_COUNTER_OUTSTANDING + id) & 0xFF;
}

// Starts a write of up to 8192 bytes from local L1. The buffer must not be busy.
inline void noc_start_write(uint32_t noc, uint32_t id, uint32_t source, uint32_t target_mid,
                            uint32_t target, uint32_t bytes) {
    constexpr uint32_t b = NOC_BUFFER_WRITE;
    compiler_barrier();
    niu_field(noc, b, NIU_TARG_LO) = source;
    niu_field(noc, b, NIU_TARG_MID) = noc_own_mid(noc);
    niu_field(noc, b, NIU_RET_LO) = target;
    niu_field(noc, b, NIU_RET_MID) = target_mid;
    niu_field(noc, b, NIU_PACKET_TAG) = id << 10;
    niu_field(noc, b, NIU_CTRL) = NOC_WRITE_CTRL;
    niu_field(noc, b, NIU_AT_LEN_BE) = bytes;
    niu_field(noc, b, NIU_CMD_CTRL) = 1;
}

// Starts a read of up to 8192 bytes into local L1. The buffer must not be busy.
inline void noc_start_read(uint32_t noc, uint32_t id, uint32_t target_mid, uint32_t target,
                           uint32_t destination, uint32_t bytes) {
    constexpr uint32_t b = NOC_BUFFER_READ;
    niu_field(noc, b, NIU_TARG_LO) = target;
    niu_field(noc, b, NIU_TARG_MID) = target_mid;
    niu_field(noc, b, NIU_RET_LO) = destination;
    niu_field(noc, b, NIU_RET_MID) = noc_own_mid(noc);
    niu_field(noc, b, NIU_PACKET_TAG) = id << 10;
    niu_field(noc, b, NIU_CTRL) = NOC_READ_CTRL;
    niu_field(noc, b, NIU_AT_LEN_BE) = bytes;
    niu_field(noc, b, NIU_CMD_CTRL) = 1;
}

// Starts a write of one word, to L1 (4-aligned) or to a register. The buffer must not be busy. For
// an inline write the target goes into TARG, and RET keeps this tile's coordinate (the vendor's
// simulator requires it).
inline void noc_start_word_write(uint32_t noc, uint32_t id, uint32_t target_mid, uint32_t target,
                                 uint32_t value) {
    constexpr uint32_t b = NOC_BUFFER_REGISTER;
    compiler_barrier();
    niu_field(noc, b, NIU_TARG_LO) = target;
    niu_field(noc, b, NIU_TARG_MID) = target_mid;
    niu_field(noc, b, NIU_RET_LO) = 0;
    niu_field(noc, b, NIU_RET_MID) = noc_own_mid(noc);
    niu_field(noc, b, NIU_PACKET_TAG) = id << 10;
    niu_field(noc, b, NIU_CTRL) = NOC_WRITE_CTRL | CTRL_INLINE;
    niu_field(noc, b, NIU_AT_LEN_BE) = 0xFu << (target & 0x1C);
    niu_field(noc, b, NIU_AT_DATA) = value;
    niu_field(noc, b, NIU_CMD_CTRL) = 1;
}
