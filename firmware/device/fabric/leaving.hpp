// Whether writes have left this tile. Their source may then change, long before they are
// acknowledged.
#pragma once
#include "common/noc.hpp"

// Plus the transaction id: writes whose source has not been read yet.
constexpr uint32_t NIU_COUNTER_OUTGOING = 0x20;

inline bool noc_has_left(uint32_t noc, uint32_t id) {
    return (niu_counter(noc, NIU_COUNTER_OUTGOING + id) & 0xFF) == 0;
}
