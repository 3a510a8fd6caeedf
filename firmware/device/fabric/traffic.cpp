// The traffic kernel: opens its connections, sends and checks at the same time, closes, and takes
// its part in ending the muxes.
#include "common/build_id.hpp"
#include "semaphore/semaphore.hpp"
#include "traffic_moves.hpp"

extern "C" {
__attribute__((used)) fabric_traffic_state_t fabric_traffic_state = {
    .magic = waypoint_word("FTRF"), .control = {KEEP_RUNNING, PAUSE_NEVER, 0}};
}

namespace fabric {
namespace {

constexpr uint32_t DONE_ID = 9;                   // transaction id

bool set_up() {
    uint32_t address = runtime_args_address(TENSIX, 0);
    if (address == 0) {
        return false;
    }
    args = *reinterpret_cast<const fabric_traffic_args_t*>(address);
    if (args.pause_at_stage != 0) {
        state.control.pause_at_stage = args.pause_at_stage - 1;
    }
    bool fits = args.connections <= TRAFFIC_MAX_CONNECTIONS && args.words_address % 16 == 0 &&
                args.staging_address % 16 == 0;
    const auto* list = reinterpret_cast<const fabric_traffic_packet_t*>(args.packets_address);
    for (uint32_t i = 0; fits && i < args.packets; ++i) {
        fits = list[i].connection < args.connections && list[i].payload_size_bytes % 16 == 0;
    }
    for (uint32_t i = 0; fits && i < args.connections; ++i) {
        state.clients[i].connection = args.connection[i].client;
        state.clients[i].words_address = args.words_address + i * sizeof(fabric_client_words_t);
        fits = state.clients[i].connection.num_buffers_per_channel != 0;
    }
    return fits;
}

bool open_all() {
    WAYPOINT("FOPW");
    for (uint32_t i = 0; i < args.connections; ++i) {
        if (!client_open(state.clients[i], stop)) {
            return false;
        }
    }
    WAYPOINT("FOPD");
    return true;
}

// A loop that waits stores nothing; it sets the waypoint when the wait begins.
enum shown_t { SHOWS_PROGRESS, SHOWS_SLOT, SHOWS_ARRIVALS };
void show(shown_t& shown, shown_t now) {
    if (shown == now) {
        return;
    }
    shown = now;
    switch (now) {
        case SHOWS_SLOT: WAYPOINT("FWSW"); break;
        case SHOWS_ARRIVALS: WAYPOINT("NSW"); break;
        default: WAYPOINT("R"); break;
    }
}

void end_wait(fabric_client_state_t& client, uint32_t since) {
    if (client.waits == 0) {
        return;
    }
    client.waits = 0;
    uint32_t waited = wall_clock() - since;
    if (waited > state.longest_slot_wait_cycles) {
        state.longest_slot_wait_cycles = waited;
    }
}

// Sends the rest of the list and checks arrivals meanwhile. Returns false if stopped at once.
bool send_all() {
    const auto* list = reinterpret_cast<const fabric_traffic_packet_t*>(args.packets_address);
    shown_t shown = SHOWS_PROGRESS;
    uint32_t last = wall_clock() - args.interval_cycles, blocked = 0;
    for (uint32_t next = 0;
         next < args.packets && state.control.termination_signal == KEEP_RUNNING;) {
        fabric_client_state_t& client = state.clients[list[next].connection];
        bool rested = wall_clock() - last >= args.interval_cycles;
        if (rested && client_has_slot(client)) {
            end_wait(client, blocked);
            show(shown, SHOWS_PROGRESS);
            if (!send_packet(list[next])) {
                return false;
            }
            ++next;
            last = wall_clock();
            state.last_progress = last;
        } else if (rested && client.waits == 0) {
            client.waits = 1;
            blocked = wall_clock();
            show(shown, SHOWS_SLOT);
        }
        check_arrivals();
        if (stop()) {
            return false;
        }
        if (must_pause(state.control)) {
            pause_in_stage(state.control, check_arrivals);
            shown = SHOWS_ARRIVALS;
            show(shown, SHOWS_PROGRESS);
        }
    }
    state.sent_cycles = wall_clock_64();
    return client_wait(client_flushed, stop);
}

bool receive_rest() {
    shown_t shown = SHOWS_PROGRESS;
    while (!all_arrived() && state.control.termination_signal == KEEP_RUNNING) {
        if (check_arrivals()) {
            state.last_progress = wall_clock();
        } else {
            show(shown, SHOWS_ARRIVALS);
        }
    }
    return !stop();
}

bool next() { return begin_stage(state.control, compiler_barrier); }

bool close_all() {
    state.closing_cycles = wall_clock_64();
    for (uint32_t i = 0; i < args.connections; ++i) {
        if (!client_close(state.clients[i], stop, next)) {
            return false;
        }
    }
    state.closed_cycles = wall_clock_64();
    return true;
}

bool may_send(uint32_t buffer, uint32_t id) {
    return client_wait([=] { return client_may_send(buffer, id); }, stop);
}

bool tell_master(const fabric_traffic_connection_t& connection) {
    if (!may_send(NOC_BUFFER_ATOMIC, DONE_ID)) {
        return false;
    }
    uint32_t mid = noc_mid(connection.master_xy & 0xFFFF, connection.master_xy >> 16);
    semaphore_increment(CLIENT_NOC, DONE_ID, mid, connection.master_address, 1);
    return client_wait([] { return noc_outstanding(CLIENT_NOC, DONE_ID) == 0; }, stop);
}

bool end_mux(uint32_t index) {
    const fabric_traffic_connection_t& connection = args.connection[index];
    WAYPOINT("NSMW");
    if (!client_wait(
            [=] { return words().done[index].value + 1 >= args.connection[index].mux_clients; },
            stop)) {
        return false;
    }
    WAYPOINT("NSMD");
    return next() &&
           client_word(state.clients[index], connection.termination_address, GRACEFULLY_TERMINATE,
                       stop) &&
           client_wait([] { return noc_outstanding(CLIENT_NOC, CLIENT_WORDS) == 0; }, stop);
}

// First its signals, then its waits: the clients that it waits for can be masters that wait for it.
bool end_muxes() {
    for (uint32_t i = 0; i < args.connections; ++i) {
        const fabric_traffic_connection_t& connection = args.connection[i];
        if (connection.termination == TELLS_MASTER && !tell_master(connection)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < args.connections; ++i) {
        if (args.connection[i].termination == TERMINATION_MASTER && !end_mux(i)) {
            return false;
        }
    }
    return true;
}

bool enter(fabric_traffic_phase_t phase) {
    state.phase = phase;
    return next();
}

bool run() {
    if (!enter(TRAFFIC_OPENING) || !open_all() || !enter(TRAFFIC_RUNNING) || !send_all()) {
        return false;
    }
    if (args.never_closes == 0) {
        if (!enter(TRAFFIC_CLOSING) || !close_all() || !enter(TRAFFIC_TERMINATING) ||
            !end_muxes()) {
            return false;
        }
    }
    state.phase = TRAFFIC_RECEIVING;
    return receive_rest();
}

}  // namespace
}  // namespace fabric

extern "C" void kernel_main() {
    using namespace fabric;
    WAYPOINT("K");
    state.started_cycles = wall_clock_64();
    if (!set_up()) {
        state.phase = TRAFFIC_REFUSED;
    } else {
        bool whole = run() && state.control.termination_signal == KEEP_RUNNING;
        settle_arrivals();
        state.finished_cycles = wall_clock_64();
        state.phase = whole ? TRAFFIC_FINISHED : TRAFFIC_STOPPED;
    }
    WAYPOINT("KD");
}
