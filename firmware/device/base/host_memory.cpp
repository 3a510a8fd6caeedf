// Blocks in host memory, and broadcasts: the host's request is carried out part by part, each a
// block of the size of a buffer; a part of a broadcast goes to one chip after the other
// (wormhole.md 6.6, wormhole.md 6.7).
#include "relay.hpp"

namespace {

// Host memory on the NoC of a chip with PCIe: behind the PCIe tile, address bits 35:32 are 8.
constexpr uint32_t PCIE_X = 0, PCIE_Y = 3, HOST_MEMORY_HI = 8;

// The first bytes of a broadcast's block. Chips and rows are excluded by set bits.
struct broadcast_header_t {
    uint32_t racks[3];   // byte per rack: bit per shelf
    uint32_t chips;      // bit 8 * x + y
    uint32_t tiles;      // rows [14:0], ROWS_TRANSLATED, columns from bit 16
    uint32_t reserved[3];
};
constexpr uint32_t HEADER_BYTES = sizeof(broadcast_header_t);
static_assert(HEADER_BYTES == 32);
// Rows of Tensix tiles are counted without those that were fused off.
constexpr uint32_t ROWS_TRANSLATED = 1u << 15;

struct host_block_t {
    uint32_t host_address;  // of the part under way
    uint32_t left;          // bytes from there on
    uint32_t part;          // bytes of the part
    uint32_t next_chip;     // of a broadcast: index of the next route; this chip comes last
    broadcast_header_t header;
};
host_block_t blocks[LINK_SLOT];                      // left is 0: the request has no such block

bool is_broadcast(const routing_cmd_t& command) { return (command.flags & CMD_BROADCAST) != 0; }

noc_target_t host_memory(uint32_t address) {
    return {0, noc_mid(PCIE_X, PCIE_Y) | HOST_MEMORY_HI, address};
}

bool is_excluded(const broadcast_header_t& header, const route_t& chip) {
    uint32_t bit = 8 * chip.x + chip.y;
    uint32_t shelves = header.racks[chip.rack >> 2 & 3] >> (8 * (chip.rack & 3));
    bool shelf = (shelves >> (chip.shelf & 7) & 1) != 0;
    return chip.rack >= 12 || bit >= 32 || shelf || (header.chips >> bit & 1) != 0;
}

route_t own_chip() {
    uint32_t own = boot_params->own_coordinate;
    return {static_cast<uint8_t>(own), static_cast<uint8_t>(own >> 8),
            static_cast<uint8_t>(own >> 16), static_cast<uint8_t>(own >> 24), 0, 0};
}

// Directs a part of a broadcast to the next chip. Returns false after the last one.
bool direct(routing_cmd_t& command, host_block_t& block) {
    uint32_t routes = routing_table.count;
    while (block.next_chip <= routes) {
        uint32_t index = block.next_chip++;
        const route_t chip = index < routes ? routing_table.routes[index] : own_chip();
        if (!is_excluded(block.header, chip)) {
            command.address_hi = (command.address_hi & 0xFFFF) | chip.x << 16 | chip.y << 22;
            command.rack = chip.rack;
            command.shelf = chip.shelf;
            return true;
        }
    }
    return false;
}

// Fetches the next part of what is written. Returns false if host memory does not answer.
bool begin_part(routing_cmd_t& command, host_block_t& block, uint32_t slot) {
    uint32_t room = BUFFER_BYTES - payload_shift(command);
    block.part = block.left < room ? block.left : room & ~31u;
    command.data = block.part;
    return is_read(command) || access_read(host_memory(block.host_address),
                                           buffer_of(slot) + payload_shift(command), block.part);
}

bool begin_broadcast(routing_cmd_t& command, host_block_t& block, uint32_t slot) {
    uint32_t at = buffer_of(slot);
    if (is_read(command) || block.left <= HEADER_BYTES ||
        !access_read(host_memory(block.host_address), at, HEADER_BYTES)) {
        return false;
    }
    block.header = *reinterpret_cast<const broadcast_header_t*>(at);
    block.host_address += HEADER_BYTES;
    block.left -= HEADER_BYTES;
    command.host_address = block.header.tiles;  // for the chips, which broadcast to their tiles
    return direct(command, block);
}

}  // namespace

// A request that keeps its flag could not be begun.
void begin_host_block(uint32_t slot) {
    routing_cmd_t& command = host_commands[slot];
    host_block_t& block = blocks[slot];
    block = {};
    if ((command.flags & CMD_DATA_BLOCK_DRAM) == 0) {
        return;
    }
    block.host_address = command.host_address;
    block.left = command.data;
    bool begun = !is_broadcast(command) || begin_broadcast(command, block, slot);
    begun = begun && block.left != 0 && (block.left & 3) == 0 && begin_part(command, block, slot);
    if (begun) {
        command.flags = (command.flags & ~CMD_DATA_BLOCK_DRAM) | CMD_DATA_BLOCK;
    }
}

bool has_host_block(uint32_t slot) { return blocks[slot].left != 0; }

part_t next_part(uint32_t slot) {
    routing_cmd_t& command = host_commands[slot];
    host_block_t& block = blocks[slot];
    if (block.left == 0) {
        return PARTS_DONE;
    }
    if (is_broadcast(command) && direct(command, block)) {
        return PART_BEGUN;
    }
    if (is_read(command) &&
        !access_write(host_memory(block.host_address), buffer_of(slot), block.part)) {
        return PART_FAILED;
    }
    block.left -= block.part;
    if (block.left == 0) {
        return PARTS_DONE;
    }
    block.host_address += block.part;
    command.address_lo += block.part;
    block.next_chip = 0;
    if (is_broadcast(command) && !direct(command, block)) {
        return PART_FAILED;
    }
    return begin_part(command, block, slot) ? PART_BEGUN : PART_FAILED;
}

// Rows closed to broadcasts have been fused off. Those of Ethernet tiles are closed too; the host
// excludes them itself.
bool broadcast_to_tiles(uint32_t slot) {
    constexpr uint32_t ROWS_CLOSED = 0x110, COLUMNS = 10, ROWS = 12;
    constexpr uint32_t ROWS_OF_ETHERNET = 1u << 0 | 1u << 6, COLUMNS_OF_DRAM = 1u << 0 | 1u << 5;
    constexpr uint32_t BEFORE_ETHERNET = 5;  // rows of Tensix tiles
    const routing_cmd_t& command = command_of(slot);
    uint32_t excluded = command.host_address;
    uint32_t fused_off = word_at(niu(0, ROWS_CLOSED)) & ~ROWS_OF_ETHERNET;
    bool done = true;
    for (uint32_t x = 0; x < COLUMNS; ++x) {
        if ((excluded >> (16 + x) & 1) != 0) {
            continue;
        }
        bool dram = (COLUMNS_OF_DRAM >> x & 1) != 0;
        uint32_t tensix = 0;  // rows before this one that were not fused off
        for (uint32_t y = 0; y < ROWS; ++y) {
            uint32_t row = y;
            if (!dram && (ROWS_OF_ETHERNET >> y & 1) == 0) {
                if ((fused_off >> y & 1) != 0) {
                    continue;
                }
                if ((excluded & ROWS_TRANSLATED) != 0) {
                    row = tensix + (tensix < BEFORE_ETHERNET ? 1 : 2);
                }
                ++tensix;
            }
            if ((excluded >> row & 1) == 0) {
                noc_target_t target = {0, noc_mid(x, y), command.address_lo};
                uint32_t from = buffer_of(slot) + payload_shift(command);
                done &= access_write(target, from, command.data);
            }
        }
    }
    return done;
}
