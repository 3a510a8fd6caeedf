// The worker adapter: a client's end of a sender channel of a router, or of a channel of a mux. The steps and words are tt-metal's
// (tt-metal.md 6); what is private there is kept in L1 here, in a struct that debug information names.
#pragma once
#include "common/noc.hpp"
#include "common/waypoint.hpp"
#include "fabric.hpp"

// In the client's L1; 16-aligned units, since others write into them.
struct fabric_client_words_t {
    volatile uint32_t read_counter;      // the router or mux writes how many packets it has taken (flow control)
    uint32_t pad0[3];
    volatile uint32_t teardown;          // counted up when the channel is closed
    uint32_t pad1[3];
    SenderChannelProducerCursor cursor;  // as of open
    volatile uint32_t edm_status;        // landing place for the status word
    uint32_t pad2[3];
};
static_assert(sizeof(fabric_client_words_t) == 64);

enum fabric_client_stage_t : uint32_t { CLIENT_CLOSED = 0, CLIENT_OPENING = 1, CLIENT_OPEN = 2, CLIENT_CLOSING = 3 };
struct fabric_client_state_t {
    fabric_connection_info_t connection;
    uint32_t words_address;              // fabric_client_words_t
    volatile fabric_client_stage_t stage;
    volatile uint32_t write_counter;
    volatile uint32_t write_index;       // next slot
    volatile uint32_t waits;             // 1: for a free slot
};
