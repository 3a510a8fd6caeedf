// Slots of a channel, and each side's position in them. Slot counts are template arguments: a
// debugger finds them in the names of the types.
#pragma once
#include "args.hpp"
#include "packet.hpp"

// A number below LIMIT that wraps around.
template <uint32_t LIMIT>
class BufferIndex {
public:
    static constexpr uint32_t limit = LIMIT;
    uint32_t get() const { return index; }
    void increment() { index = index + 1 == LIMIT ? 0 : index + 1; }

private:
    uint8_t index = 0;
};

template <typename HEADER_TYPE, uint32_t NUM_BUFFERS>
class EthChannelBuffer {
public:
    static constexpr uint32_t num_buffers = NUM_BUFFERS;
    constexpr explicit EthChannelBuffer(uint32_t base) : base_address(base) {}
    uint32_t get_buffer_address(BufferIndex<NUM_BUFFERS> slot) const {
        return base_address + slot.get() * CHANNEL_BUFFER_SIZE;
    }
    volatile HEADER_TYPE* get_packet_header(BufferIndex<NUM_BUFFERS> slot) const {
        return reinterpret_cast<volatile HEADER_TYPE*>(get_buffer_address(slot));
    }

private:
    uint32_t base_address;
};

// The address at which a worker or an upstream router receives its free slots.
struct EDMChannelWorkerLocationInfo {
    uint32_t worker_semaphore_address;
    uint32_t align_pad_0[3];
    uint32_t worker_teardown_semaphore_address;
    uint32_t align_pad_1[3];
    struct {
        uint16_t x, y;
    } worker_xy;
    uint32_t align_pad_2[3];
    uint32_t edm_read_counter;
    uint32_t align_pad_3[3];
};
static_assert(sizeof(EDMChannelWorkerLocationInfo) == 64);

template <uint32_t CHANNEL>
struct SenderChannel : EthChannelBuffer<PACKET_HEADER_TYPE, SENDER_NUM_BUFFERS_ARRAY[CHANNEL]> {
    static constexpr uint32_t channel = CHANNEL;
    static constexpr uint32_t slots = SENDER_NUM_BUFFERS_ARRAY[CHANNEL];
    static constexpr uint32_t free_slots_stream_id = sender_free_slots_stream_ids[CHANNEL];
    static constexpr uint32_t completed_stream_id = to_sender_packets_completed_streams[CHANNEL];
    constexpr SenderChannel()
        : EthChannelBuffer<PACKET_HEADER_TYPE, slots>(sender_channel_address(CHANNEL)) {}

    BufferIndex<slots> next_to_send;
    uint32_t packets_sent = 0;
    uint32_t packets_completed = 0;
};

// The sender's view of the peer's receiver channel.
template <uint32_t RECEIVER_NUM_BUFFERS>
struct OutboundReceiverChannelPointers {
    uint32_t num_free_slots = RECEIVER_NUM_BUFFERS;
    BufferIndex<RECEIVER_NUM_BUFFERS> remote_receiver_buffer_index;
    bool has_space_for_packet() const { return num_free_slots != 0; }
};

// A receiver's slots are written on, then flushed, then completed, in order.
template <uint32_t RECEIVER_NUM_BUFFERS>
struct ReceiverChannelPointers {
    BufferIndex<RECEIVER_NUM_BUFFERS> wr_sent;
    BufferIndex<RECEIVER_NUM_BUFFERS> completion;
    uint32_t unflushed = 0;
    uint8_t src_channel_ids[RECEIVER_NUM_BUFFERS] = {};
};

// Each packet on the NoC has one of these ids until its writes are acknowledged.
template <uint32_t FIRST_ID, uint32_t IDS>
struct WriteTransactionIdTracker {
    static_assert((IDS & (IDS - 1)) == 0 && FIRST_ID + IDS <= 16);
    uint32_t used = 0;
    uint32_t flushed = 0;
    bool backpressured() const { return used - flushed == IDS; }
    uint32_t next() { return FIRST_ID + (used++ & (IDS - 1)); }
    uint32_t oldest() const { return FIRST_ID + (flushed & (IDS - 1)); }
};

// Private credit state of this core, readable by a debugger.
struct router_state_t {
    uint32_t magic;
    router_args_t args;
    SenderChannel<0> sender_0;
    SenderChannel<1> sender_1;
    OutboundReceiverChannelPointers<RECEIVER_NUM_BUFFERS_ARRAY[0]> outbound;
    EthChannelBuffer<PACKET_HEADER_TYPE, RECEIVER_NUM_BUFFERS_ARRAY[0]> receiver;
    ReceiverChannelPointers<RECEIVER_NUM_BUFFERS_ARRAY[0]> received;
    WriteTransactionIdTracker<4, 4> transactions;
    BufferIndex<SENDER_NUM_BUFFERS_ARRAY[1]> downstream_slot;
    uint32_t iterations;
};
extern "C" router_state_t router_state;
