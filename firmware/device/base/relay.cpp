// The relay: takes the next step of each request in this tile. A request for this chip runs on the
// local NoC. Any other is sent over this tile's link or to a sibling whose link leads one hop
// closer, and its answer is passed back.
#include "relay.hpp"

uint32_t relay_active;  // bit per slot that is not free
// Bit per slot whose request timed out; a late answer may still return a credit.
uint32_t relay_lost;

namespace {

constexpr uint32_t HOST_DEADLINE_CYCLES = 1000000;   // 1 ms; then the host gets an error
// Shorter, so that the hop next to the failure reports the error.
constexpr uint32_t TRANSIT_DEADLINE_CYCLES = 400000;
constexpr uint32_t TRANSIT_ROOM_CYCLES = 20000;  // longest wait of a request in transit for room
constexpr uint32_t RETRY_CYCLES = 2000;              // after the next hop had no room
constexpr uint32_t ERRORS = CMD_DATA_BLOCK_UNAVAILABLE | CMD_DEST_UNREACHABLE;

slot_t slots[SLOTS];
uint32_t seen_epoch;

bool is_host(uint32_t slot) { return slot < LINK_SLOT; }

bool is_for_this_chip(const routing_cmd_t& command) {
    uint32_t xy = (command.address_hi >> 16 & 0x3F) | (command.address_hi >> 22 & 0x3F) << 8;
    return boot_params->own_coordinate == (command.rack | command.shelf << 8 | xy << 16);
}

uint32_t channels_towards(const routing_cmd_t& command) {
    uint32_t x = command.address_hi >> 16 & 0x3F, y = command.address_hi >> 22 & 0x3F;
    for (uint32_t i = 0;
         i < routing_table.count && i < sizeof(routing_table.routes) / sizeof(route_t); ++i) {
        const volatile route_t& route = routing_table.routes[i];
        if (route.x == x && route.y == y && route.rack == command.rack &&
            route.shelf == command.shelf) {
            return route.channels;
        }
    }
    return 0;
}

// Ends a request: returns it to the host or to the previous hop. Errors keep the bits of the
// response they replace.
void answer(uint32_t slot, uint32_t data, uint32_t errors) {
    const routing_cmd_t& command = command_of(slot);
    uint32_t flags = errors | (is_read(command) ? CMD_RD_DATA : CMD_WR_ACK) |
                     (command.flags & CMD_DATA_BLOCK);
    if (is_host(slot)) {
        if (finish_host_request(slot, data, flags)) {
            release_slot(slot);
        }
        return;
    }
    queues->answers_out[slot] = {data, flags, command.token, 0};
    slots[slot].state = SLOT_ANSWERING;
}

// --- this chip ---

bool is_well_formed(const routing_cmd_t& command) {
    if (!is_block(command)) {
        return (command.address_lo & 3) == 0;
    }
    bool aligned = (command.address_lo & 31) == 0 || payload_shift(command) != 0;
    return aligned && command.data != 0 && (command.data & 3) == 0 &&
           command.data <= BUFFER_BYTES - payload_shift(command);
}

void execute(uint32_t slot) {
    const routing_cmd_t& command = command_of(slot);
    if ((command.flags & CMD_BROADCAST) != 0) {
        answer(slot, command.data, broadcast_to_tiles(slot) ? 0 : CMD_DEST_UNREACHABLE);
        return;
    }
    noc_target_t target = {(command.flags & CMD_USE_NOC1) != 0 ? 1u : 0u,
                           command.address_hi & 0xFFFF, command.address_lo};
    // The NoC requires both ends to be equal modulo 32 for reads of DRAM, modulo 16 between L1s.
    volatile uint32_t& word = queues->scratch[(command.address_lo & 31) / 4];
    uint32_t local = is_block(command) ? buffer_of(slot) : reinterpret_cast<uint32_t>(&word);
    uint32_t bytes = is_block(command) ? command.data : 4;
    bool done;
    if (is_read(command)) {
        done = access_read(target, local, bytes);
    } else {
        if (!is_block(command)) {
            word = command.data;
        }
        done = access_write(target, local, bytes);
    }
    uint32_t data = is_read(command) && !is_block(command) ? word : command.data;
    answer(slot, data, done ? 0 : CMD_DEST_UNREACHABLE);
}

// --- other chips ---

uint32_t patience(uint32_t slot) {
    return is_host(slot) ? HOST_DEADLINE_CYCLES : TRANSIT_ROOM_CYCLES;
}

// This tile's link first, then the sibling with the next higher channel, so that the load spreads.
uint32_t choose(uint32_t channels) {
    uint32_t own = boot_params->own_channel & 15;
    for (uint32_t i = 0; i < 16; ++i) {
        uint32_t channel = (own + i) & 15;
        if ((channels >> channel & 1) != 0) {
            return channel;
        }
    }
    return own;
}

void send_on(uint32_t slot) {
    slot_t& state = slots[slot];
    uint32_t own = boot_params->own_channel & 15;
    uint32_t channels = channels_towards(command_of(slot)) & ~state.tried;
    if (boot_params->present_channels != 0) {
        channels &= boot_params->present_channels;
    }
    if (slot >= SIBLING_SLOT) {
        channels &= 1u << own;  // a sibling's request leaves by this link, or it could circulate
    }
    if (channels == 0) {
        answer(slot, 0, CMD_DEST_UNREACHABLE | CMD_NOT_STARTED);
        return;
    }
    uint32_t channel = choose(channels);
    switch (channel == own ? send_over_link(slot) : send_to_sibling(slot, channel)) {
        case SENT: state.state = SLOT_WAITING; break;
        case NO_WAY: state.tried |= 1u << channel; break;
        case NO_ROOM:
            if (wall_clock() - state.since >= patience(slot)) {
                answer(slot, 0, CMD_DATA_BLOCK_UNAVAILABLE | CMD_NOT_STARTED);
            }
            break;
    }
}

void start(uint32_t slot) {
    const routing_cmd_t& command = command_of(slot);
    slot_t& state = slots[slot];
    if ((command.flags & CMD_DATA_BLOCK_DRAM) != 0) {
        answer(slot, 0, CMD_DATA_BLOCK_UNAVAILABLE);  // its first part could not be begun
    } else if (!is_well_formed(command)) {
        answer(slot, 0, CMD_DEST_UNREACHABLE);
    } else if (is_for_this_chip(command)) {
        execute(slot);
    } else if (state.not_before == 0 || wall_clock() - state.not_before >= RETRY_CYCLES) {
        send_on(slot);
    }
}

// The next hop did nothing: if it has no route, tries another channel; if it has no room, tries the
// same one later.
void retry(uint32_t slot, uint32_t flags) {
    slot_t& state = slots[slot];
    state.state = SLOT_READY;
    if ((flags & CMD_DEST_UNREACHABLE) != 0) {
        uint32_t own = boot_params->own_channel & 15;
        state.tried |= 1u << ((state.via & VIA_LINK) != 0 ? own : state.via);
    } else if (wall_clock() - state.since >= patience(slot)) {
        answer(slot, 0, CMD_DATA_BLOCK_UNAVAILABLE | CMD_NOT_STARTED);
    } else {
        state.not_before = wall_clock() | 1;
    }
}

void await(uint32_t slot) {
    slot_t& state = slots[slot];
    answer_t& here = queues->answers_in[slot];
    uint32_t flags = here.flags;
    if (flags != 0) {
        release_hop(here.token);
        here.flags = 0;
        if (here.token != state.token) {
            return;  // the late answer to a request that timed out
        }
        if ((flags & CMD_NOT_STARTED) != 0) {
            retry(slot, flags);
        } else {
            answer(slot, here.data, flags & ERRORS);
        }
        return;
    }
    bool gone = (state.via & VIA_LINK) != 0 && state.epoch != link_epoch();
    uint32_t deadline = is_host(slot) ? HOST_DEADLINE_CYCLES : TRANSIT_DEADLINE_CYCLES;
    if (gone || wall_clock() - state.since >= deadline) {
        relay_lost |= 1u << slot;
        answer(slot, 0, CMD_DEST_UNREACHABLE);
    }
}

void collect_late_answers() {
    for (uint32_t slot = 0; slot < SLOTS; ++slot) {
        answer_t& here = queues->answers_in[slot];
        if ((relay_lost >> slot & 1) != 0 && slots[slot].state != SLOT_WAITING && here.flags != 0) {
            release_hop(here.token);
            here.flags = 0;
            relay_lost &= ~(1u << slot);
        }
    }
}

void step(uint32_t slot) {
    if (slots[slot].state == SLOT_READY) {
        start(slot);
    } else if (slots[slot].state == SLOT_WAITING) {
        await(slot);
    }
    if (slots[slot].state == SLOT_ANSWERING && send_answer(slot)) {
        release_slot(slot);
    }
}

}  // namespace

routing_cmd_t& command_of(uint32_t slot) {
    return slot < LINK_SLOT      ? host_commands[slot]
           : slot < SIBLING_SLOT ? queues->peer_in_queue.entries[slot - LINK_SLOT]
                                 : queues->sibling_in[slot - SIBLING_SLOT];
}

slot_t& slot_at(uint32_t slot) { return slots[slot]; }

bool slot_active(uint32_t slot) { return (relay_active >> slot & 1) != 0; }

void begin_request(uint32_t slot) {
    slots[slot] = {.state = SLOT_READY, .since = wall_clock(), .epoch = link_epoch()};
    relay_active |= 1u << slot;
}

void release_slot(uint32_t slot) {
    slots[slot].state = SLOT_FREE;
    relay_active &= ~(1u << slot);
}

void give_up_slot(uint32_t slot) {
    if (slots[slot].state == SLOT_WAITING) {
        relay_lost |= 1u << slot;
    }
    release_slot(slot);
}

void relay_pass() {
    if (seen_epoch != link_epoch()) {
        seen_epoch = link_epoch();
        forget_link_credits();
    }
    take_host_requests();
    take_link_requests();
    take_sibling_requests();
    if (relay_lost != 0) {
        collect_late_answers();
    }
    for (uint32_t slot = 0, active = relay_active; active != 0; ++slot, active >>= 1) {
        if ((active & 1) != 0) {
            step(slot);
        }
    }
}
