// The EDM before its first message: arguments, cleared words, and the handshake.
#include "edm_moves.hpp"
#include "handshake/handshake.hpp"

namespace edm {
namespace {

bool channel_fits(const edm_channel_args_t& channel) {
    bool alone = args.buffer_sharing_mode != NOT_SHARED || channel.workers <= 1;
    bool place = channel.workers == 0 || (channel.semaphore_address != 0 &&
                                          channel.semaphore_address % SEMAPHORE_BYTES == 0 &&
                                          channel.worker_semaphore_address % SEMAPHORE_BYTES == 0);
    return alone && place && channel.workers <= EDM_MAX_WORKERS &&
           channel.message_count <= EDM_MESSAGES;
}

bool arguments_fit() {
    bool counts = args.run_id != 0 && args.channels != 0 && args.channels <= EDM_MAX_CHANNELS &&
                  args.buffers_per_channel != 0 && args.buffers_per_channel <= EDM_MAX_BUFFERS;
    bool modes = args.buffer_sharing_mode <= SHARED && args.termination_mode <= WORKER_INITIATED;
    bool size = args.buffer_bytes != 0 && args.buffer_bytes % 32 == 0 &&
                args.buffer_bytes < EDM_BUFFERS_END;
    if (!counts || !modes || !size) {
        return false;
    }
    uint32_t bytes = args.channels * args.buffers_per_channel * stride();
    bool room = args.buffers_address >= EDM_BUFFERS && args.buffers_address < EDM_BUFFERS_END &&
                args.buffers_address % 16 == 0 && bytes <= EDM_BUFFERS_END - args.buffers_address;
    for (uint32_t i = 0; room && i < args.channels; ++i) {
        room = channel_fits(args.channel[i]);
    }
    return room;
}

void clear(eth_channel_sync_t& sync) { fill_sync(sync, 0, 0, 0, 0); }

cursor_t first_message(uint32_t index) {
    uint32_t tail = args.buffers_address + index * args.buffers_per_channel * stride() +
                    args.buffer_bytes;
    return {.tail = reinterpret_cast<eth_channel_sync_t*>(tail),
            .words = words->credits[index],
            .buffer = 0,
            .turn = 0,
            .round = 0};
}

// The workers signal only buffers that the EDM has offered, so clearing their semaphores here loses
// nothing.
void open(channel_t& channel, uint32_t index) {
    const edm_channel_args_t& mine = args.channel[index];
    cursor_t first = first_message(index);
    channel = {
        .args = &mine,
        .state = &state.channels[index],
        .place = &eth_channel_places.channels[index],
        .index = index,
        .turns = args.buffer_sharing_mode == ROUND_ROBIN && mine.workers != 0 ? mine.workers : 1,
        .together = args.buffer_sharing_mode == SHARED ? mine.workers : 1,
        .first = first,
        .head = first,
        .acked = first,
        .tail = first,
        .credit = first};
    for (uint32_t buffer = 0; buffer < args.buffers_per_channel; ++buffer) {
        clear(*channel.head.words);
        clear(*channel.head.tail);
        advance(channel, channel.head);
    }
    channel.head = first;
    for (uint32_t worker = 0; worker < mine.workers; ++worker) {
        semaphore_at(mine.semaphore_address + worker * SEMAPHORE_BYTES) = 0;
    }
    channel.place->role = mine.is_sender != 0 ? ETH_CHANNEL_SENDER : ETH_CHANNEL_RECEIVER;
    channel.place->buffer_bytes = args.buffer_bytes;
    show(channel);
    if (mine.workers == 0 && mine.is_sender != 0) {
        make_messages(channel);
    }
}

uint32_t mix(uint32_t hash, uint32_t word) { return (hash ^ word) * 0x01000193u; }

// Returns a hash on which both ends must agree. `sender` is the end that began the handshake.
uint32_t fingerprint(bool sender) {
    uint32_t hash = mix(mix(mix(args.channels, args.buffers_per_channel), args.buffer_bytes),
                        args.buffers_address);
    for (uint32_t i = 0; i < args.channels; ++i) {
        bool out = (args.channel[i].is_sender != 0) == sender;
        hash = mix(mix(hash, out),
                   args.termination_mode == WORKER_INITIATED ? 0 : args.channel[i].message_count);
    }
    return mix(hash, args.termination_mode);
}

}  // namespace

bool set_up() {
    uint32_t address = runtime_args_address(ACTIVE_ETH, 0);
    if (address == 0) {
        return false;
    }
    args = *reinterpret_cast<const edm_args_t*>(address);
    if (args.pause_at_stage != 0) {
        state.control.pause_at_stage = args.pause_at_stage - 1;
    }
    if (!arguments_fit()) {
        return false;
    }
    for (uint32_t i = 0; i < args.channels; ++i) {
        open(channels[i], i);
    }
    return true;
}

bool shake_hands() {
    auto wait = [](auto condition) { return wait_until(condition); };
    auto next = [] { return begin_stage(state.control, yield_to_base_firmware); };
    bool offers = args.handshake_sender != 0;
    uint32_t mark = fingerprint(offers);
    handshake_t shaken = offers ? handshake_offer(args.run_id, mark, wait, next)
                                : handshake_answer(args.run_id, mark, wait, next);
    if (shaken == HANDSHAKE_NOT_ALIKE) {
        state.phase = EDM_REFUSED;
    }
    return shaken == HANDSHAKE_READY;
}

}  // namespace edm
