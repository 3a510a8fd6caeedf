// Ethernet transmit queue 0 (wormhole.md 5.2): TT-link writes into the peer's L1 and registers.
#pragma once
#include "registers.hpp"

constexpr uint32_t TXQ0_BASE = 0xFFB90000;
constexpr uint32_t TXQ_CMD = 0x04;
constexpr uint32_t TXQ_TRANSFER_START = 0x14;
constexpr uint32_t TXQ_TRANSFER_SIZE = 0x18;
constexpr uint32_t TXQ_DEST_ADDR = 0x1C;
constexpr uint32_t TXQ_REMOTE_REG_DATA = 0x44;
constexpr uint32_t TXQ_CMD_START_DATA = 2;
constexpr uint32_t TXQ_CMD_START_REG = 4;

// Nonzero until the metadata of the last command is latched; the fields must not change before
// that.
inline bool txq_busy() { return word_at(TXQ0_BASE + TXQ_CMD) != 0; }

// Starts a write of `bytes` (a multiple of 16) from local L1 to the peer's L1. The queue must not
// be busy. The hardware does not signal that the source has been read: the source must stay intact
// until the peer acknowledges by the protocol above.
inline void txq_write(uint32_t source, uint32_t destination, uint32_t bytes) {
    compiler_barrier();
    word_at(TXQ0_BASE + TXQ_TRANSFER_START) = source;
    word_at(TXQ0_BASE + TXQ_TRANSFER_SIZE) = bytes;
    word_at(TXQ0_BASE + TXQ_DEST_ADDR) = destination;
    word_at(TXQ0_BASE + TXQ_CMD) = TXQ_CMD_START_DATA;
}

// Starts a write of one word to a register of the peer. The queue must not be busy.
inline void txq_write_register(uint32_t register_address, uint32_t value) {
    word_at(TXQ0_BASE + TXQ_DEST_ADDR) = register_address;
    word_at(TXQ0_BASE + TXQ_REMOTE_REG_DATA) = value;
    word_at(TXQ0_BASE + TXQ_CMD) = TXQ_CMD_START_REG;
}
