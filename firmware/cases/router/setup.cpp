// Before and after the loop: handshake with the peer, initial credits, the status word.
#include "setup.hpp"

#include "common/mailbox.hpp"
#include "streams.hpp"

namespace {

constexpr uint32_t MAGIC_HANDSHAKE_VALUE = 0xAA;
constexpr uint32_t HANDSHAKE_PASSES_PER_YIELD = 4096;

// Both ends have these two words; the peer writes into the first from its own second.
struct handshake_info_t {
    volatile uint32_t local_value;
    uint16_t neighbor_mesh_id;
    uint8_t neighbor_device_id;
    uint8_t reserved[9];
    volatile uint32_t scratch[4];
};
static_assert(sizeof(handshake_info_t) == 32);

handshake_info_t& handshake() { return *reinterpret_cast<handshake_info_t*>(handshake_addr); }

void send_magic() {
    handshake().scratch[0] = MAGIC_HANDSHAKE_VALUE;
    wait_for_txq();
    txq_write(reinterpret_cast<uint32_t>(&handshake().scratch), handshake_addr, 16);
}

}  // namespace

void set_status(EDMStatus status) { word_at(edm_status_ptr_addr) = status; }

bool must_terminate() {
    return word_at(termination_signal_addr) != KEEP_RUNNING || launched().exit_erisc_kernel != 0;
}

bool shake_hands(bool initiator) {
    for (uint32_t pass = 0; handshake().local_value != MAGIC_HANDSHAKE_VALUE; ++pass) {
        if (must_terminate()) {
            return false;
        }
        if (pass % HANDSHAKE_PASSES_PER_YIELD == 0) {
            if (initiator) {
                send_magic();
            }
            yield_to_base_firmware();
        }
    }
    if (!initiator) {
        send_magic();
    }
    return true;
}

void preset_credits(const router_args_t& args) {
    init_ptr_val<sender_channel_0_free_slots_stream_id>(SENDER_NUM_BUFFERS_ARRAY[0]);
    init_ptr_val<sender_channel_1_free_slots_stream_id>(SENDER_NUM_BUFFERS_ARRAY[1]);
    init_ptr_val<to_receiver_0_pkts_sent_id>(0);
    init_ptr_val<to_sender_0_pkts_completed_id>(0);
    init_ptr_val<to_sender_1_pkts_completed_id>(0);
    init_ptr_val<vc_0_free_slots_from_downstream_edge_1_stream_id>(args.downstream_slots);
}

bool read_arguments(router_args_t& args) {
    uint32_t address = runtime_args_address(ACTIVE_ETH, PROCESSOR_INDEX);
    if (address == 0) {
        return false;
    }
    const auto* words = reinterpret_cast<const volatile uint32_t*>(address);
    args = {words[0], words[1], words[2], words[3]};
    return true;
}
