// Transfers between neighbours: over the link to the peer's slots, over the NoC to a sibling's, and
// the answers back.
#include "relay.hpp"

uint32_t last_doorbell;

namespace {

uint32_t link_credits_out;      // bit per slot of the peer that holds a request of this tile
uint32_t sibling_credits_out;   // bit per sibling
uint32_t token_count;

uint32_t address_of(const volatile void* object) { return reinterpret_cast<uint32_t>(object); }

// The copy that is sent. It stays unchanged until the answer arrives: the transmit queue may read
// it late.
routing_cmd_t& prepare(uint32_t slot, uint8_t via, uint16_t sequence) {
    routing_cmd_t& leaving = queues->leaving[slot];
    slot_t& state = slot_at(slot);
    token_count = (token_count + 1) & 0xFFFF;
    state.via = via;
    state.epoch = link_epoch();
    state.token = (state.epoch & 0xFF) << 24 | token_count << 8 | via;
    leaving = command_of(slot);
    leaving.reply_slot = slot;
    leaving.token = state.token;
    leaving.sequence = sequence;
    if (queues->answers_in[slot].flags != 0) {
        release_hop(queues->answers_in[slot].token);  // the late answer to a request that timed out
        queues->answers_in[slot].flags = 0;
    }
    return leaving;
}

// Bytes of data that a request carries, or that its answer carries.
uint32_t block_bytes(const routing_cmd_t& command, bool reading) {
    bool carried = is_block(command) && is_read(command) == reading;
    return carried ? whole_words(command.data + payload_shift(command)) : 0;
}

}  // namespace

// The peer numbers its requests: an entry is new if it carries the number expected in its place.
void take_link_requests() {
    eth_queue_t& queue = queues->peer_in_queue;
    for (;;) {
        uint32_t index = queue.rd_index & 7;
        if (queue.entries[index & 3].sequence != index + 1) {
            return;
        }
        queue.wr_index = (index + 1) & 7;
        queue.rd_index = (index + 1) & 7;
        begin_request(LINK_SLOT + (index & 3));
    }
}

void take_sibling_requests() {
    uint32_t doorbell = queues->doorbell;
    if (doorbell == last_doorbell) {
        return;
    }
    last_doorbell = doorbell;
    for (uint32_t channel = 0; channel < 16; ++channel) {
        if (queues->sibling_in[channel].sequence != 0) {
            queues->sibling_in[channel].sequence = 0;
            begin_request(SIBLING_SLOT + channel);
        }
    }
}

sent_t send_over_link(uint32_t slot) {
    eth_queue_t& queue = queues->peer_out_queue;
    uint32_t index = queue.wr_index & 7, place = index & 3;
    if (!link_serves()) {
        return NO_WAY;
    }
    if ((link_credits_out >> place & 1) != 0) {
        return NO_ROOM;
    }
    routing_cmd_t& leaving = prepare(slot, VIA_LINK | place, index + 1);
    uint32_t bytes = block_bytes(leaving, false);
    if (bytes != 0 && !link_write(buffer_of(slot), buffer_of(LINK_SLOT + place), bytes)) {
        return NO_ROOM;
    }
    if (!link_write(address_of(&leaving), address_of(&queues->peer_in_queue.entries[place]),
                    sizeof(leaving))) {
        return NO_ROOM;
    }
    queue.wr_index = (index + 1) & 7;
    link_credits_out |= 1u << place;
    return SENT;
}

sent_t send_to_sibling(uint32_t slot, uint32_t channel) {
    if ((sibling_credits_out >> channel & 1) != 0) {
        return NO_ROOM;
    }
    uint32_t own = boot_params->own_channel & 15;
    routing_cmd_t& leaving = prepare(slot, channel, 1);
    uint32_t bytes = block_bytes(leaving, false);
    bool written = bytes == 0 ||
                   access_write(sibling_target(channel, buffer_of(SIBLING_SLOT + own)),
                                buffer_of(slot), bytes);
    uint32_t entry = address_of(&queues->sibling_in[own]);
    if (!written ||
        !access_write(sibling_target(channel, entry), address_of(&leaving), sizeof(leaving)) ||
        !access_increment(sibling_target(channel, address_of(&queues->doorbell)))) {
        return NO_WAY;
    }
    sibling_credits_out |= 1u << channel;
    return SENT;
}

// Returns false if the answer must be tried again later.
bool send_answer(uint32_t slot) {
    const routing_cmd_t& command = command_of(slot);
    const answer_t& answer = queues->answers_out[slot];
    if (command.reply_slot >= SLOTS) {
        return true;  // no request waits at this slot
    }
    bool failed = (answer.flags & (CMD_DATA_BLOCK_UNAVAILABLE | CMD_DEST_UNREACHABLE)) != 0;
    uint32_t bytes = failed ? 0 : block_bytes(command, true);
    uint32_t data_place = buffer_of(command.reply_slot),
             answer_place = address_of(&queues->answers_in[command.reply_slot]);
    if (slot >= SIBLING_SLOT) {
        uint32_t channel = slot - SIBLING_SLOT;
        if (bytes == 0 ||
            access_write(sibling_target(channel, data_place), buffer_of(slot), bytes)) {
            access_write(sibling_target(channel, answer_place), address_of(&answer),
                         sizeof(answer));
        }
        return true;  // a sibling that takes no writes is lost
    }
    if (slot_at(slot).epoch != link_epoch() && !link_is_up()) {
        return true;  // the peer is lost, and its request with it
    }
    return link_is_up() && (bytes == 0 || link_write(buffer_of(slot), data_place, bytes)) &&
           link_write(address_of(&answer), answer_place, sizeof(answer));
}

// Frees the slot at the next hop that answered the request of this token.
void release_hop(uint32_t token) {
    uint8_t via = token & 0xFF;
    if ((via & VIA_LINK) == 0) {
        sibling_credits_out &= ~(1u << (via & 15));
    } else if (token >> 24 == (link_epoch() & 0xFF)) {
        link_credits_out &= ~(1u << (via & 3));
    }
}

void forget_link_credits() { link_credits_out = 0; }

// A copy that waited in the transmit queue of a lost link may have left with the bytes of a later
// request. The peer would then wait for a number that is never sent.
void restart_link_queues() {
    forget_link_credits();
    queues->peer_out_queue.wr_index = 0;
    eth_queue_t& queue = queues->peer_in_queue;
    queue.wr_index = 0;
    queue.rd_index = 0;
    for (uint32_t place = 0; place < 4; ++place) {
        queue.entries[place].sequence = 0;
        give_up_slot(LINK_SLOT + place);  // its answer would be delivered to another request
    }
}
