// The ERISC data mover: the words that the host writes and reads. One EDM runs at each end of a
// link and moves the messages of up to eight channels; each channel sends over the link or receives
// from it. Names are those of tt-metal's legacy EDM.
//
// A buffer holds one message and, right behind it, its eth_channel_sync_t. A message of n bytes (a
// multiple of 16) ends where the buffer ends, so the sync word is at the same place for every n,
// and payload and sync word travel in one send. The worker that fills the buffer of a sender
// channel writes the sync word with it (bytes_sent = n, receiver_ack = 0) and then increments the
// channel's semaphore. Buffer b of channel c is at buffers_address + (c * buffers_per_channel + b)
// * (buffer_bytes + 16), at both ends of the link.
#pragma once
#include "common/erisc.hpp"
#include "common/eth_sync.hpp"
#include "common/kernel.hpp"

enum EriscDataMoverBufferSharingMode : uint32_t { NOT_SHARED = 0, ROUND_ROBIN = 1, SHARED = 2 };
enum EriscDataMoverTerminationMode : uint32_t { MESSAGE_COUNT_REACHED = 0, WORKER_INITIATED = 1 };

// The value that a worker adds to the channel's semaphore: messages in the low 24 bits, above them
// how the channel ends (WORKER_INITIATED).
enum EriscDataMoverWorkerSignal : uint32_t {
    NEXT_MESSAGE_AVAILABLE = 1,
    NEXT_MESSAGE_IS_LAST = 1 | 1 << 24,
    TERMINATE_IMMEDIATELY = 1 << 28,
};
constexpr uint32_t EDM_MESSAGES = (1 << 24) - 1;

constexpr uint32_t EDM_MAX_CHANNELS = 8;
constexpr uint32_t EDM_MAX_BUFFERS = 8;  // of one channel
constexpr uint32_t EDM_MAX_WORKERS = 4;  // of one channel

struct edm_channel_args_t {
    uint32_t is_sender;
    uint32_t message_count;  // MESSAGE_COUNT_REACHED: messages after which the channel is done
    // In this tile's L1, 16-aligned, 0 at launch; the workers increment it.
    uint32_t semaphore_address;
    // In the workers' L1; incremented for each buffer to fill (sender) or to read (receiver).
    uint32_t worker_semaphore_address;
    uint32_t workers;  // 0: the EDM generates messages of buffer_bytes, or checks and drops them
    uint32_t worker_xy[EDM_MAX_WORKERS];  // x | y << 16
};

// Runtime arguments, at kernel_config_base[ACTIVE_ETH] + rta_offset[0].
struct edm_args_t {
    uint32_t run_id;              // the same at both ends, nonzero, different for each launch
    uint32_t handshake_sender;    // 1 at exactly one end
    uint32_t channels;
    uint32_t buffers_per_channel;
    uint32_t buffer_bytes;        // the largest message, a multiple of 32
    uint32_t buffers_address;
    EriscDataMoverTerminationMode termination_mode;
    EriscDataMoverBufferSharingMode buffer_sharing_mode;
    uint32_t separate_sync;       // 1: payload and sync word in two sends
    uint32_t idle_count;          // passes without progress before it yields to base firmware
    uint32_t busy_count;          // passes after which it yields despite progress
    // 0: run; n: park before the n-th stage (1 offer of the handshake, 2 answer, 3 transfer,
    // 4 teardown).
    uint32_t pause_at_stage;
    edm_channel_args_t channel[EDM_MAX_CHANNELS];
};

enum edm_phase_t : uint32_t {
    EDM_NOT_STARTED = 0,
    EDM_HANDSHAKE = 1,
    EDM_RUNNING = 2,
    EDM_TEARDOWN = 3,
    EDM_FINISHED = 4,  // every credit has been returned
    EDM_STOPPED = 5,   // stopped at once
    EDM_REFUSED = 6,   // the arguments, or the two ends, do not match
};

struct edm_channel_state_t {
    volatile uint32_t messages_sent;      // sender: handed to the link; receiver: seen
    volatile uint32_t acknowledged;       // sender: first-level acknowledges seen; receiver: sent
    volatile uint32_t completed;          // sender: completions seen; receiver: sent
    // Messages that the workers filled (sender) or read (receiver).
    volatile uint32_t worker_signals;
    volatile uint32_t worker_credits;     // increments given to the workers' semaphores
    volatile uint32_t mismatched_words;   // workers = 0 only
    volatile uint32_t done;
    volatile uint32_t last_progress;      // low half of the wall clock
};

// The global `edm_state` is of this type.
struct edm_state_t {
    uint32_t magic;  // "EDM "
    kernel_control_t control;
    edm_args_t args;
    volatile edm_phase_t phase;
    volatile uint32_t yields;
    volatile uint32_t passes;
    volatile uint64_t started_cycles;    // wall clock of this chip: kernel entered
    volatile uint64_t ready_cycles;      // handshake done
    volatile uint64_t finished_cycles;   // every credit returned
    edm_channel_state_t channels[EDM_MAX_CHANNELS];
};

// Words that the peer writes or that are sent to it, from the start of unreserved L1. Each is a
// 16-byte unit of its own. The handshake word is at the same place in every kernel, so that the
// handshake of one run cannot clobber another's data.
struct edm_words_t {
    eth_channel_sync_t handshake;                                      // the reserved address
    eth_channel_sync_t handshake_source;
    // Sender: the peer acknowledges and completes here.
    eth_channel_sync_t credits[EDM_MAX_CHANNELS][EDM_MAX_BUFFERS];
    // Receiver: source of the first-level acknowledge.
    eth_channel_sync_t ack[EDM_MAX_CHANNELS][EDM_MAX_BUFFERS];
    // Receiver: source of the completion.
    eth_channel_sync_t completion[EDM_MAX_CHANNELS][EDM_MAX_BUFFERS];
};
constexpr uint32_t EDM_WORDS = 0x18000;
constexpr uint32_t EDM_BUFFERS = EDM_WORDS + 0x1000;  // lowest buffers_address
constexpr uint32_t EDM_BUFFERS_END = 0x3DC00;
static_assert(sizeof(edm_words_t) <= 0x1000);
