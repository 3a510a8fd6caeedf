// Atomic increments over the NoC.
#include "semaphore.hpp"

namespace {

constexpr uint32_t INCREMENT_WORD_0 = 0x107C;     // all 32 bits of the first word of the unit
constexpr uint32_t SEMAPHORE_CTRL = CTRL_ATOMIC | CTRL_RESPONSE | CTRL_STATIC_VC |
                                    (NOC_WRITE_CTRL & 7u << 13);

// Destination of the old value, which an increment returns. tt-metal has it written to L1 address
// 4, which on an Ethernet tile belongs to base firmware.
alignas(16) volatile uint32_t old_value;

}  // namespace

void semaphore_increment(uint32_t noc, uint32_t id, uint32_t target_mid, uint32_t address,
                         uint32_t value) {
    constexpr uint32_t b = NOC_BUFFER_ATOMIC;
    compiler_barrier();
    niu_field(noc, b, NIU_TARG_LO) = address;
    niu_field(noc, b, NIU_TARG_MID) = target_mid;
    niu_field(noc, b, NIU_RET_LO) = reinterpret_cast<uint32_t>(&old_value);
    niu_field(noc, b, NIU_RET_MID) = noc_own_mid(noc);
    niu_field(noc, b, NIU_PACKET_TAG) = id << 10;
    niu_field(noc, b, NIU_CTRL) = SEMAPHORE_CTRL;
    niu_field(noc, b, NIU_AT_LEN_BE) = INCREMENT_WORD_0;
    niu_field(noc, b, NIU_AT_DATA) = value;
    niu_field(noc, b, NIU_CMD_CTRL) = 1;
}
