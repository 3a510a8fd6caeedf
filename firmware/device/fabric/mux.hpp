// The fabric mux: several clients, one sender channel of a router. It runs on a Tensix core (BRISC)
// or on an Ethernet tile without a link; its forwarding policy is chosen when the image is built
// (FABRIC_MUX_POLICY). Words and steps are those of tt-metal's mux v1 (tt-metal.md 5) and of the
// public write-up of the reduce-scatter hang.
#pragma once
#include "adapter.hpp"
#include "common/kernel.hpp"

enum fabric_mux_policy_t : uint32_t {
    UNBOUNDED_WAIT = 0,           // waits for a slot of the router without a bound
    NO_WAIT = 1,                  // continues with the next channel at once
    UNBOUNDED_WAIT_TEARDOWN = 2,  // as 0, and serves this channel's client during the wait
    BOUNDED_WAIT_32768 = 3,       // as 2, for at most 32768 polls
    BOUNDED_WAIT_256 = 4,         // as 2, for at most 256 polls, and a bounded drain
};
#ifndef FABRIC_MUX_POLICY
#error "FABRIC_MUX_POLICY is set per image"
#endif
constexpr fabric_mux_policy_t forwarding_policy = FABRIC_MUX_POLICY;
constexpr uint32_t max_wait_iters = forwarding_policy == BOUNDED_WAIT_256 ? 256 : 32768;
// Of the main loop, after GRACEFULLY_TERMINATE (BOUNDED_WAIT_256).
constexpr uint32_t max_drain_iters = 1000;
constexpr uint32_t num_iters_between_teardown_checks = 32;
constexpr uint32_t FABRIC_MUX_MAX_CHANNELS = 8, MUX_NO_CHANNEL = 0xFFFFFFFF;

struct fabric_mux_args_t {
    uint32_t run_id;
    uint32_t num_full_size_channels;
    uint32_t num_buffers_full_size_channel;   // slots of a channel
    uint32_t channel_buffer_size;             // bytes of a slot, as in the router
    uint32_t packet_header_bytes;             // of the fabric's topology
    uint32_t words_address;                   // fabric_mux_words_t
    uint32_t channels_address;                // slots: channel after channel
    uint32_t first_stream_id;                 // free slots of channel i: stream first_stream_id + i
    // 0: run; n: park before the n-th stage (1 open, 2 traffic, then the answer to each client that
    // closes, drain, close, the wait for the router's answer, end).
    uint32_t pause_at_stage;
    uint32_t wait_cycles;  // a bounded wait ends after this time; 0: after the policy's polls
    // 1: until then the channel takes every slot that the router frees (wait_cycles is not 0).
    uint32_t keeps_router;
    // x | y << 16 of the dispatcher to which the kernel reports its end; 0: none.
    uint32_t dispatch_xy;
    fabric_connection_info_t router;
};
struct fabric_mux_words_t {
    volatile uint32_t status;                 // EDMStatus
    uint32_t pad0[3];
    volatile uint32_t termination_signal;     // TerminationSignal; the termination master writes it
    uint32_t pad1[3];
    fabric_client_words_t router_client;
    EDMChannelWorkerLocationInfo conn_info[FABRIC_MUX_MAX_CHANNELS];
    struct {
        volatile uint32_t value;              // connection_t
        uint32_t pad[3];
    } conn_semaphore[FABRIC_MUX_MAX_CHANNELS];
    SenderChannelProducerCursor buffer_index[FABRIC_MUX_MAX_CHANNELS];
};
struct fabric_mux_channel_state_t {
    volatile uint32_t packets_forwarded;
    volatile uint32_t polls;                  // for a slot of the router
    volatile uint32_t skips;                  // waits that ended without a slot
    // From the first poll without a slot until the packet was forwarded.
    volatile uint32_t longest_wait_cycles;
    volatile uint32_t last_progress;
    volatile uint32_t connected;              // 1: its client has opened and not closed it
    volatile uint32_t closes;                 // of clients, answered
    // From the last time that nothing was left to do for the channel until a packet was forwarded
    // or its client answered.
    volatile uint32_t longest_unserved_cycles;
    // Between two checks of the client's requests, which need nothing of the router.
    volatile uint32_t longest_unattended_cycles;
    volatile uint32_t longest_hold_cycles;    // of a turn in which it waited for the router
};
struct fabric_mux_state_t {
    uint32_t magic;                           // "FMUX"
    kernel_control_t control;  // its termination_signal is not used: see fabric_mux_words_t
    fabric_mux_args_t args;
    fabric_client_state_t router;
    volatile uint32_t passes;
    volatile uint32_t holder;  // channel that waits for a slot of the router, or MUX_NO_CHANNEL
    volatile uint32_t drain_iters;
    volatile uint32_t abandoned;              // packets left behind by a bounded drain
    fabric_mux_channel_state_t channels[FABRIC_MUX_MAX_CHANNELS];
};
