// The mailbox shared by host and firmware in L1, with the names, members and offsets of tt-metal
// 0.81.1 (tt-metal.md 1), so that one decoder serves built-in and vendor images. MESHSCOPE_ETH
// selects the base address, the print buffer and the profiler size.
#pragma once
#include <stddef.h>
#include <stdint.h>

constexpr uint32_t RUN_MSG_DONE = 0x00;
constexpr uint32_t RUN_MSG_INIT = 0x40;
constexpr uint32_t RUN_MSG_GO = 0x80;
constexpr uint32_t RUN_MSG_RESET_READ_PTR = 0xC0;
constexpr uint32_t RUN_MSG_RESET_READ_PTR_FROM_HOST = 0xE0;
constexpr uint32_t RUN_MSG_REPLAY_TRACE = 0xF0;

constexpr uint32_t RUN_SYNC_MSG_DONE = 0x00;
constexpr uint32_t RUN_SYNC_MSG_LOAD = 0x01;
constexpr uint32_t RUN_SYNC_MSG_WAITING_FOR_RESET = 0x02;
constexpr uint32_t RUN_SYNC_MSG_INIT_SYNC_REGISTERS = 0x03;
constexpr uint32_t RUN_SYNC_MSG_INIT = 0x40;
constexpr uint32_t RUN_SYNC_MSG_GO = 0x80;
constexpr uint32_t RUN_SYNC_MSG_ALL_INIT = 0x40404040;

enum dispatch_mode { DISPATCH_MODE_DEV = 0, DISPATCH_MODE_HOST = 1 };
// Index into kernel_config_base and sem_offset.
enum ProgrammableCoreType { TENSIX = 0, ACTIVE_ETH = 1, IDLE_ETH = 2, DRAM = 3, COUNT = 4 };
constexpr uint32_t MaxProcessorsPerCoreType = 5;
constexpr uint32_t launch_msg_buffer_num_entries = 8;
constexpr uint32_t go_message_num_entries = 9;

struct ncrisc_halt_msg_t {
    volatile uint32_t resume_addr;
    volatile uint32_t stack_save;
};

struct rta_offset_t {
    volatile uint16_t rta_offset;   // 0xFFFF: no runtime arguments
    volatile uint16_t crta_offset;  // 0xFFFF: no common runtime arguments
};

struct kernel_config_msg_t {
    volatile uint32_t kernel_config_base[COUNT];
    volatile uint16_t sem_offset[COUNT];
    volatile uint16_t local_cb_offset;
    volatile uint16_t remote_cb_offset;
    rta_offset_t rta_offset[MaxProcessorsPerCoreType];
    volatile uint8_t mode;
    volatile uint8_t pad2;
    volatile uint16_t cross_node_dfb_offset;
    volatile uint32_t kernel_text_offset[MaxProcessorsPerCoreType];
    volatile uint32_t kernel_text_size[MaxProcessorsPerCoreType];
    volatile uint8_t pad4[4];
    volatile uint64_t local_cb_mask;
    volatile uint8_t brisc_noc_id;
    volatile uint8_t brisc_noc_mode;
    volatile uint8_t min_remote_cb_start_index;
    volatile uint8_t exit_erisc_kernel;
    volatile uint32_t host_assigned_id;
    volatile uint32_t enables;
    volatile uint32_t reload_table_addr;
    volatile uint16_t watcher_kernel_ids[MaxProcessorsPerCoreType];
    volatile uint16_t ncrisc_kernel_size16;
    volatile uint8_t sub_device_origin_x;
    volatile uint8_t sub_device_origin_y;
    volatile uint16_t prefetcher_pipe_offset;
    volatile uint8_t pad3[7];
    volatile uint8_t preload;
};

struct launch_msg_t {
    kernel_config_msg_t kernel_config;
};

struct go_msg_t {
    union {
        volatile uint32_t all;
        struct {
            volatile uint8_t dispatch_message_offset;
            volatile uint8_t master_x;
            volatile uint8_t master_y;
            volatile uint8_t signal;
        };
    };
};

struct subordinate_sync_msg_t {
    union {
        volatile uint8_t map[4];  // NCRISC, TRISC0, TRISC1, TRISC2
        volatile uint32_t all;
    };
};

struct debug_waypoint_msg_t {
    volatile uint8_t waypoint[4];
};

struct debug_sanitize_addr_msg_t {
    volatile uint64_t noc_addr;
    volatile uint32_t l1_addr;
    volatile uint32_t len;
    volatile uint16_t which_risc;
    volatile uint16_t return_code;
    volatile uint8_t is_multicast;
    volatile uint8_t is_write;
    volatile uint8_t is_target;
    volatile uint8_t pad;
};

struct debug_eth_link_t {
    volatile uint8_t link_down;
};

struct debug_assert_msg_t {
    volatile uint16_t line_num;
    volatile uint8_t tripped;
    volatile uint8_t which;
    volatile uint32_t claim;
    volatile uint64_t hw_fault_info;
};

struct debug_pause_msg_t {
    volatile uint8_t flags[MaxProcessorsPerCoreType];
    uint8_t pad[3];
};

struct debug_stack_usage_per_cpu_t {
    volatile uint16_t min_free;
    volatile uint16_t watcher_kernel_id;
};

struct debug_stack_usage_t {
    debug_stack_usage_per_cpu_t cpu[MaxProcessorsPerCoreType];
    uint8_t pad[12];
};

struct debug_insert_delays_msg_t {
    volatile uint32_t read_delay_processor_mask;
    volatile uint32_t write_delay_processor_mask;
    volatile uint32_t atomic_delay_processor_mask;
    volatile uint32_t feedback;
};

struct debug_ring_buf_msg_t {
    uint8_t data[132];
};

struct watcher_msg_t {
    volatile uint32_t enable;  // 2 disabled, 3 enabled
    debug_waypoint_msg_t debug_waypoint[MaxProcessorsPerCoreType];
    debug_sanitize_addr_msg_t sanitize[2];
    volatile uint8_t noc_linked_status[2];
    debug_eth_link_t eth_status;
    uint8_t pad0;
    debug_assert_msg_t assert_status;
    debug_pause_msg_t pause_status;
    debug_stack_usage_t stack_usage;
    debug_insert_delays_msg_t debug_insert_delays;
    debug_ring_buf_msg_t debug_ring_buf;
};

struct addressable_core_t {
    volatile uint8_t x;
    volatile uint8_t y;
    volatile uint8_t type;
};

enum class CoreMagicNumber : uint32_t {
    WORKER = 0x50EC09A3,
    ACTIVE_ETH = 0xC63050D1,
    IDLE_ETH = 0x837B6CAE
};

struct core_info_msg_t {
    volatile uint64_t noc_pcie_addr_base;
    volatile uint64_t noc_pcie_addr_end;
    volatile uint64_t noc_dram_addr_base;
    volatile uint64_t noc_dram_addr_end;
    addressable_core_t non_worker_cores[35];
    addressable_core_t virtual_non_worker_cores[30];
    volatile uint8_t harvested_coords[2];
    volatile uint8_t virtual_harvested_coords[2];
    volatile uint8_t noc_size_x;
    volatile uint8_t noc_size_y;
    volatile uint8_t worker_grid_size_x;
    volatile uint8_t worker_grid_size_y;
    volatile uint8_t absolute_logical_x;
    volatile uint8_t absolute_logical_y;
    volatile uint32_t l1_unreserved_start;
    CoreMagicNumber core_magic_number;
    volatile uint8_t noc2axi_niu_mask;
};

#if MESHSCOPE_ETH
constexpr uint32_t device_print_bytes = 208;
constexpr uint32_t profiler_bytes = 2304;
#else
constexpr uint32_t device_print_bytes = 1024;
constexpr uint32_t profiler_bytes = 10496;
#endif

struct mailboxes_t {
    ncrisc_halt_msg_t ncrisc_halt;
    subordinate_sync_msg_t subordinate_sync;
    volatile uint32_t launch_msg_rd_ptr;
    alignas(16) launch_msg_t launch[launch_msg_buffer_num_entries];
    go_msg_t go_messages[go_message_num_entries];
    uint64_t link_status_check_timestamp;
    volatile uint32_t go_message_index;
    volatile uint8_t shared_globals_ready[3];
    volatile uint8_t fw_shared_globals_ready[3];
    watcher_msg_t watcher;
    uint8_t dprint_buf[device_print_bytes];  // opaque: built-in images do not print
    core_info_msg_t core_info;
    volatile uint32_t aerisc_run_flag;
    alignas(16) uint8_t profiler[profiler_bytes];  // opaque: built-in images do not profile
};

#define MESHSCOPE_AT(type, member, offset) \
    static_assert(offsetof(type, member) == (offset), #type "." #member)
MESHSCOPE_AT(kernel_config_msg_t, sem_offset, 16);
MESHSCOPE_AT(kernel_config_msg_t, local_cb_offset, 24);
MESHSCOPE_AT(kernel_config_msg_t, remote_cb_offset, 26);
MESHSCOPE_AT(kernel_config_msg_t, rta_offset, 28);
MESHSCOPE_AT(kernel_config_msg_t, mode, 48);
MESHSCOPE_AT(kernel_config_msg_t, cross_node_dfb_offset, 50);
MESHSCOPE_AT(kernel_config_msg_t, kernel_text_offset, 52);
MESHSCOPE_AT(kernel_config_msg_t, kernel_text_size, 72);
MESHSCOPE_AT(kernel_config_msg_t, local_cb_mask, 96);
MESHSCOPE_AT(kernel_config_msg_t, brisc_noc_id, 104);
MESHSCOPE_AT(kernel_config_msg_t, exit_erisc_kernel, 107);
MESHSCOPE_AT(kernel_config_msg_t, host_assigned_id, 108);
MESHSCOPE_AT(kernel_config_msg_t, enables, 112);
MESHSCOPE_AT(kernel_config_msg_t, reload_table_addr, 116);
MESHSCOPE_AT(kernel_config_msg_t, watcher_kernel_ids, 120);
MESHSCOPE_AT(kernel_config_msg_t, ncrisc_kernel_size16, 130);
MESHSCOPE_AT(kernel_config_msg_t, sub_device_origin_x, 132);
MESHSCOPE_AT(kernel_config_msg_t, prefetcher_pipe_offset, 134);
MESHSCOPE_AT(kernel_config_msg_t, preload, 143);
static_assert(sizeof(launch_msg_t) == 144);
static_assert(sizeof(watcher_msg_t) == 288);
MESHSCOPE_AT(watcher_msg_t, debug_waypoint, 4);
MESHSCOPE_AT(watcher_msg_t, sanitize, 24);
MESHSCOPE_AT(watcher_msg_t, noc_linked_status, 72);
MESHSCOPE_AT(watcher_msg_t, eth_status, 74);
MESHSCOPE_AT(watcher_msg_t, assert_status, 80);
MESHSCOPE_AT(watcher_msg_t, pause_status, 96);
MESHSCOPE_AT(watcher_msg_t, stack_usage, 104);
MESHSCOPE_AT(watcher_msg_t, debug_insert_delays, 136);
MESHSCOPE_AT(watcher_msg_t, debug_ring_buf, 152);
static_assert(sizeof(core_info_msg_t) == 256);
MESHSCOPE_AT(core_info_msg_t, non_worker_cores, 32);
MESHSCOPE_AT(core_info_msg_t, virtual_non_worker_cores, 137);
MESHSCOPE_AT(core_info_msg_t, harvested_coords, 227);
MESHSCOPE_AT(core_info_msg_t, noc_size_x, 231);
MESHSCOPE_AT(core_info_msg_t, absolute_logical_x, 235);
MESHSCOPE_AT(core_info_msg_t, l1_unreserved_start, 240);
MESHSCOPE_AT(core_info_msg_t, core_magic_number, 244);
MESHSCOPE_AT(core_info_msg_t, noc2axi_niu_mask, 248);
MESHSCOPE_AT(mailboxes_t, subordinate_sync, 8);
MESHSCOPE_AT(mailboxes_t, launch_msg_rd_ptr, 12);
MESHSCOPE_AT(mailboxes_t, launch, 16);
MESHSCOPE_AT(mailboxes_t, go_messages, 1168);
MESHSCOPE_AT(mailboxes_t, link_status_check_timestamp, 1208);
MESHSCOPE_AT(mailboxes_t, go_message_index, 1216);
MESHSCOPE_AT(mailboxes_t, shared_globals_ready, 1220);
MESHSCOPE_AT(mailboxes_t, fw_shared_globals_ready, 1223);
MESHSCOPE_AT(mailboxes_t, watcher, 1232);
MESHSCOPE_AT(mailboxes_t, dprint_buf, 1520);
#if MESHSCOPE_ETH
MESHSCOPE_AT(mailboxes_t, core_info, 1728);
MESHSCOPE_AT(mailboxes_t, aerisc_run_flag, 1984);
MESHSCOPE_AT(mailboxes_t, profiler, 2000);
static_assert(sizeof(mailboxes_t) == 4304);
static mailboxes_t* const mailboxes = reinterpret_cast<mailboxes_t*>(0x3DD50);
#else
MESHSCOPE_AT(mailboxes_t, core_info, 2544);
MESHSCOPE_AT(mailboxes_t, aerisc_run_flag, 2800);
MESHSCOPE_AT(mailboxes_t, profiler, 2816);
static_assert(sizeof(mailboxes_t) == 13312);
static mailboxes_t* const mailboxes = reinterpret_cast<mailboxes_t*>(0x10);
#endif

// The kernel configuration of the program that is launched now.
inline volatile kernel_config_msg_t& launched() {
    return mailboxes->launch[mailboxes->launch_msg_rd_ptr & (launch_msg_buffer_num_entries - 1)]
        .kernel_config;
}

// Returns the address of the runtime arguments of one processor of this core, or 0 if the launch
// message names none.
inline uint32_t runtime_args_address(uint32_t core_type, uint32_t processor) {
    uint32_t offset = launched().rta_offset[processor].rta_offset;
    return offset == 0xFFFF ? 0 : launched().kernel_config_base[core_type] + offset;
}
