// Credits in stream registers (tt-metal.md 4.5): one register counts; another one adds to it, from
// this core, over the NoC or over the link.
#pragma once
#include "common/noc.hpp"
#include "common/txq.hpp"

constexpr uint32_t STREAM_BASE = 0xFFB40000;
constexpr uint32_t STREAM_STRIDE = 0x1000;
constexpr uint32_t STREAM_PRESET = 0x10;
constexpr uint32_t STREAM_UPDATE = 0x88;
constexpr uint32_t STREAM_VALUE = 0x100;
constexpr uint32_t STREAM_UPDATE_SHIFT = 6;

constexpr uint32_t stream_register(uint32_t stream, uint32_t offset) {
    return STREAM_BASE + stream * STREAM_STRIDE + offset;
}

template <uint32_t stream_id>
inline void init_ptr_val(uint32_t value) {
    word_at(stream_register(stream_id, STREAM_PRESET)) = value;
}

template <uint32_t stream_id>
inline uint32_t get_ptr_val() {
    static_assert(stream_id < 32, "an unused stream has no register");
    return word_at(stream_register(stream_id, STREAM_VALUE));
}

template <uint32_t stream_id>
inline void increment_local_update_ptr_val(int32_t value) {
    word_at(stream_register(stream_id, STREAM_UPDATE)) = static_cast<uint32_t>(value)
                                                         << STREAM_UPDATE_SHIFT;
}

inline void wait_for_txq() {
    while (txq_busy()) {
    }
}

inline void remote_update_ptr_val(uint32_t stream_id, int32_t value) {
    wait_for_txq();
    txq_write_register(stream_register(stream_id, STREAM_UPDATE), static_cast<uint32_t>(value)
                                                                      << STREAM_UPDATE_SHIFT);
}

template <uint32_t stream_id>
inline void remote_update_ptr_val(int32_t value) {
    remote_update_ptr_val(stream_id, value);
}
