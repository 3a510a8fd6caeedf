// The L1 words of base firmware that other tiles and the host read: its boot parameters, the state
// it publishes, and its queues (wormhole.md 5.3, wormhole.md 6.2, wormhole.md 6.3). Addresses that
// no public text fixes are marked "ours".
#pragma once
#include <stddef.h>
#include <stdint.h>

// --- words that base firmware keeps ---

constexpr uint32_t HEARTBEAT = 0x1C;
constexpr uint32_t QUEUE_POINTER = 0x170;
constexpr uint32_t FIRMWARE_VERSION = 0x210;
constexpr uint32_t CONNECTION_TABLE = 0x1200;     // one word per channel, see connection_t
constexpr uint32_t LINK_ERROR = 0x1440;
constexpr uint32_t LINK_ERROR_NOT_POPULATED = 13;

enum connection_t : uint32_t {
    CONNECTION_UNKNOWN = 0,
    CONNECTION_NONE = 1,
    CONNECTION_NO_ROUTING = 2,
    CONNECTION_UP = 3
};
enum train_status_t : uint32_t {
    TRAIN_IN_PROGRESS = 0,
    TRAIN_UP = 1,
    TRAIN_FAILED = 2,
    TRAIN_NOT_CONNECTED = 3
};

// Written at power on: by flash and ARC on silicon, by the builder of the mesh on the emulator.
struct boot_params_t {
    uint32_t reserved_0[2];
    volatile uint32_t port_disable_mask;   // word 2: bit per channel
    uint32_t reserved_3[16];
    volatile uint32_t routing_disabled;    // word 19
    uint32_t reserved_20[36];
    volatile uint32_t board_type;          // word 56
    uint32_t reserved_57[2];
    volatile uint32_t board_id;            // word 59: the mangled 32-bit form
    volatile uint32_t board_id_hi;  // word 60, ours: high half of the pair that is unique per chip
    volatile uint32_t own_coordinate;      // word 61, ours: rack[7:0] shelf[15:8] x[23:16] y[31:24]
    volatile uint32_t own_channel;         // word 62, ours
    // Word 63, ours: mask of the Ethernet tiles of this chip that run base firmware.
    volatile uint32_t present_channels;
};
static_assert(sizeof(boot_params_t) == 256 && offsetof(boot_params_t, board_type) == 56 * 4);
static boot_params_t* const boot_params = reinterpret_cast<boot_params_t*>(0x1000);

struct node_info_t {
    uint32_t reserved_0;
    volatile uint32_t train_status;        // train_status_t
    volatile uint32_t local_coordinate;    // rack[7:0] shelf[15:8] x[23:16] y[31:24]
    uint32_t reserved_3[6];
    volatile uint32_t remote_coordinate;   // NoC x[9:4] y[15:10], chip x[21:16] y[27:22]
    volatile uint32_t remote_rack_shelf;   // rack[7:0] shelf[15:8]
};
static_assert(offsetof(node_info_t, remote_coordinate) == 0x24);
static node_info_t* const node_info = reinterpret_cast<node_info_t*>(0x1100);

// Names are tt-metal's. The eight words from local_board_id_lo are sent unchanged to the peer's
// remote_board_id_lo: that is how each end learns the other's identity.
struct boot_results_t {
    uint32_t reserved_0_4[5];
    volatile uint32_t link_status;         // 6 = up
    uint32_t reserved_6;
    volatile uint32_t retrain_cnt;
    uint32_t reserved_8_15[8];
    // Packets of queue 0, then of queue 1, each with the high word first.
    volatile uint32_t packet_send[4];
    volatile uint32_t packet_recv[4];
    uint32_t reserved_24_44[21];
    volatile uint32_t rx_link_up_time;     // low half of the wall clock
    volatile uint32_t dummy_packet_time;
    volatile uint32_t crc_err;
    volatile uint32_t heartbeat;           // 0xABCDnnnn like word 0x1C
    volatile uint32_t pcs_faults;
    volatile uint32_t retrain_trigger_link;
    volatile uint32_t retrain_trigger_crc;
    volatile uint32_t corr_cw_hi;
    volatile uint32_t corr_cw_lo;
    volatile uint32_t uncorr_cw_hi;
    volatile uint32_t uncorr_cw_lo;
    uint32_t reserved_56_63[8];
    volatile uint32_t local_board_id_lo;
    volatile uint32_t local_board_id_hi;
    volatile uint32_t local_x_y_coord;     // x[7:0] y[15:8] (ours)
    volatile uint32_t local_rack_shelf;    // rack[7:0] shelf[15:8]
    volatile uint32_t local_eth_id;
    volatile uint32_t local_board_type;
    uint32_t spare_0;
    volatile uint32_t ack_local;           // handshake_t
    volatile uint32_t remote_board_id_lo;
    volatile uint32_t remote_board_id_hi;
    volatile uint32_t remote_x_y_coord;
    volatile uint32_t remote_rack_shelf;
    volatile uint32_t remote_eth_id;
    volatile uint32_t remote_board_type;
    uint32_t spare_1;
    volatile uint32_t ack_remote;          // handshake_t
};
static_assert(sizeof(boot_results_t) == 320 && offsetof(boot_results_t, crc_err) == 47 * 4);
static_assert(offsetof(boot_results_t, local_board_id_lo) == 64 * 4 &&
              offsetof(boot_results_t, remote_board_id_lo) == 72 * 4);
static boot_results_t* const boot_results = reinterpret_cast<boot_results_t*>(0x1EC0);
constexpr uint32_t LINK_STATUS_UP = 6;

// The state that an end publishes in ack_local (values: ours).
enum handshake_t : uint32_t { HANDSHAKE_NONE = 0, HANDSHAKE_HELLO = 1, HANDSHAKE_SEEN_YOU = 2 };

// --- queues ---

struct routing_cmd_t {
    uint32_t address_lo;                   // address[31:0]
    uint32_t address_hi;  // address[35:32], NoC x[9:4] y[15:10], chip x[21:16] y[27:22]
    uint32_t data;                         // value, or byte count
    volatile uint32_t flags;
    uint8_t rack;
    uint8_t shelf;
    uint16_t reply_slot;  // firmware's own: slot of the previous hop that waits for the answer
    uint32_t token;  // firmware's own: token of the previous hop, returned in the answer
    uint8_t response_queue;
    uint8_t transaction;
    volatile uint16_t sequence;            // firmware's own: marks an entry between tiles as new
    uint32_t host_address;
};
static_assert(sizeof(routing_cmd_t) == 32 && offsetof(routing_cmd_t, sequence) == 26);

constexpr uint32_t CMD_WR_REQ = 1u << 0, CMD_WR_ACK = 1u << 1, CMD_RD_REQ = 1u << 2,
                   CMD_RD_DATA = 1u << 3;
constexpr uint32_t CMD_DATA_BLOCK_DRAM = 1u << 4, CMD_DATA_BLOCK = 1u << 6, CMD_BROADCAST = 1u << 7,
                   CMD_USE_NOC1 = 1u << 9;
constexpr uint32_t CMD_DATA_BLOCK_UNAVAILABLE = 1u << 30, CMD_DEST_UNREACHABLE = 1u << 31;
// Ours, between tiles only: nothing was done, another route may be tried.
constexpr uint32_t CMD_NOT_STARTED = 1u << 29;

struct eth_queue_t {
    volatile uint32_t wr_req;              // writes begun
    volatile uint32_t wr_resp;             // writes complete
    volatile uint32_t rd_req;
    volatile uint32_t rd_resp;
    volatile uint32_t error;
    uint32_t pad_0[3];
    volatile uint32_t wr_index;            // index modulo 8, slot = index & 3
    uint32_t pad_1[3];
    volatile uint32_t rd_index;
    uint32_t pad_2[3];
    routing_cmd_t entries[4];
};
static_assert(sizeof(eth_queue_t) == 192 && offsetof(eth_queue_t, entries) == 0x40);

// Slots: every request in flight through this tile has one, and with it a 1 KiB buffer.
constexpr uint32_t HOST_SLOT = 0;          // 4: requests of this tile's host queue
constexpr uint32_t LINK_SLOT = 4;          // 4: requests from the peer
// 16: requests from the other Ethernet tiles of the chip, by their channel.
constexpr uint32_t SIBLING_SLOT = 8;
constexpr uint32_t SLOTS = 24;
constexpr uint32_t BUFFERS = 0x12000;      // the first four are the host's
constexpr uint32_t BUFFER_BYTES = 1024;
static_assert(BUFFERS + SLOTS * BUFFER_BYTES == 0x18000, "up to the application's data");

struct answer_t {                          // one Ethernet word, so it arrives whole
    uint32_t data;
    volatile uint32_t flags;               // 0 = not arrived
    uint32_t token;
    uint32_t pad;
};

struct eth_base_firmware_queues_t {
    uint64_t latency_counter[16];
    eth_queue_t eth_req_queue;             // +0x080: host to firmware
    eth_queue_t peer_in_queue;             // +0x140: requests that arrived over the link
    eth_queue_t eth_resp_queue;            // +0x200: firmware to host
    eth_queue_t peer_out_queue;            // +0x2C0: requests sent over the link
    // The members from here are ours.
    routing_cmd_t sibling_in[16];          // +0x380: written by the sibling of that channel
    answer_t answers_in[SLOTS];            // +0x580: written by the next hop of that slot
    routing_cmd_t leaving[SLOTS];          // +0x700: source of the request sent on from this slot
    answer_t answers_out[SLOTS];           // +0xA00: source of the answer sent back from this slot
    alignas(16) volatile uint32_t doorbell;  // +0xB80: siblings add one after writing sibling_in
    alignas(32) volatile uint32_t scratch[32];  // +0xBA0: words in transfer to and from the NoC
};
static_assert(offsetof(eth_base_firmware_queues_t, eth_resp_queue) == 0x200);
static_assert(offsetof(eth_base_firmware_queues_t, sibling_in) == 0x380 &&
              sizeof(eth_base_firmware_queues_t) <= 0x1000);
static eth_base_firmware_queues_t* const queues =
    reinterpret_cast<eth_base_firmware_queues_t*>(0x11000);

// --- routing table ---

// Destination chip -> the Ethernet channels of this chip whose peers are one hop closer. Global
// `routing_table`, filled in at power on; chips that are not listed are unreachable.
struct route_t {
    uint8_t rack;
    uint8_t shelf;
    uint8_t x;
    uint8_t y;
    uint16_t channels;
    uint16_t reserved;
};
struct routing_table_t {
    uint32_t count;
    uint32_t reserved;
    route_t routes[500];
};
static_assert(sizeof(route_t) == 8 && sizeof(routing_table_t) == 4008);
