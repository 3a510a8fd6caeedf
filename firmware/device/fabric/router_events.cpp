// Reports to the control plane: entries of the status queue in DRAM, written one after the other
// beside the traffic.
#pragma GCC optimize("Os")  // off the path of packets
#include "clock.hpp"
#include "router_route.hpp"

namespace fabric_router {
namespace {

constexpr uint32_t STAGED = 4;
constexpr uint32_t LINK_STATUS = 0x1ED4, LINK_IS_UP = 6;
constexpr uint32_t QUEUE_MAGIC = waypoint_word("FSQ ");

struct status_staging_t {
    fabric_status_queue_t queue;           // local copy
    fabric_status_entry_t staged[STAGED];
};
static_assert(status_staging_addr % 64 == 0 &&
              sizeof(status_staging_t) <= status_staging_end - status_staging_addr);
inline status_staging_t& staging() {
    return *reinterpret_cast<status_staging_t*>(status_staging_addr);
}
uint32_t staged_in, staged_out;
bool asked;                                // a read of the control plane's read_count is in flight
uint32_t link_status;
uint32_t rate_since, packets, bytes;

uint32_t queue_mid() { return xy_mid(args.status_queue_xy); }

void ask() {
    constexpr uint32_t read_part = offsetof(fabric_status_queue_t, read_count);
    start_read(EVENTS, queue_mid(), args.status_queue_address + read_part,
               reinterpret_cast<uint32_t>(&staging().queue) + read_part,
               sizeof(staging().queue) - read_part);
    asked = true;
}

uint32_t read_count() { return *const_cast<volatile uint32_t*>(&staging().queue.read_count); }

void lose() {
    state.status_entries_lost = state.status_entries_lost + 1;
    ++staged_out;
}

void write_entry() {
    fabric_status_entry_t& entry = staging().staged[staged_out % STAGED];
    entry.number = staging().queue.write_count;
    uint32_t place = args.status_queue_address + sizeof(staging().queue) +
                     staging().queue.write_count % staging().queue.entries * sizeof(entry);
    start_write(EVENTS, reinterpret_cast<uint32_t>(&entry), queue_mid(), place, sizeof(entry));
    ++staging().queue.write_count;
    if (niu_free_soon(NOC_BUFFER_WRITE)) {
        constexpr uint32_t write_part = offsetof(fabric_status_queue_t, read_count);
        start_write(EVENTS, reinterpret_cast<uint32_t>(&staging().queue), queue_mid(),
                    args.status_queue_address, write_part);
    }
    ++staged_out;
    state.status_entries = staging().queue.write_count;
}

}  // namespace

bool open_status_queue() {
    rate_since = wall_clock();
    if (args.status_queue_xy == 0) {
        return true;
    }
    start_read(EVENTS, queue_mid(), args.status_queue_address,
               reinterpret_cast<uint32_t>(&staging().queue), sizeof(staging().queue));
    if (!wait_until([](uint32_t) { return noc_outstanding(NOC, EVENTS) == 0; })) {
        return false;
    }
    compiler_barrier();
    return staging().queue.magic == QUEUE_MAGIC && staging().queue.entries != 0;
}

void report(fabric_event_t event, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    if (args.status_queue_xy == 0) {
        return;
    }
    // A burst waits until earlier entries are written: only a full queue loses entries.
    while (staged_in - staged_out == STAGED) {
        step_events();
    }
    staging().staged[staged_in++ % STAGED] = {.event = event,
                                    .number = 0,
                                    .cycles = wall_clock_64(),
                                    .mesh_id = routing_info->my_mesh_id,
                                    .device_id = routing_info->my_device_id,
                                    .eth_channel = static_cast<uint8_t>(args.my_eth_channel),
                                    .direction = static_cast<uint8_t>(args.my_direction),
                                    .detail = {a, b, c, d}};
}

void report_packet(fabric_event_t event, const packet_header_t& header) {
    fabric_node_t to = destination(header);
    report(event, header.tail.src_device_id | header.tail.src_mesh_id << 16,
           to.device | to.mesh << 16, header.tail.number, header.tail.ttl);
}

void report_drop(fabric_event_t event, const packet_header_t& header) {
    report_packet(event, header);
    send_nack(header);
}

void count_sent(uint32_t count) {
    ++packets;
    bytes += count;
}

void step_events() {
    if (staged_in == staged_out || noc_outstanding(NOC, EVENTS) != 0) {
        return;
    }
    bool full = staging().queue.write_count - read_count() >= staging().queue.entries;
    if (full && asked) {
        asked = false;
        lose();
    } else if (full) {
        if (!niu_busy(NOC, NOC_BUFFER_READ)) {
            ask();
        }
    } else if (niu_free_soon(NOC_BUFFER_WRITE)) {
        asked = false;
        write_entry();
    }
}

void watch_link() {
    uint32_t status = word_at(LINK_STATUS), before = link_status;
    link_status = status;
    if (before == LINK_IS_UP && status != LINK_IS_UP) {
        report(EVENT_LINK_DOWN, status, 0, 0, 0);
        link_lost();
    } else if (state.link != LINK_DIRECT && status == LINK_IS_UP) {
        link_is_back();
    }
    uint32_t elapsed = wall_clock() - rate_since;
    if (args.rate_interval_cycles != 0 && elapsed >= args.rate_interval_cycles) {
        report(EVENT_RATE, packets, bytes, elapsed, 0);
        rate_since += elapsed;
        packets = bytes = 0;
    }
}

}  // namespace fabric_router
