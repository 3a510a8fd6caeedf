// Interfaces between the parts of base firmware.
#pragma once
#include "common/noc.hpp"
#include "common/registers.hpp"
#include "common/txq.hpp"
#include "words.hpp"

extern "C" {
extern const routing_table_t routing_table;
void serve_application();
void call_application();
void yield_entry();
}

extern bool core_is_lent;  // an application runs, and this is one of its yields

// --- access.cpp: the NoC, synchronously and with a bound ---
// A target on one NoC: its coordinate and address bits 35:32 in MID form, and the low address bits.
struct noc_target_t {
    uint32_t noc;
    uint32_t mid;
    uint32_t address;
};
bool access_read(const noc_target_t& target, uint32_t local, uint32_t bytes);
bool access_write(const noc_target_t& target, uint32_t local, uint32_t bytes);
bool access_increment(const noc_target_t& target);
noc_target_t sibling_target(uint32_t channel, uint32_t address);

// --- link.cpp: the link of this tile ---
void publish_identity();
void supervise_link();
bool link_is_up();
// Returns true if the link is up and the peer has acknowledged this tile's identity, so that it
// takes requests.
bool link_serves();
// Counts restarts of the peer and losses of the link. Requests of an older epoch are lost.
uint32_t link_epoch();
// Waits a bounded time for the transmit queue, then starts the write. Returns false if it did not
// start.
bool link_write(uint32_t source, uint32_t destination, uint32_t bytes);

// --- relay.cpp and host_queue.cpp: queues and slots ---
// Cheap: an idle tile calls it in every pass.
extern uint32_t relay_active, relay_lost, last_doorbell;
inline bool relay_has_work() {
    const eth_queue_t& host = queues->eth_req_queue;
    const eth_queue_t& peer = queues->peer_in_queue;
    uint32_t next = peer.rd_index & 7;
    return host.wr_index != host.rd_index || peer.entries[next & 3].sequence == next + 1 ||
           queues->doorbell != last_doorbell || (relay_active | relay_lost) != 0;
}
void relay_pass();
// Both ends number requests from the start again. Requests in flight are lost.
void restart_link_queues();
void resume_host_queue();
