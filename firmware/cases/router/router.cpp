// A router of a line of chips: two sender channels and one receiver channel over one link. A case
// for readers of debug information: small, but with the names, the memory and the inlining depth of
// a real router.
#include "receiver.hpp"
#include "setup.hpp"

extern "C" {
__attribute__((used)) router_state_t router_state = {
    .magic = 0x46414252,
    .args = {},
    .sender_0 = {},
    .sender_1 = {},
    .outbound = {},
    .receiver = EthChannelBuffer<PACKET_HEADER_TYPE, RECEIVER_NUM_BUFFERS_ARRAY[0]>(
        remote_receiver_0_channel_address),
    .received = {},
    .transactions = {},
    .downstream_slot = {},
    .iterations = 0,
};
}

namespace {

constexpr uint32_t HEARTBEAT = 0x1F80;
constexpr uint32_t HEARTBEAT_OF_A_ROUTER = 0xDCBA0000;
constexpr uint32_t INNER_ITERATIONS = 32;
// So that the chip stays readable while its links are full.
constexpr uint32_t ITERATIONS_PER_YIELD = 64;

template <uint32_t CHANNEL>
auto& sender() {
    if constexpr (CHANNEL == 0) {
        return router_state.sender_0;
    } else {
        return router_state.sender_1;
    }
}

template <uint32_t... CHANNELS>
struct channel_list {};
template <uint32_t COUNT>
using all_channels = channel_list<__integer_pack(COUNT)...>;

template <typename STEP, uint32_t... CHANNELS>
bool for_each_sender(STEP step, channel_list<CHANNELS...>) {
    return (step(sender<CHANNELS>()) | ...);
}

bool run_all_channels() {
    auto step = [](auto& channel) { return run_sender_channel_step(channel); };
    bool sent = for_each_sender(step, all_channels<NUM_SENDER_CHANNELS>());
    return run_receiver_channel_step() | sent;
}

template <uint32_t ITERATIONS>
bool run_inner_loop() {
    bool progress = false;
    for (uint32_t i = 0; i < ITERATIONS; ++i) {
        progress |= run_all_channels();
    }
    return progress;
}

bool nothing_is_on_its_way() {
    return router_state.received.unflushed == 0 &&
           router_state.outbound.num_free_slots == RECEIVER_NUM_BUFFERS_ARRAY[0] && !txq_busy();
}

// Graceful: when every packet has arrived. Immediate: at once.
bool run_fabric_edm_main_loop() {
    for (;;) {
        bool progress = run_inner_loop<INNER_ITERATIONS>();
        uint32_t count = ++router_state.iterations;
        word_at(HEARTBEAT) = HEARTBEAT_OF_A_ROUTER | (count & 0xFFFF);
        if (!progress || count % ITERATIONS_PER_YIELD == 0) {
            yield_to_base_firmware();
        }
        if (__builtin_expect(must_terminate(), 0)) {
            bool immediately = word_at(termination_signal_addr) != GRACEFULLY_TERMINATE;
            if (immediately || (!progress && nothing_is_on_its_way())) {
                return !immediately;
            }
        }
    }
}

}  // namespace

extern "C" void kernel_main() {
    set_status(STARTED);
    if (!read_arguments(router_state.args)) {
        return;
    }
    preset_credits(router_state.args);
    if (!shake_hands(router_state.args.initiates_handshake != 0)) {
        set_status(TERMINATED);
        return;
    }
    set_status(READY_FOR_TRAFFIC);
    run_fabric_edm_main_loop();
    set_status(TERMINATED);
}
