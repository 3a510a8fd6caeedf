// The worker's side of its channels and of its partner: semaphores, packets with their sync words.
#include "common/eth_sync.hpp"
#include "edm/edm.hpp"
#include "worker_moves.hpp"

namespace ccl {
namespace {

constexpr uint32_t SEMAPHORES = 3;
uint32_t taken_of[SEMAPHORES];
uint32_t last_inbound, last_outbound;             // numbers of the last packets

uint32_t addresses[SEMAPHORES];

uint32_t mid_of(uint32_t xy) { return noc_mid(xy & 0xFFFF, xy >> 16); }

bool increment(uint32_t mid, uint32_t address, uint32_t value) {
    bool free = wait_until([] {
        return !niu_busy(NOC, NOC_BUFFER_WRITE) && !niu_busy(NOC, NOC_BUFFER_ATOMIC) &&
               noc_outstanding(NOC, ATOMIC_ID) < MAX_OUTSTANDING;
    });
    if (free) {
        semaphore_increment(NOC, ATOMIC_ID, mid, address, value);
    }
    return free;
}

bool increment_edm(const ccl_channel_t& channel, bool last) {
    uint32_t signal = channel.worker_initiated != 0 && last ? NEXT_MESSAGE_IS_LAST
                                                            : NEXT_MESSAGE_AVAILABLE;
    return increment(mid_of(channel.edm_xy), channel.edm_semaphore_address, signal);
}

bool shared(const ccl_channel_t& channel) { return channel.sharing_mode == SHARED; }

// Returns the number of this worker's packet in the channel.
uint32_t message_number(const ccl_channel_t& channel, uint32_t packet) {
    return channel.sharing_mode == ROUND_ROBIN ? packet * channel.workers + channel.worker : packet;
}

// If several workers share a buffer, the part of the last one ends with the sync word. Over the
// fabric there is none: the payload of a message is as long as the packet.
bool has_sync(const ccl_channel_t& channel) {
    return channel.over_fabric == 0 && (!shared(channel) || channel.worker + 1 == channel.workers);
}

uint32_t message_bytes(const ccl_channel_t& channel, uint32_t bytes) {
    return shared(channel) ? bytes * channel.workers : bytes;
}

// Returns the address of this worker's packet in the buffer of the message.
tile_t place_of(const ccl_channel_t& channel, uint32_t packet, uint32_t bytes) {
    uint32_t number = message_number(channel, packet);
    uint32_t buffer = channel.buffers_address +
                      number % channel.buffers * (channel.buffer_bytes + SYNC_BYTES);
    uint32_t part = shared(channel) ? channel.worker * bytes : 0;
    return {mid_of(channel.edm_xy),
            buffer + channel.buffer_bytes - message_bytes(channel, bytes) + part};
}

eth_channel_sync_t& sync_of(uint32_t area, uint32_t bytes) {
    return *reinterpret_cast<eth_channel_sync_t*>(area + bytes);
}

}  // namespace

uint32_t& taken(uint32_t semaphore) { return taken_of[semaphore]; }

bool available(uint32_t semaphore) {
    return semaphore_at(addresses[semaphore]) != taken_of[semaphore];
}

uint32_t semaphore_place(uint32_t number) {
    return launched().kernel_config_base[TENSIX] + launched().sem_offset[TENSIX] +
           number * SEMAPHORE_BYTES;
}

void find_semaphores() {
    uint32_t numbers[SEMAPHORES] = {CCL_SEMAPHORE_INBOUND, CCL_SEMAPHORE_OUTBOUND,
                                    CCL_SEMAPHORE_SIGNAL};
    if (args.inbound.used != 0) {
        numbers[CCL_SEMAPHORE_INBOUND] = args.inbound.semaphore;
    }
    if (args.outbound.used != 0) {
        numbers[CCL_SEMAPHORE_OUTBOUND] = args.outbound.semaphore;
    }
    for (uint32_t i = 0; i < SEMAPHORES; ++i) {
        addresses[i] = semaphore_place(numbers[i]);
    }
}

void expect_packets(uint32_t inbound, uint32_t outbound) {
    last_inbound = inbound - 1;
    last_outbound = outbound - 1;
}

bool read_channel(uint32_t id, uint32_t to, uint32_t bytes) {
    tile_t from = place_of(args.inbound, taken(CCL_SEMAPHORE_INBOUND), bytes);
    ++taken(CCL_SEMAPHORE_INBOUND);
    return read_bytes(id, from, to, has_sync(args.inbound) ? bytes + SYNC_BYTES : bytes);
}

bool release_channel(uint32_t at, uint32_t bytes) {
    const ccl_channel_t& channel = args.inbound;
    const eth_channel_sync_t& sync = sync_of(at, bytes);
    uint32_t number = state.packets_in;
    if (has_sync(channel) && (sync.bytes_sent != message_bytes(channel, bytes) ||
                              sync.reserved_2 != message_number(channel, number))) {
        state.phase = CCL_REFUSED;  // the two ends of the channel do not match
        return false;
    }
    state.packets_in = number + 1;
    if (channel.over_fabric != 0) {
        return give_credits(1);
    }
    return increment_edm(channel, number == last_inbound);
}

bool write_channel(uint32_t id, uint32_t from, uint32_t bytes) {
    const ccl_channel_t& channel = args.outbound;
    uint32_t number = state.packets_out;
    if (channel.over_fabric != 0) {
        ++taken(CCL_SEMAPHORE_OUTBOUND);
        state.packets_out = number + 1;
        return send_message(id, from, place_of(channel, number, bytes).address, bytes);
    }
    eth_channel_sync_t& sync = sync_of(from, bytes);
    sync.bytes_sent = message_bytes(channel, bytes);
    sync.receiver_ack = 0;
    sync.src_id = 0;
    sync.reserved_2 = message_number(channel, number);
    compiler_barrier();
    ++taken(CCL_SEMAPHORE_OUTBOUND);
    state.packets_out = number + 1;
    return write_bytes(id, from, place_of(channel, number, bytes),
                       has_sync(channel) ? bytes + SYNC_BYTES : bytes) &&
           increment_edm(channel, number == last_outbound);
}

bool signal_partner() {
    state.signals_sent = state.signals_sent + 1;
    return increment(mid_of(args.partner_xy), addresses[CCL_SEMAPHORE_SIGNAL], 1);
}

// Subtracts the used credits instead of clearing: an EDM may be taking back unused ones at the same
// time.
bool settle_semaphores() {
    for (uint32_t i = 0; i < SEMAPHORES; ++i) {
        if (taken(i) != 0 && !increment(noc_own_mid(NOC), addresses[i], -taken(i))) {
            return false;
        }
    }
    return wait_until([] { return noc_outstanding(NOC, ATOMIC_ID) == 0; });
}

}  // namespace ccl
