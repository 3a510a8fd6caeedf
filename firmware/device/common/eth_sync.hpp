// Flow-control words shared by the two ERISCs of a link (tt-metal.md 3.1, tt-metal.md 3.2), under
// tt-metal's names.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct eth_channel_sync_t {
    // The sender writes the count; the receiver's completion writes 0.
    volatile uint32_t bytes_sent;
    volatile uint32_t receiver_ack;  // first-level acknowledge: the payload has arrived
    volatile uint32_t src_id;
    uint32_t reserved_2;
};
static_assert(sizeof(eth_channel_sync_t) == 16, "one Ethernet word");

struct erisc_info_t {
    volatile uint32_t launch_user_kernel;
    volatile uint32_t unused_arg0;
    volatile uint32_t unused_arg1;
    volatile uint32_t unused_arg2;
    eth_channel_sync_t channels[8];
};
static_assert(sizeof(erisc_info_t) == 144 && offsetof(erisc_info_t, channels) == 16);

struct eth_word_t {
    volatile uint32_t bytes_sent;
    volatile uint32_t dst_cmd_valid;
    uint32_t reserved_0;
    uint32_t reserved_1;
};

struct routing_info_t {
    volatile uint32_t routing_enabled;
    volatile uint32_t src_sent_valid_cmd;
    volatile uint32_t dst_acked_valid_cmd;
    volatile uint32_t unused_arg0;
    eth_word_t fd_buffer_msgs[2];
};
static_assert(sizeof(routing_info_t) == 48);

static erisc_info_t* const erisc_info = reinterpret_cast<erisc_info_t*>(0x3DC30);
static routing_info_t* const routing_info = reinterpret_cast<routing_info_t*>(0x3DC00);

// The address of each channel's live sync word. A merged send carries its sync word behind the
// payload, so the receiver's live word is at the end of its buffer; erisc_info->channels[i] then
// holds the receiver's copy, taken when the receiver read it. A kernel with merged sends has one
// global `eth_channel_places` of this type. A null `sync` means that erisc_info->channels[i] is the
// live word.
enum eth_channel_role_t : uint32_t {
    ETH_CHANNEL_UNUSED = 0,
    ETH_CHANNEL_SENDER = 1,
    ETH_CHANNEL_RECEIVER = 2,
    ETH_CHANNEL_HANDSHAKE = 3
};
struct eth_channel_place_t {
    eth_channel_sync_t* sync;
    uint32_t buffer_address;
    uint32_t buffer_bytes;
    eth_channel_role_t role;
};
struct eth_channel_places_t {
    eth_channel_place_t channels[8];
};
