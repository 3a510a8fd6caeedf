// Interfaces between the parts of the worker: packets in flight, addresses of pages, and the NoC.
#pragma once
#include "semaphore/semaphore.hpp"
#include "worker.hpp"

extern "C" {
extern ccl_worker_state_t ccl_worker_state;
}

namespace ccl {

constexpr uint32_t NOC = 0;
constexpr uint32_t MAX_DEPTH = 4;                // packets in flight
// Transaction ids; the worker adapter has 6 to 8.
constexpr uint32_t READ_IDS = 1, WRITE_IDS = 9, ATOMIC_ID = WRITE_IDS + MAX_DEPTH;
constexpr uint32_t MAX_OUTSTANDING = 200;  // per transaction id: the NIU counts them in eight bits
constexpr uint32_t SYNC_BYTES = 16;              // eth_channel_sync_t

inline ccl_worker_state_t& state = ccl_worker_state;
inline ccl_worker_args_t& args = ccl_worker_state.args;

struct tile_t {
    uint32_t mid;
    uint32_t address;
};

// A part of a command's pages, small enough for a buffer of the EDM.
struct packet_t {
    const ccl_command_t* command;
    uint32_t index;       // of the command
    uint32_t slice;
    uint32_t first_page;  // within the command
    uint32_t pages;
    uint32_t bytes;
    uint32_t area;        // in staging: where the packet is assembled
    uint32_t addend;      // address of the channel's part of a sum, else the same as `area`
    uint32_t slot;
    bool released;        // the inbound buffer has been returned
};

inline uint32_t element_bytes() { return args.data_type == CCL_BFLOAT16 ? 2 : 4; }
inline uint32_t page_bytes() { return args.tensors[0].page_bytes; }
inline uint32_t bytes_of_page(uint32_t page) {
    return page + 1 == args.pages ? args.last_page_bytes : page_bytes();
}
inline bool has(const packet_t& packet, uint32_t flags) {
    return (packet.command->flags & flags) == flags;
}
inline bool has_any(const packet_t& packet, uint32_t flags) {
    return (packet.command->flags & flags) != 0;
}
inline bool sends_on_credit(const packet_t& packet) {
    return has(packet, CCL_CREDIT | CCL_TO_CHANNEL);
}
inline bool gives_credit(const packet_t& packet) {
    return has(packet, CCL_CREDIT | CCL_FROM_CHANNEL);
}
inline bool sums(uint32_t flags) {
    return (flags & CCL_FROM_TENSOR) != 0 && (flags & CCL_FROM_CHANNEL) != 0;
}

template <typename Condition>
bool wait_until(Condition condition) {
    while (!condition()) {
        if (must_stop_now(state.control)) {
            return false;
        }
    }
    return true;
}

inline uint64_t wall_clock_64() {
    uint32_t low = wall_clock();
    return static_cast<uint64_t>(word_at(WALL_CLOCK_HIGH)) << 32 | low;
}

// --- worker_setup.cpp ---
// Reads and checks the arguments. Returns false if they are refused.
bool set_up();

// --- worker_pipeline.cpp ---
// Executes the list. Returns false if stopped at once.
bool carry_out();

// --- worker_tensors.cpp: pages between staging and their banks ---
bool read_bytes(uint32_t id, const tile_t& from, uint32_t to, uint32_t bytes);
bool write_bytes(uint32_t id, uint32_t from, const tile_t& to, uint32_t bytes);
bool read_pages(const packet_t& packet);
bool write_pages(const packet_t& packet);

// --- worker_channels.cpp: the two channels, the partner, and the semaphores ---
void find_semaphores();
uint32_t semaphore_place(uint32_t number);       // its address
uint32_t& taken(uint32_t semaphore);  // credits of its semaphore that this worker has used
bool available(uint32_t semaphore);
void expect_packets(uint32_t inbound, uint32_t outbound);
// Reads the next message with its sync word, so that the caller can check it.
bool read_channel(uint32_t id, uint32_t to, uint32_t bytes);
// Returns the buffer of the message that was read to `at`.
bool release_channel(uint32_t at, uint32_t bytes);
// Writes a message; 16 bytes behind it are used for its sync word.
bool write_channel(uint32_t id, uint32_t from, uint32_t bytes);
bool signal_partner();
bool settle_semaphores();

// --- worker_fabric.cpp: channels over the fabric; functions return false if stopped ---
bool fabric_fits();
// Opens the connections and grants all buffers to the sending worker.
bool open_fabric();
bool send_message(uint32_t id, uint32_t from, uint32_t to, uint32_t bytes);
// Increments the sender's semaphore.
bool give_credits(uint32_t credits);
// Waits until the other worker has taken everything.
bool await_acknowledges();
// --- worker_connect.cpp ---
// Closes the connections and takes this worker's part in ending the muxes.
bool close_fabric();

// --- worker_socket.cpp ---
bool has_room(uint32_t bytes);
void count_sent(uint32_t bytes);
// Sender: takes the credits that have arrived. Returns false if stopped.
bool take_credits();
bool credits_are_due();
// Receiver: sends the credit of a packet.
bool send_credit(const packet_t& packet);

// --- worker_words.cpp: computations of the core ---
void add_words(const packet_t& packet);
void fill_words(const packet_t& packet);
void digest_words(const packet_t& packet);

// --- worker_float.cpp ---
void add_floats(uint32_t* sum, const uint32_t* addend, const uint32_t* end);
void add_bfloats(uint32_t* sum, const uint32_t* addend, const uint32_t* end);  // two per word

}  // namespace ccl
