// NoC accesses as in common/noc.hpp, but with one base register and this tile's coordinate read
// once, because they are started for every packet. All use one static virtual channel, so that none
// overtakes another on the path to one tile.
#include "router_moves.hpp"

namespace fabric_router {
namespace {

struct niu_buffer_t {
    uint32_t targ_lo, targ_mid, targ_hi, ret_lo, ret_mid, ret_hi, packet_tag, ctrl, at_len_be,
        at_data, cmd_ctrl;
};
static_assert(offsetof(niu_buffer_t, targ_mid) == NIU_TARG_MID &&
              offsetof(niu_buffer_t, ret_mid) == NIU_RET_MID);
static_assert(offsetof(niu_buffer_t, packet_tag) == NIU_PACKET_TAG &&
              offsetof(niu_buffer_t, cmd_ctrl) == NIU_CMD_CTRL);

constexpr uint32_t ATOMIC_CTRL = CTRL_ATOMIC | CTRL_RESPONSE | CTRL_STATIC_VC |
                                 (NOC_WRITE_CTRL & 7u << 13);
constexpr uint32_t INCREMENT_WORD = 0x107C;  // plus the word's number in its 16-byte unit

// An increment returns the old value, which must be written somewhere.
alignas(16) volatile uint32_t old_value;

volatile niu_buffer_t& buffer(uint32_t number) {
    return *reinterpret_cast<volatile niu_buffer_t*>(niu(NOC, number * NIU_BUFFER_STRIDE));
}

}  // namespace

void start_write(uint32_t id, uint32_t source, uint32_t mid, uint32_t target, uint32_t bytes) {
    volatile niu_buffer_t& b = buffer(NOC_BUFFER_WRITE);
    compiler_barrier();
    b.targ_lo = source;
    b.targ_mid = own_mid;
    b.ret_lo = target;
    b.ret_mid = mid;
    b.packet_tag = id << 10;
    b.ctrl = NOC_WRITE_CTRL;
    b.at_len_be = bytes;
    b.cmd_ctrl = 1;
}

void start_read(uint32_t id, uint32_t mid, uint32_t target, uint32_t destination, uint32_t bytes) {
    volatile niu_buffer_t& b = buffer(NOC_BUFFER_READ);
    b.targ_lo = target;
    b.targ_mid = mid;
    b.ret_lo = destination;
    b.ret_mid = own_mid;
    b.packet_tag = id << 10;
    b.ctrl = NOC_READ_CTRL;
    b.at_len_be = bytes;
    b.cmd_ctrl = 1;
}

void start_word(uint32_t id, uint32_t mid, uint32_t target, uint32_t value) {
    volatile niu_buffer_t& b = buffer(NOC_BUFFER_REGISTER);
    compiler_barrier();
    b.targ_lo = target;
    b.targ_mid = mid;
    b.ret_lo = 0;
    b.ret_mid = own_mid;
    b.packet_tag = id << 10;
    b.ctrl = NOC_WRITE_CTRL | CTRL_INLINE;
    b.at_len_be = 0xFu << (target & 0x1C);
    b.at_data = value;
    b.cmd_ctrl = 1;
}

void start_increment(uint32_t id, uint32_t mid, uint32_t target, uint32_t value) {
    volatile niu_buffer_t& b = buffer(NOC_BUFFER_ATOMIC);
    compiler_barrier();
    b.targ_lo = target;
    b.targ_mid = mid;
    b.ret_lo = reinterpret_cast<uint32_t>(&old_value);
    b.ret_mid = own_mid;
    b.packet_tag = id << 10;
    b.ctrl = ATOMIC_CTRL;
    b.at_len_be = INCREMENT_WORD | (target >> 2 & 3);
    b.at_data = value;
    b.cmd_ctrl = 1;
}

}  // namespace fabric_router
