// One step of the receiver channel: the oldest packet goes to a core of this chip, to the next
// router, or both. When its writes are acknowledged, the sender of the other chip gets its slot
// back.
#pragma once
#include "sender.hpp"

// The router of this chip that takes forwarded packets.
class EdmToEdmSender {
public:
    explicit EdmToEdmSender(router_state_t& of) : state(of) {}
    bool exists() const { return state.args.downstream_noc_xy != 0; }
    bool edm_has_space_for_packet() const {
        return get_ptr_val<vc_0_free_slots_from_downstream_edge_1_stream_id>() != 0;
    }
    void send_payload_non_blocking_from_address(uint32_t source, uint32_t bytes,
                                                uint32_t transaction) {
        send_payload_from_address_impl(source, bytes, transaction);
        update_edm_buffer_slot();
    }

private:
    void send_payload_from_address_impl(uint32_t source, uint32_t bytes, uint32_t transaction) {
        uint32_t slot = state.args.downstream_buffer_base +
                        state.downstream_slot.get() * CHANNEL_BUFFER_SIZE;
        write_to_chip(transaction, source, state.args.downstream_noc_xy, slot, bytes);
        state.downstream_slot.increment();
    }
    void update_edm_buffer_slot() {
        noc_update_ptr_val<sender_channel_1_free_slots_stream_id>(state.args.downstream_noc_xy, -1);
        increment_local_update_ptr_val<vc_0_free_slots_from_downstream_edge_1_stream_id>(-1);
    }

public:
    static void write_to_chip(uint32_t transaction, uint32_t source, uint32_t mid, uint32_t target,
                              uint32_t bytes) {
        while (niu_busy(NOC, NOC_BUFFER_WRITE)) {
        }
        noc_start_write(NOC, transaction, source, mid, target, bytes);
    }

private:
    router_state_t& state;
};

inline void execute_noc_command(volatile PACKET_HEADER_TYPE* header, uint32_t payload,
                                uint32_t transaction) {
    uint64_t noc_address = header->command_fields.unicast_write.noc_address;
    uint32_t target = static_cast<uint32_t>(noc_address);
    uint32_t mid = static_cast<uint32_t>(noc_address >> 32);
    switch (header->noc_send_type) {
        case NocSendType::NOC_UNICAST_WRITE:
            EdmToEdmSender::write_to_chip(transaction, payload, mid, target,
                                          header->payload_size_bytes);
            break;
        case NocSendType::NOC_UNICAST_INLINE_WRITE:
            write_word_to(transaction, mid, target,
                          header->command_fields.unicast_inline_write.value);
            break;
        default:
            __builtin_trap();  // no sender uses atomics here, and a router must not guess
    }
}

inline bool can_forward_packet_completely(uint32_t action, const EdmToEdmSender& downstream) {
    bool goes_on = (action & LowLatencyRoutingFields::FORWARD_ONLY) != 0;
    return !goes_on || (downstream.exists() && downstream.edm_has_space_for_packet());
}

inline void forward_payload_to_downstream_edm(const volatile PACKET_HEADER_TYPE* header,
                                              uint32_t slot, EdmToEdmSender& downstream,
                                              uint32_t transaction) {
    uint32_t bytes = sizeof(PACKET_HEADER_TYPE) + header->payload_size_bytes;
    downstream.send_payload_non_blocking_from_address(slot, bytes, transaction);
}

inline void receiver_forward_packet(volatile PACKET_HEADER_TYPE* header, uint32_t slot,
                                    EdmToEdmSender& downstream, uint32_t transaction) {
    uint32_t route = header->routing_fields.value;
    uint32_t action = route & LowLatencyRoutingFields::FIELD_MASK;
    header->routing_fields.value = route >> LowLatencyRoutingFields::FIELD_WIDTH;
    if (action & LowLatencyRoutingFields::WRITE_ONLY) {
        execute_noc_command(header, slot + sizeof(PACKET_HEADER_TYPE), transaction);
    }
    if (action & LowLatencyRoutingFields::FORWARD_ONLY) {
        forward_payload_to_downstream_edm(header, slot, downstream, transaction);
    }
}

template <uint32_t SLOTS>
inline void receiver_send_completion_ack(ReceiverChannelPointers<SLOTS>& received) {
    uint32_t source = received.src_channel_ids[received.completion.get()];
    remote_update_ptr_val(to_sender_packets_completed_streams[source], 1);
    received.completion.increment();
    --received.unflushed;
}

template <uint32_t SLOTS>
inline bool run_receiver_channel_step_impl(
    router_state_t& state, const EthChannelBuffer<PACKET_HEADER_TYPE, SLOTS>& channel,
    ReceiverChannelPointers<SLOTS>& received) {
    EdmToEdmSender downstream(state);
    bool progress = false;
    if (get_ptr_val<to_receiver_0_pkts_sent_id>() != 0 && !state.transactions.backpressured()) {
        volatile auto* header = channel.get_packet_header(received.wr_sent);
        if (can_forward_packet_completely(header->routing_fields.value, downstream)) {
            received.src_channel_ids[received.wr_sent.get()] = header->src_ch_id;
            receiver_forward_packet(header, channel.get_buffer_address(received.wr_sent),
                                    downstream, state.transactions.next());
            received.wr_sent.increment();
            ++received.unflushed;
            increment_local_update_ptr_val<to_receiver_0_pkts_sent_id>(-1);
            progress = true;
        }
    }
    if (received.unflushed != 0 && noc_outstanding(NOC, state.transactions.oldest()) == 0 &&
        !txq_busy()) {
        ++state.transactions.flushed;
        receiver_send_completion_ack(received);
        progress = true;
    }
    return progress;
}

inline bool run_receiver_channel_step() {
    return run_receiver_channel_step_impl(router_state, router_state.receiver,
                                          router_state.received);
}
