// Pages of tensors: where they lie, and their way between their banks and staging.
#include "worker_moves.hpp"

namespace ccl {
namespace {

tile_t place_of(const ccl_tensor_t& tensor, uint32_t page) {
    uint32_t shard = page / tensor.pages_per_shard, within = page % tensor.pages_per_shard;
    const auto* banks = reinterpret_cast<const ccl_bank_t*>(args.banks_address) + tensor.first_bank;
    const ccl_bank_t& bank = banks[shard % tensor.banks];
    uint32_t row = shard / tensor.banks * tensor.pages_per_shard + within;
    return {noc_mid(bank.xy & 0xFFFF, bank.xy >> 16), bank.address + tensor.offset + row * tensor.page_bytes};
}

bool room(uint32_t buffer, uint32_t id) {
    return wait_until([=] { return !niu_busy(NOC, buffer) && noc_outstanding(NOC, id) < MAX_OUTSTANDING; });
}

// Calls `move` with each stretch that one NoC packet can carry.
template <typename Move>
bool in_parts(uint32_t bytes, Move move) {
    for (uint32_t done = 0; done < bytes; done += NOC_MAX_PACKET_BYTES) {
        uint32_t rest = bytes - done;
        if (!move(done, rest < NOC_MAX_PACKET_BYTES ? rest : NOC_MAX_PACKET_BYTES)) {
            return false;
        }
    }
    return true;
}

}  // namespace

bool read_bytes(uint32_t id, const tile_t& from, uint32_t to, uint32_t bytes) {
    return in_parts(bytes, [&](uint32_t at, uint32_t part) {
        if (!room(NOC_BUFFER_READ, id)) {
            return false;
        }
        noc_start_read(NOC, id, from.mid, from.address + at, to + at, part);
        return true;
    });
}

bool write_bytes(uint32_t id, uint32_t from, const tile_t& to, uint32_t bytes) {
    return in_parts(bytes, [&](uint32_t at, uint32_t part) {
        if (!room(NOC_BUFFER_WRITE, id)) {
            return false;
        }
        noc_start_write(NOC, id, from + at, to.mid, to.address + at, part);
        return true;
    });
}

bool read_pages(const packet_t& packet) {
    const ccl_tensor_t& tensor = args.tensors[packet.command->source];
    uint32_t to = packet.area;
    for (uint32_t i = 0; i < packet.pages; ++i, to += page_bytes()) {
        tile_t from = place_of(tensor, packet.command->source_page + packet.first_page + i);
        if (!read_bytes(READ_IDS + packet.slot, from, to, bytes_of_page(packet.first_page + i))) {
            return false;
        }
    }
    return true;
}

bool write_pages(const packet_t& packet) {
    const ccl_tensor_t& tensor = args.tensors[packet.command->destination];
    uint32_t from = packet.area;
    for (uint32_t i = 0; i < packet.pages; ++i, from += page_bytes()) {
        tile_t to = place_of(tensor, packet.command->destination_page + packet.first_page + i);
        if (!write_bytes(WRITE_IDS + packet.slot, from, to, bytes_of_page(packet.first_page + i))) {
            return false;
        }
    }
    return true;
}

}  // namespace ccl
