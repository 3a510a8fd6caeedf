// Synchronous NoC accesses of base firmware: one at a time and bounded. They restore the command
// buffers, because an application relies on the fields it left there (wormhole.md 7.2).
#include "base.hpp"

namespace {

constexpr uint32_t TRANSACTION = 15;
// Acknowledgements of the PCIe tile and the ARC carry this id, whatever the write had
// (wormhole.md 3.3). Both are in the first column, by whose translated coordinate they are known too.
constexpr uint32_t TRANSACTION_OF_FIRST_COLUMN = 0;
constexpr uint32_t FIRST_COLUMN[2] = {0, 9}, FIRST_COLUMN_TRANSLATED = 16;
// An address that does not answer must not block the tile.
constexpr uint32_t PATIENCE_CYCLES = 50000;
constexpr uint32_t INCREMENT_WORD = 0x107C;  // atomic: add to the first word of a 16-byte unit
constexpr uint32_t FIELDS[] = {NIU_TARG_LO,    NIU_TARG_MID, NIU_RET_LO,    NIU_RET_MID,
                               NIU_PACKET_TAG, NIU_CTRL,     NIU_AT_LEN_BE, NIU_AT_DATA};

// Requests per NoC that timed out and may still be answered: of each of the two ids.
uint32_t given_up[2][2];

uint32_t& given_up_of(uint32_t noc, uint32_t id) { return given_up[noc][id == TRANSACTION]; }

template <typename Condition>
bool wait_bounded(Condition condition) {
    uint32_t start = wall_clock();
    while (!condition()) {
        if (wall_clock() - start >= PATIENCE_CYCLES) {
            return false;
        }
    }
    return true;
}

// Borrows a command buffer. While an application has the core, restores its fields at the end.
class borrowed_buffer {
  public:
    borrowed_buffer(uint32_t noc, uint32_t buffer) : noc(noc), buffer(buffer) {
        usable = wait_bounded([=] { return !niu_busy(noc, buffer); });
        for (uint32_t i = 0; core_is_lent && usable && i < 8; ++i) {
            saved[i] = niu_field(noc, buffer, FIELDS[i]);
        }
    }
    ~borrowed_buffer() {
        if (core_is_lent && usable && wait_bounded([this] { return !niu_busy(noc, buffer); })) {
            for (uint32_t i = 0; i < 8; ++i) {
                niu_field(noc, buffer, FIELDS[i]) = saved[i];
            }
        }
    }
    bool usable;

  private:
    uint32_t noc, buffer;
    uint32_t saved[8];
};

bool wait_answer(uint32_t noc, uint32_t id = TRANSACTION) {
    uint32_t& left = given_up_of(noc, id);
    bool answered = wait_bounded([=, &left] { return noc_outstanding(noc, id) <= left; });
    left = noc_outstanding(noc, id);
    compiler_barrier();
    return answered;
}

// Returns the id for a write. An application may have requests of id 0 in flight: they end first.
uint32_t id_of_write(const noc_target_t& target) {
    uint32_t column = target.mid >> 4 & 0x3F;
    if (column != FIRST_COLUMN[target.noc] && column != FIRST_COLUMN_TRANSLATED) {
        return TRANSACTION;
    }
    wait_answer(target.noc, TRANSACTION_OF_FIRST_COLUMN);
    return TRANSACTION_OF_FIRST_COLUMN;
}

}  // namespace

bool access_read(const noc_target_t& target, uint32_t local, uint32_t bytes) {
    borrowed_buffer buffer(target.noc, NOC_BUFFER_READ);
    if (!buffer.usable) {
        return false;
    }
    noc_start_read(target.noc, TRANSACTION, target.mid, target.address, local, bytes);
    return wait_answer(target.noc);
}

bool access_write(const noc_target_t& target, uint32_t local, uint32_t bytes) {
    borrowed_buffer buffer(target.noc, NOC_BUFFER_WRITE);
    if (!buffer.usable) {
        return false;
    }
    uint32_t id = id_of_write(target);
    noc_start_write(target.noc, id, local, target.mid, target.address, bytes);
    return wait_answer(target.noc, id);
}

bool access_increment(const noc_target_t& target) {
    borrowed_buffer buffer(target.noc, NOC_BUFFER_ATOMIC);
    if (!buffer.usable) {
        return false;
    }
    auto field = [&](uint32_t name) -> volatile uint32_t& {
        return niu_field(target.noc, NOC_BUFFER_ATOMIC, name);
    };
    field(NIU_TARG_LO) = target.address;
    field(NIU_TARG_MID) = target.mid;
    field(NIU_RET_LO) = reinterpret_cast<uint32_t>(&queues->scratch[16]);
    field(NIU_RET_MID) = noc_own_mid(target.noc);
    field(NIU_PACKET_TAG) = TRANSACTION << 10;
    field(NIU_CTRL) = CTRL_ATOMIC | CTRL_RESPONSE | CTRL_STATIC_VC | (1 << 13);
    field(NIU_AT_LEN_BE) = INCREMENT_WORD;
    field(NIU_AT_DATA) = 1;
    field(NIU_CMD_CTRL) = 1;
    return wait_answer(target.noc);
}

// Ethernet tiles on NoC 0: channels 0 to 7 in row 0, 8 to 15 in row 6, in the same column order.
noc_target_t sibling_target(uint32_t channel, uint32_t address) {
    static const uint8_t column[8] = {9, 1, 8, 2, 7, 3, 6, 4};
    return {0, noc_mid(column[channel & 7], channel < 8 ? 0 : 6), address};
}
