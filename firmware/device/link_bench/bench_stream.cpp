// Both directions at once: every channel sends its next message as soon as the last one is
// completed.
#include "bench_moves.hpp"

namespace bench {
namespace {

struct channel_t {
    eth_channel_sync_t* credit;
    eth_channel_sync_t* arrived;                  // behind the receiving slot
    uint32_t send_slot, receive_slot;
    uint32_t sent, received;
};

channel_t channels[LINK_BENCH_MAX_CHANNELS];

bool take(channel_t& channel, uint32_t index) {
    const auto* message = reinterpret_cast<const volatile uint32_t*>(channel.receive_slot);
    uint32_t last = args.payload_bytes / 4 - 1;
    if (message[0] != channel.received || message[last] != link_bench_pattern(index, last)) {
        mismatch(1);
    }
    channel.arrived->bytes_sent = 0;
    ++channel.received;
    return send_completion(index);
}

bool send_next(channel_t& channel) {
    word_at(channel.send_slot) = channel.sent;
    eth_channel_sync_t& tail = tail_of(channel.send_slot);
    tail.bytes_sent = args.payload_bytes;
    channel.credit->bytes_sent = args.payload_bytes;
    ++channel.sent;
    return send_message(channel.send_slot, channel.receive_slot);
}

}  // namespace

bool stream() {
    WAYPOINT("CMPW");
    for (uint32_t i = 0; i < args.channels; ++i) {
        uint32_t receive = receive_slot(i);
        channels[i] = {.credit = &words->credits[i],
                       .arrived = &tail_of(receive),
                       .send_slot = send_slot(i),
                       .receive_slot = receive};
    }
    uint32_t all = args.rounds * args.channels, received = 0, sent = 0, idle = 0;
    while (received != all || sent != all) {
        uint32_t before = received + sent;
        for (uint32_t i = 0; i < args.channels; ++i) {
            channel_t& channel = channels[i];
            if (channel.arrived->bytes_sent != 0) {
                if (!take(channel, i)) {
                    return false;
                }
                ++received;
            }
            if (channel.credit->bytes_sent == 0 && channel.sent != args.rounds && !txq_busy()) {
                if (!send_next(channel)) {
                    return false;
                }
                ++sent;
            }
        }
        idle = received + sent == before ? idle + 1 : 0;
        if (idle >= args.yield_interval) {
            idle = 0;
            if (must_stop_now(state.control)) {
                return false;
            }
            yield_to_base_firmware();
        }
    }
    state.received = received;
    for (uint32_t i = 0; i < args.channels; ++i) {
        if (!wait_until([=] { return channels[i].credit->bytes_sent == 0; })) {
            return false;
        }
    }
    state.rounds = sent;
    return true;
}

}  // namespace bench
