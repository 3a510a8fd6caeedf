// The worker before its first packet: its arguments, and the number of packets that follows from
// them.
#include "edm/edm.hpp"
#include "worker_moves.hpp"

namespace ccl {
namespace {

bool channel_fits(const ccl_channel_t& channel, uint32_t packet_bytes) {
    if (channel.used != 0 && channel.over_fabric != 0 &&
        (channel.sharing_mode != NOT_SHARED || channel.connection >= args.connections)) {
        return false;
    }
    bool shares = channel.sharing_mode == NOT_SHARED ||
                  (channel.sharing_mode <= SHARED && channel.worker < channel.workers);
    uint32_t parts = channel.sharing_mode == SHARED ? channel.workers : 1;
    return channel.used == 0 ||
           (shares && channel.buffers != 0 && channel.buffer_bytes / parts >= packet_bytes &&
            channel.edm_semaphore_address % SEMAPHORE_BYTES == 0);
}

bool tensor_fits(const ccl_tensor_t& tensor) {
    return tensor.page_bytes == 0 ||
           (tensor.page_bytes == page_bytes() && tensor.banks != 0 && tensor.pages_per_shard != 0);
}

bool arguments_fit() {
    bool sizes = page_bytes() != 0 && page_bytes() % 32 == 0 && args.last_page_bytes != 0 &&
                 args.last_page_bytes % 32 == 0 && args.last_page_bytes <= page_bytes() &&
                 args.staging_address % 32 == 0;
    bool fits = sizes && args.data_type <= CCL_BFLOAT16 &&
                channel_fits(args.inbound, args.packet_pages * page_bytes()) &&
                channel_fits(args.outbound, args.packet_pages * page_bytes()) && fabric_fits();
    for (uint32_t i = 0; fits && i < CCL_MAX_TENSORS; ++i) {
        fits = tensor_fits(args.tensors[i]);
    }
    return fits;
}

// Returns true if the command's tensors and channels exist.
bool command_fits(const ccl_command_t& command) {
    uint32_t from = command.flags & (CCL_FROM_TENSOR | CCL_FROM_CHANNEL | CCL_FILL | CCL_DIGEST);
    bool reads = (command.flags & (CCL_FROM_TENSOR | CCL_DIGEST)) == 0 ||
                 args.tensors[command.source % CCL_MAX_TENSORS].page_bytes != 0;
    bool writes = (command.flags & (CCL_TO_TENSOR | CCL_FILL)) == 0 ||
                  args.tensors[command.destination % CCL_MAX_TENSORS].page_bytes != 0;
    bool channels = ((command.flags & CCL_FROM_CHANNEL) == 0 || args.inbound.used != 0) &&
                    ((command.flags & CCL_TO_CHANNEL) == 0 || args.outbound.used != 0);
    bool room = (command.flags & CCL_TO_CHANNEL) == 0 ||
                args.fifo_bytes >= args.packet_pages * page_bytes();
    bool both = args.inbound.used != 0 && args.outbound.used != 0 && room;
    bool one_way = (command.flags & CCL_FROM_CHANNEL) == 0 || (command.flags & CCL_TO_CHANNEL) == 0;
    bool socket = (command.flags & CCL_CREDIT) == 0 || (both && one_way);
    return from != 0 && socket && reads && writes && channels && command.source < CCL_MAX_TENSORS &&
           command.destination < CCL_MAX_TENSORS;
}

uint32_t packets_of(uint32_t pages) { return (pages + args.packet_pages - 1) / args.packet_pages; }

// Returns the packets of one command in all slices.
uint32_t packets_of_command() {
    uint32_t full = args.pages / args.slice_pages, rest = args.pages % args.slice_pages;
    return full * packets_of(args.slice_pages) + packets_of(rest);
}

}  // namespace

bool set_up() {
    uint32_t address = runtime_args_address(TENSIX, 0);
    if (address == 0) {
        return false;
    }
    args = *reinterpret_cast<const ccl_worker_args_t*>(address);
    if (args.pause_at_stage != 0) {
        state.control.pause_at_stage = args.pause_at_stage - 1;
    }
    find_semaphores();
    if (args.packet_pages == 0 || args.slice_pages == 0 || args.pages == 0) {
        return args.pages == 0;
    }
    bool fits = arguments_fit();
    uint32_t inbound = 0, outbound = 0;
    const auto* commands = reinterpret_cast<const ccl_command_t*>(args.commands_address);
    for (uint32_t i = 0; fits && i < args.commands; ++i) {
        fits = command_fits(commands[i]);
        bool credit = (commands[i].flags & CCL_CREDIT) != 0,
             in = (commands[i].flags & CCL_FROM_CHANNEL) != 0;
        bool out = (commands[i].flags & CCL_TO_CHANNEL) != 0;
        // A socket's credits go in the opposite direction.
        inbound += in || (credit && out) ? 1 : 0;
        outbound += out || (credit && in) ? 1 : 0;
    }
    expect_packets(inbound * packets_of_command(), outbound * packets_of_command());
    return fits;
}

}  // namespace ccl
