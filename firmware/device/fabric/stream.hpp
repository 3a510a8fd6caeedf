// Stream registers as counters of free slots (tt-metal.md 4.5): 17 bits, with atomic updates.
#pragma once
#include "common/registers.hpp"

constexpr uint32_t STREAM_BASE = 0xFFB40000, STREAM_STRIDE = 0x1000;
constexpr uint32_t STREAM_VALUE = 0x100, STREAM_PRESET = 0x10, STREAM_UPDATE = 0x88;
constexpr uint32_t STREAM_INCREMENT_SHIFT = 6, STREAM_VALUE_MASK = 0x1FFFF;

constexpr uint32_t stream_register(uint32_t stream, uint32_t offset) {
    return STREAM_BASE + stream * STREAM_STRIDE + offset;
}
inline uint32_t stream_value(uint32_t stream) {
    return word_at(stream_register(stream, STREAM_VALUE)) & STREAM_VALUE_MASK;
}
inline void stream_preset(uint32_t stream, uint32_t value) {
    word_at(stream_register(stream, STREAM_PRESET)) = value;
}
inline void stream_add(uint32_t stream, uint32_t by) {
    word_at(stream_register(stream, STREAM_UPDATE)) = by << STREAM_INCREMENT_SHIFT;
}
