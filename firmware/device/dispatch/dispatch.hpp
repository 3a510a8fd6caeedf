// Dispatch: a Tensix kernel (BRISC) that executes a list of commands as tt-metal's fast dispatch
// does (tt-metal.md 7.4). It sends go messages to the cores of a program, waits until all of them
// have incremented its stream, and reports to the host by an entry of the completion queue.
// `dispatch_progress` counts the commands; a host reads it to detect progress. The queue is in this
// tile's L1, because the emulated machines have no host memory.
#pragma once
#include "common/kernel.hpp"

// Incremented by the workers' firmware: tt-metal's first dispatch-message stream.
constexpr uint32_t DISPATCH_STREAM_ID = 48;
constexpr uint32_t COMPLETION_Q_ENTRIES = 16;

enum dispatch_command_id_t : uint32_t {
    DISPATCH_SEND_GO = 1,            // writes the go message `value` to `address` of tile `xy`
    DISPATCH_WAIT = 2,  // until `value` cores have reported done; then resets the count
    DISPATCH_WRITE_EVENT = 3,        // writes an entry `value` to the completion queue
};
struct dispatch_command_t {
    dispatch_command_id_t id;
    uint32_t xy;                     // NOC 0 coordinate, x | y << 16
    uint32_t address;
    uint32_t value;
};

struct dispatch_args_t {
    uint32_t run_id;
    uint32_t commands_address, commands;
    uint32_t pause_at_stage;         // 0: run; n: park before the n-th command
};

struct completion_q_entry_t {
    volatile uint32_t event;
    volatile uint32_t dispatch_progress;
    volatile uint64_t cycles;        // wall clock
};

// The global `dispatch_state` is of this type.
struct dispatch_state_t {
    uint32_t magic;                  // "DISP"
    kernel_control_t control;
    dispatch_args_t args;
    volatile uint32_t dispatch_progress;     // commands done
    volatile uint32_t completion_q_wr_ptr;   // entries written, in all
    volatile uint32_t completion_q_rd_ptr;   // entries read; the host writes
    volatile uint32_t last_wait_count, last_wait_stream;
    volatile uint32_t last_event;
    volatile uint32_t finished;              // 1 when the kernel has returned
    volatile uint64_t started_cycles;        // wall clock
    completion_q_entry_t completion_q[COMPLETION_Q_ENTRIES];
};
