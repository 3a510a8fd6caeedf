// Slots: the requests in flight through this tile, and the hops they came from.
#pragma once
#include "base.hpp"

// A request holds one slot and its 1 KiB buffer in every tile on its path, from its arrival until
// its answer has been sent back. The previous hop owns the credit for the slot: it may send the
// next request into it once it has the answer. So every answer has a free place, and a request that
// finds no free slot in the next tile is returned after a bounded wait (CMD_NOT_STARTED): no cycle
// of tiles can deadlock.
enum slot_state_t : uint8_t {
    SLOT_FREE = 0,
    SLOT_READY = 1,      // to be executed here or sent on
    SLOT_WAITING = 2,    // sent on, the answer is outstanding
    SLOT_ANSWERING = 3,  // the answer is in answers_out and could not be sent yet
};

// Plus the index of the peer's slot; smaller values: the channel of the sibling.
constexpr uint8_t VIA_LINK = 0x80;

struct slot_t {
    slot_state_t state;
    uint8_t via;         // next hop, while SLOT_WAITING
    uint16_t tried;      // channels that turned out to have no route
    uint32_t since;      // wall clock at arrival
    uint32_t not_before; // wall clock of the last refusal by the next hop
    uint32_t token;      // identifies the request that was sent on; its answer carries it
    uint32_t epoch;      // of the link, at arrival or at sending
};

enum sent_t { SENT, NO_ROOM, NO_WAY };

// --- relay.cpp ---
routing_cmd_t& command_of(uint32_t slot);
slot_t& slot_at(uint32_t slot);
void begin_request(uint32_t slot);
void release_slot(uint32_t slot);
void give_up_slot(uint32_t slot);  // its answer is not delivered any more
bool slot_active(uint32_t slot);
inline uint32_t buffer_of(uint32_t slot) { return BUFFERS + slot * BUFFER_BYTES; }
inline bool is_block(const routing_cmd_t& command) { return (command.flags & CMD_DATA_BLOCK) != 0; }
inline bool is_read(const routing_cmd_t& command) { return (command.flags & CMD_RD_REQ) != 0; }
// A broadcast may be to any address: its bytes stand in the buffer as in their target, modulo 32.
inline uint32_t payload_shift(const routing_cmd_t& command) {
    return (command.flags & CMD_BROADCAST) != 0 ? command.address_lo & 31 : 0;
}
inline uint32_t whole_words(uint32_t bytes) { return (bytes + 15) & ~15u; }

// --- host_queue.cpp: the queue that the host sees ---
extern routing_cmd_t host_commands[4];
void take_host_requests();
// Returns false if the request goes on, with its next part.
bool finish_host_request(uint32_t slot, uint32_t data, uint32_t flags);

// --- host_memory.cpp: requests whose block stands in host memory, and broadcasts ---
enum part_t { PARTS_DONE, PART_BEGUN, PART_FAILED };
// Begins the first part of a request that has such a block.
void begin_host_block(uint32_t slot);
bool has_host_block(uint32_t slot);
part_t next_part(uint32_t slot);
// Writes a part to the tiles of this chip.
bool broadcast_to_tiles(uint32_t slot);

// --- hop.cpp: to and from the neighbours ---
void take_link_requests();
void take_sibling_requests();
sent_t send_over_link(uint32_t slot);
sent_t send_to_sibling(uint32_t slot, uint32_t channel);
bool send_answer(uint32_t slot);
void release_hop(uint32_t token);
void forget_link_credits();
