// The constants that the host would compile into one router: stream ids, addresses and slot counts,
// under tt-metal's names (tt-metal.md 4). A router of a line: channel 0 takes from a worker of this
// chip, channel 1 from the router of the other direction.
#pragma once
#include "common/erisc.hpp"

constexpr uint32_t NUM_SENDER_CHANNELS = 2;
constexpr uint32_t NUM_RECEIVER_CHANNELS = 1;
constexpr uint32_t SENDER_NUM_BUFFERS_ARRAY[NUM_SENDER_CHANNELS] = {8, 7};
constexpr uint32_t RECEIVER_NUM_BUFFERS_ARRAY[NUM_RECEIVER_CHANNELS] = {15};
constexpr uint32_t CHANNEL_BUFFER_SIZE = 4096 + 48;
constexpr bool ENABLE_FIRST_LEVEL_ACK_VC0 = false;
constexpr uint32_t MY_ETH_CHANNEL = 8;

constexpr uint32_t k_unused_stream_id = 32;
constexpr uint32_t sender_channel_0_free_slots_stream_id = 0;
constexpr uint32_t sender_channel_1_free_slots_stream_id = 1;
constexpr uint32_t to_receiver_0_pkts_sent_id = 2;
constexpr uint32_t to_sender_0_pkts_acked_id = k_unused_stream_id;
constexpr uint32_t to_sender_1_pkts_acked_id = k_unused_stream_id;
constexpr uint32_t to_sender_0_pkts_completed_id = 3;
constexpr uint32_t to_sender_1_pkts_completed_id = 4;
constexpr uint32_t vc_0_free_slots_from_downstream_edge_1_stream_id = 5;
constexpr uint32_t sender_free_slots_stream_ids[NUM_SENDER_CHANNELS] = {
    sender_channel_0_free_slots_stream_id, sender_channel_1_free_slots_stream_id};
constexpr uint32_t to_sender_packets_completed_streams[NUM_SENDER_CHANNELS] = {
    to_sender_0_pkts_completed_id, to_sender_1_pkts_completed_id};

constexpr uint32_t handshake_addr = ERISC_UNRESERVED;
constexpr uint32_t termination_signal_addr = ERISC_UNRESERVED + 0x60;
constexpr uint32_t edm_local_sync_ptr_addr = ERISC_UNRESERVED + 0x70;
constexpr uint32_t edm_status_ptr_addr = ERISC_UNRESERVED + 0x80;
constexpr uint32_t local_sender_channel_0_connection_info_addr = ERISC_UNRESERVED + 0xA0;
constexpr uint32_t sender_channel_block_bytes = 0x90;
constexpr uint32_t connection_semaphore_offset = 0x60;
constexpr uint32_t channel_buffers_addr = ERISC_UNRESERVED + 0x400;
constexpr uint32_t remote_receiver_0_channel_address =
    channel_buffers_addr +
    (SENDER_NUM_BUFFERS_ARRAY[0] + SENDER_NUM_BUFFERS_ARRAY[1]) * CHANNEL_BUFFER_SIZE;
static_assert(remote_receiver_0_channel_address +
                  RECEIVER_NUM_BUFFERS_ARRAY[0] * CHANNEL_BUFFER_SIZE <=
              0x3DC00);

constexpr uint32_t sender_channel_address(uint32_t channel) {
    return channel_buffers_addr +
           (channel == 0 ? 0 : SENDER_NUM_BUFFERS_ARRAY[0] * CHANNEL_BUFFER_SIZE);
}

// Life cycle of a router, and the router of the other direction: words of the runtime arguments.
enum EDMStatus : uint32_t {
    STARTED = 0xA0B0C0D0,
    REMOTE_HANDSHAKE_COMPLETE = 0xA1B1C1D1,
    LOCAL_HANDSHAKE_COMPLETE = 0xA2B2C2D2,
    READY_FOR_TRAFFIC = 0xA3B3C3D3,
    TERMINATED = 0xA4B4C4D4,
};
enum TerminationSignal : uint32_t {
    KEEP_RUNNING = 0,
    GRACEFULLY_TERMINATE = 1,
    IMMEDIATELY_TERMINATE = 2
};

struct router_args_t {
    uint32_t initiates_handshake;
    uint32_t downstream_noc_xy;       // MID form; 0: the line ends here
    uint32_t downstream_buffer_base;  // of sender channel 1 there
    uint32_t downstream_slots;
};
