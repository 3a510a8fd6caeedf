// Pages of tensors: their addresses, and transfers between their banks and staging.
#include "worker_moves.hpp"

namespace ccl {
namespace {

// Iterates over the pages of a tensor.
class pages_t {
  public:
    pages_t(const ccl_tensor_t& tensor, uint32_t page) : tensor(tensor) {
        uint32_t shard = page / tensor.pages_per_shard;
        within = page % tensor.pages_per_shard;
        bank = shard % tensor.banks;
        shard_offset = tensor.offset +
                       shard / tensor.banks * tensor.pages_per_shard * tensor.page_bytes;
        offset = shard_offset + within * tensor.page_bytes;
        first = reinterpret_cast<const ccl_bank_t*>(args.banks_address) + tensor.first_bank;
    }
    tile_t place() const {
        return {noc_mid(first[bank].xy & 0xFFFF, first[bank].xy >> 16),
                first[bank].address + offset};
    }
    void next() {
        offset += tensor.page_bytes;
        if (++within != tensor.pages_per_shard) {
            return;
        }
        within = 0;
        if (++bank == tensor.banks) {
            bank = 0;
            shard_offset = offset;
        }
        offset = shard_offset;
    }

  private:
    const ccl_tensor_t& tensor;
    const ccl_bank_t* first;
    // Offset of the page in its bank, and of its shard.
    uint32_t within, bank, shard_offset, offset;
};

bool niu_has_room(uint32_t buffer, uint32_t id) {
    return !niu_busy(NOC, buffer) && noc_outstanding(NOC, id) < MAX_OUTSTANDING;
}

bool room(uint32_t buffer, uint32_t id) {
    return niu_has_room(buffer, id) || wait_until([=] { return niu_has_room(buffer, id); });
}

uint32_t part_of(uint32_t bytes) {
    return bytes < NOC_MAX_PACKET_BYTES ? bytes : NOC_MAX_PACKET_BYTES;
}

}  // namespace

bool read_bytes(uint32_t id, const tile_t& from, uint32_t to, uint32_t bytes) {
    uint32_t address = from.address;
    for (uint32_t part; bytes != 0; bytes -= part, address += part, to += part) {
        part = part_of(bytes);
        if (!room(NOC_BUFFER_READ, id)) {
            return false;
        }
        noc_start_read(NOC, id, from.mid, address, to, part);
    }
    return true;
}

bool write_bytes(uint32_t id, uint32_t from, const tile_t& to, uint32_t bytes) {
    uint32_t address = to.address;
    for (uint32_t part; bytes != 0; bytes -= part, address += part, from += part) {
        part = part_of(bytes);
        if (!room(NOC_BUFFER_WRITE, id)) {
            return false;
        }
        noc_start_write(NOC, id, from, to.mid, address, part);
    }
    return true;
}

bool read_pages(const packet_t& packet) {
    pages_t pages(args.tensors[packet.command->source],
                  packet.command->source_page + packet.first_page);
    for (uint32_t done = 0; done < packet.bytes; done += page_bytes(), pages.next()) {
        uint32_t rest = packet.bytes - done, bytes = rest < page_bytes() ? rest : page_bytes();
        if (!read_bytes(READ_IDS + packet.slot, pages.place(), packet.area + done, bytes)) {
            return false;
        }
    }
    return true;
}

bool write_pages(const packet_t& packet) {
    pages_t pages(args.tensors[packet.command->destination],
                  packet.command->destination_page + packet.first_page);
    for (uint32_t done = 0; done < packet.bytes; done += page_bytes(), pages.next()) {
        uint32_t rest = packet.bytes - done, bytes = rest < page_bytes() ? rest : page_bytes();
        if (!write_bytes(WRITE_IDS + packet.slot, packet.area + done, pages.place(), bytes)) {
            return false;
        }
    }
    return true;
}

}  // namespace ccl
