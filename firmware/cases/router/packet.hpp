// A packet of the fabric in its slot: the header of the one-dimensional low-latency format, then
// the payload (tt-metal.md 4.7).
#pragma once
#include <stddef.h>
#include <stdint.h>

enum class NocSendType : uint8_t {
    NOC_UNICAST_WRITE = 0,
    NOC_UNICAST_INLINE_WRITE = 1,
    NOC_UNICAST_ATOMIC_INC = 2
};

struct NocUnicastCommandHeader {
    uint64_t noc_address;
};
struct NocUnicastInlineWriteCommandHeader {
    uint64_t noc_address;
    uint32_t value;
};
struct NocUnicastAtomicIncCommandHeader {
    uint64_t noc_address;
    uint32_t val;
    bool flush;
};
union NocCommandFields {
    NocUnicastCommandHeader unicast_write;
    NocUnicastInlineWriteCommandHeader unicast_inline_write;
    NocUnicastAtomicIncCommandHeader unicast_seminc;
    uint8_t bytes[40];
};
static_assert(sizeof(NocCommandFields) == 40);

// Packed, so that the route of the derived header begins right behind it.
template <typename Derived>
struct __attribute__((packed, aligned(4))) PacketHeaderBase {
    NocCommandFields command_fields;
    uint16_t payload_size_bytes;
    NocSendType noc_send_type;
    uint8_t src_ch_id;

    uint32_t get_payload_size_including_header() const {
        return sizeof(Derived) + payload_size_bytes;
    }
};

// Two bits per hop, the lowest are this hop's: deliver here, forward, or both.
struct LowLatencyRoutingFields {
    static constexpr uint32_t FIELD_WIDTH = 2;
    static constexpr uint32_t FIELD_MASK = 3;
    static constexpr uint32_t WRITE_ONLY = 1;
    static constexpr uint32_t FORWARD_ONLY = 2;
    uint32_t value;
};

struct LowLatencyPacketHeader : PacketHeaderBase<LowLatencyPacketHeader> {
    LowLatencyRoutingFields routing_fields;
};
static_assert(sizeof(LowLatencyPacketHeader) == 48);

using PACKET_HEADER_TYPE = LowLatencyPacketHeader;
