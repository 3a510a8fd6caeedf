// The worker adapter: a client's end of a sender channel of a router, or of a channel of a mux.
// Steps and words are tt-metal's (tt-metal.md 6). State that is private in tt-metal is in L1 here,
// in a structure named in the debug information.
#pragma once
#include "common/noc.hpp"
#include "common/waypoint.hpp"
#include "fabric.hpp"

// In the client's L1; in 16-byte units, because the router or mux writes into them.
struct fabric_client_words_t {
    // The router or mux writes the count of packets taken (flow control).
    volatile uint32_t read_counter;
    uint32_t pad0[3];
    volatile uint32_t teardown;          // incremented when the channel is closed
    uint32_t pad1[3];
    SenderChannelProducerCursor cursor;  // as read at open
    volatile uint32_t edm_status;        // destination of the read of the status word
    uint32_t pad2[3];
};
static_assert(sizeof(fabric_client_words_t) == 64);

enum fabric_client_stage_t : uint32_t {
    CLIENT_CLOSED = 0,
    CLIENT_OPENING = 1,
    CLIENT_OPEN = 2,
    CLIENT_CLOSING = 3
};
struct fabric_client_state_t {
    fabric_connection_info_t connection;
    uint32_t words_address;              // of fabric_client_words_t
    volatile fabric_client_stage_t stage;
    volatile uint32_t write_counter;
    volatile uint32_t write_index;       // next slot
    volatile uint32_t waits;             // 1: for a free slot
};
