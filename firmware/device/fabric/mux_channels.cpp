// The mux's channels: free slots in stream registers, and the clients that open and close them.
#include "adapter_moves.hpp"
#include "mux_moves.hpp"
#include "semaphore/semaphore.hpp"

namespace fabric {

channel_t channels[FABRIC_MUX_MAX_CHANNELS];

namespace {

constexpr uint32_t STREAMS = MESHSCOPE_ETH ? 32 : 64;
constexpr uint32_t TEARDOWN_ID = 9;               // transaction id

uint32_t stream_of(uint32_t channel) { return args.first_stream_id + channel; }

bool fits() {
    const fabric_connection_info_t& router = args.router;
    bool counts = args.num_full_size_channels != 0 &&
                  args.num_full_size_channels <= FABRIC_MUX_MAX_CHANNELS &&
                  args.num_buffers_full_size_channel != 0 && router.num_buffers_per_channel != 0;
    bool sizes = args.channel_buffer_size == router.buffer_size_bytes &&
                 args.channel_buffer_size % 16 == 0 &&
                 args.packet_header_bytes <= args.channel_buffer_size &&
                 (args.packet_header_bytes == sizeof(LowLatencyPacketHeader) ||
                  args.packet_header_bytes == sizeof(HybridMeshPacketHeader));
    bool places = args.words_address % 16 == 0 && args.channels_address % 16 == 0 &&
                  stream_of(args.num_full_size_channels) <= STREAMS;
    return counts && sizes && places;
}

bool tell_counter(const channel_t& channel) {
    bool free =
        client_wait([] { return client_may_send(NOC_BUFFER_REGISTER, CLIENT_WORDS); }, must_leave);
    if (free) {
        noc_start_word_write(CLIENT_NOC, CLIENT_WORDS, channel.client_mid, channel.counter_address,
                             channel.taken);
    }
    return free;
}

uint32_t client_mid(uint32_t channel) {
    const EDMChannelWorkerLocationInfo& client = words().conn_info[channel];
    return noc_mid(client.worker_x, client.worker_y);
}

// The next client may write the words as soon as the answer is in flight.
bool close_client(uint32_t channel) {
    bool free = client_wait(
        [] {
            return client_may_send(NOC_BUFFER_ATOMIC, TEARDOWN_ID) &&
                   !niu_busy(CLIENT_NOC, NOC_BUFFER_WRITE);
        },
        must_leave);
    if (!free) {
        return false;
    }
    uint32_t mid = client_mid(channel),
             address = words().conn_info[channel].worker_teardown_semaphore_address;
    words().conn_semaphore[channel].value = UNUSED_CONNECTION;
    channels[channel].client_mid = 0;
    state.channels[channel].connected = 0;
    state.channels[channel].closes = state.channels[channel].closes + 1;
    semaphore_increment(CLIENT_NOC, TEARDOWN_ID, mid, address, 1);
    return true;
}

}  // namespace

bool next() { return begin_stage(state.control, rest_and_look) && !must_leave(); }

uint32_t next_slot(uint32_t channel) {
    return channels[channel].first_slot + channels[channel].slot * args.channel_buffer_size;
}

uint32_t packet_bytes(uint32_t slot) {
    static_assert(offsetof(HybridMeshPacketHeader, payload_size_bytes) ==
                  offsetof(LowLatencyPacketHeader, payload_size_bytes));
    const auto* header = reinterpret_cast<const LowLatencyPacketHeader*>(slot);
    uint32_t bytes = args.packet_header_bytes;
    if (header->noc_send_type != NOC_UNICAST_INLINE_WRITE &&
        header->noc_send_type != NOC_UNICAST_ATOMIC_INC) {
        bytes += header->payload_size_bytes;
    }
    return bytes < args.channel_buffer_size ? bytes : args.channel_buffer_size;
}

bool set_up() {
    uint32_t address = runtime_args_address(MESHSCOPE_ETH ? ACTIVE_ETH : TENSIX, 0);
    if (address == 0) {
        return false;
    }
    args = *reinterpret_cast<const fabric_mux_args_t*>(address);
    if (args.pause_at_stage != 0) {
        state.control.pause_at_stage = args.pause_at_stage - 1;
    }
    if (args.words_address % 16 != 0 || args.words_address == 0) {
        return false;
    }
    if (!fits()) {
        words().status = REFUSED;
        return false;
    }
    state.router.connection = args.router;
    state.router.words_address = args.words_address + offsetof(fabric_mux_words_t, router_client);
    for (uint32_t channel = 0; channel < args.num_full_size_channels; ++channel) {
        uint32_t slots = args.num_buffers_full_size_channel;
        channels[channel] = {
            .free_slots = &word_at(stream_register(stream_of(channel), STREAM_VALUE)),
            .connection = &words().conn_semaphore[channel].value,
            .first_slot = args.channels_address + channel * slots * args.channel_buffer_size};
        words().conn_info[channel].edm_read_counter = 0;
        words().conn_semaphore[channel].value = UNUSED_CONNECTION;
        words().buffer_index[channel].write_counter = 0;
        words().buffer_index[channel].write_index = 0;
        stream_preset(stream_of(channel), slots);
    }
    words().status = STARTED;
    return true;
}

void pass_slot(uint32_t channel) {
    channel_t& place = channels[channel];
    place.slot = place.slot + 1 == args.num_buffers_full_size_channel ? 0 : place.slot + 1;
    ++place.under_way;
}

bool free_slot(uint32_t channel) {
    channel_t& place = channels[channel];
    --place.under_way;
    ++place.taken;
    stream_add(stream_of(channel), 1);
    words().conn_info[channel].edm_read_counter = place.taken;
    state.channels[channel].packets_forwarded = place.taken;
    state.channels[channel].last_progress = wall_clock();
    return place.client_mid == 0 || tell_counter(place);
}

// A new client may have read the counter before the last packet of its predecessor left.
bool answer_client(uint32_t channel) {
    uint32_t wish = words().conn_semaphore[channel].value;
    if (wish == CLOSE_CONNECTION_REQUEST) {
        return next() && close_client(channel);
    }
    channel_t& place = channels[channel];
    if (wish == OPEN_CONNECTION && place.client_mid == 0) {
        place.client_mid = client_mid(channel);
        place.counter_address = words().conn_info[channel].worker_semaphore_address;
        state.channels[channel].connected = 1;
        return tell_counter(place);
    }
    return true;
}

}  // namespace fabric
