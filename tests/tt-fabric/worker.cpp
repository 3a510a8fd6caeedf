// A worker that sends packets to a tile of another chip with tt-metal's adapter. Packet n, counted
// from 0, is written to slot n modulo the number of slots; its first word is n.
#include "api/dataflow/dataflow_api.h"
#include "hostdev/fabric_edm_packet_header.hpp"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"
#include "tt_metal/fabric/hw/inc/tt_fabric_api.h"
#if defined(THROUGH_MUX)
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_interface.hpp"
#elif defined(THROUGH_MUX_V2)
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_v2_sender.hpp"
#endif

// What a host reads.
struct worker_report_t {
    uint32_t stage;
    uint32_t sent;
    uint32_t free_slots;
    uint32_t wanted;
};

enum worker_stage_t : uint32_t { WORKER_OPENS = 1, WORKER_SENDS = 2, WORKER_CLOSES = 3, WORKER_DONE = 4 };

void kernel_main() {
    size_t next = 0;
    const auto argument = [&next] { return get_arg_val<uint32_t>(next++); };
    const uint32_t packets = argument();
    const uint32_t bytes = argument();
    const uint32_t header_address = argument();
    const uint32_t payload_address = argument();
    const uint32_t destination = argument();
    const uint32_t x = argument();
    const uint32_t y = argument();
    const uint32_t delivery = argument();
    const uint32_t slots = argument();
    auto* report = reinterpret_cast<volatile tt_l1_ptr worker_report_t*>(argument());
    report->wanted = packets;
    report->stage = WORKER_OPENS;
#if defined(THROUGH_MUX)
    const uint32_t mux_x = argument();
    const uint32_t mux_y = argument();
    const uint32_t channel = argument();
    const uint32_t mux_slots = argument();
    const uint32_t slot_bytes = argument();
    const uint32_t base = argument();
    const uint32_t connection_info = argument();
    const uint32_t handshake = argument();
    const uint32_t flow_control = argument();
    const uint32_t cursor = argument();
    const uint32_t mux_status = argument();
    const uint32_t my_flow_control = argument();
    const uint32_t my_teardown = argument();
    const uint32_t my_cursor = argument();
    const uint32_t my_status = argument();
    tt::tt_fabric::wait_for_fabric_endpoint_ready(mux_x, mux_y, mux_status, my_status);
    auto next_stage = tt::tt_fabric::build_connection_to_fabric_endpoint(
        mux_x, mux_y, channel, mux_slots, slot_bytes, base, connection_info, handshake, flow_control, cursor,
        my_flow_control, my_teardown, my_cursor);
#elif defined(THROUGH_MUX_V2)
    auto next_stage = tt::tt_fabric::FabricMuxV2Sender<>::build_from_args(next);
#else
    auto next_stage = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(next);
#endif
    next_stage.open();
    report->stage = WORKER_SENDS;
    auto* header = reinterpret_cast<volatile tt_l1_ptr PACKET_HEADER_TYPE*>(header_address);
    auto* number = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(payload_address);
#if defined(FABRIC_2D)
    fabric_set_unicast_route(header, destination & 0xFFFF, destination >> 16);
#else
    header->to_chip_unicast(static_cast<uint8_t>(destination));
#endif
    for (uint32_t n = 0; n < packets; n++) {
        *number = n;
        const uint64_t slot = get_noc_addr(x, y, delivery + (n % slots) * bytes);
        header->to_noc_unicast_write(tt::tt_fabric::NocUnicastCommandHeader{slot}, bytes);
        next_stage.wait_for_empty_write_slot();
        next_stage.send_payload_without_header_non_blocking_from_address(payload_address, bytes);
        next_stage.send_payload_flush_non_blocking_from_address(header_address, sizeof(PACKET_HEADER_TYPE));
        noc_async_writes_flushed();
        report->sent = n + 1;
        report->free_slots = next_stage.get_num_free_write_slots();
    }
    report->stage = WORKER_CLOSES;
    next_stage.close();
    noc_async_write_barrier();
    report->stage = WORKER_DONE;
}
