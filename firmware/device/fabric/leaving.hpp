// Whether writes have left this tile: from then on their source may change, long before they are acknowledged.
#pragma once
#include "common/noc.hpp"

constexpr uint32_t NIU_COUNTER_OUTGOING = 0x20;  // plus the transaction id: writes whose source has not been read yet

inline bool noc_has_left(uint32_t noc, uint32_t id) { return (niu_counter(noc, NIU_COUNTER_OUTGOING + id) & 0xFF) == 0; }
