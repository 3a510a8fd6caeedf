// Delivery of a packet to this chip: executes the command in its header over the NoC.
#include "router_moves.hpp"

namespace fabric_router {
namespace {

// From L1 to L1 both addresses must be equal modulo 16.
bool writable(noc_address_t target, uint32_t source) { return ((low(target) ^ source) & 15) == 0; }

moved_t write(uint32_t id, uint32_t source, noc_address_t target, uint32_t bytes) {
    if (!writable(target, source)) {
        return BAD_PACKET;
    }
    if (!niu_free_soon(NOC_BUFFER_WRITE)) {
        return WAITS_NOC;
    }
    if (bytes != 0) {
        start_write(id, source, mid(target), low(target), bytes);
    }
    return MOVED;
}

// Returns true if all earlier writes of this channel have been acknowledged.
bool flushed(const receiver_t& receiver) {
    for (uint32_t id = 0; id < PIPELINE; ++id) {
        if (noc_outstanding(NOC, receiver.first_id + id) != 0) {
            return false;
        }
    }
    return true;
}

moved_t increment_soon(const receiver_t& receiver, uint32_t id, noc_address_t target,
                       uint32_t value, bool flush) {
    if ((low(target) & 3) != 0) {
        return BAD_PACKET;
    }
    if ((flush && !flushed(receiver)) || !niu_free_soon(NOC_BUFFER_ATOMIC)) {
        return WAITS_NOC;
    }
    start_increment(id, mid(target), low(target), value);
    return MOVED;
}

moved_t write_inline(uint32_t id, const NocUnicastInlineWriteCommandHeader& command) {
    if ((low(command.noc_address) & 3) != 0) {
        return BAD_PACKET;
    }
    if (!niu_free_soon(NOC_BUFFER_REGISTER)) {
        return WAITS_NOC;
    }
    start_word(id, mid(command.noc_address), low(command.noc_address), command.value);
    return MOVED;
}

// The increment follows the write in the same virtual channel; with `flush`, after the write has
// been acknowledged.
moved_t fuse(receiver_t& receiver, uint32_t id, uint32_t payload, const packet_header_t& header) {
    const NocUnicastAtomicIncFusedCommandHeader& command =
        header.command_fields.unicast_seminc_fused;
    if ((receiver.pending & ACTION_HERE) != 0) {
        moved_t moved = write(id, payload, command.noc_address, header.payload_size_bytes);
        if (moved != MOVED) {
            return moved;
        }
        receiver.pending ^= ACTION_HERE | DELIVER_AFTER_FLUSH;
    }
    return increment_soon(receiver, id, command.semaphore_noc_address, command.val,
                          command.flush != 0);
}

__attribute__((noinline, optimize("Os"))) moved_t scatter(receiver_t& receiver, uint32_t id,
                                                          uint32_t payload,
                                                          const packet_header_t& header) {
    const NocUnicastScatterCommandHeader& command = header.command_fields.unicast_scatter_write;
    uint32_t chunks = command.chunk_count, done = 0;
    if (chunks == 0 || chunks > NOC_SCATTER_WRITE_MAX_CHUNKS) {
        return BAD_PACKET;
    }
    for (uint32_t i = 0; i < chunks; ++i) {
        uint32_t bytes = i + 1 == chunks ? header.payload_size_bytes - done : command.chunk_size[i];
        if (bytes > header.payload_size_bytes - done) {
            return BAD_PACKET;
        }
        if (i >= receiver.chunk) {
            moved_t moved = write(id, payload + done, command.noc_address[i], bytes);
            if (moved != MOVED) {
                return moved;
            }
            receiver.chunk = i + 1;
        }
        done += bytes;
    }
    return MOVED;
}

}  // namespace

moved_t deliver(receiver_t& receiver, packet_header_t& header) {
    uint32_t id = transaction_of(receiver, receiver.received),
             payload = receiver.head + packet_header_bytes;
    const NocCommandFields& fields = header.command_fields;
    switch (header.noc_send_type) {
        case NOC_UNICAST_WRITE:
            return write(id, payload, fields.unicast_write.noc_address, header.payload_size_bytes);
        case NOC_UNICAST_INLINE_WRITE:
            return write_inline(id, fields.unicast_inline_write);
        case NOC_UNICAST_ATOMIC_INC:
            return increment_soon(receiver, id, fields.unicast_seminc.noc_address,
                                  fields.unicast_seminc.val, fields.unicast_seminc.flush != 0);
        case NOC_FUSED_UNICAST_ATOMIC_INC:
            return fuse(receiver, id, payload, header);
        case NOC_UNICAST_SCATTER_WRITE:
            return scatter(receiver, id, payload, header);
        default:
            return BAD_PACKET;
    }
}

}  // namespace fabric_router
