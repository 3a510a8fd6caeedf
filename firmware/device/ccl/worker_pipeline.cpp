// The pipeline of packets through the worker: read, assembled, written, acknowledged. Up to four
// are in flight; each of the three steps takes them in order, and no step waits for another, so
// that a packet whose input is late delays no other step.
#include "worker_moves.hpp"

namespace ccl {
namespace {

struct pipeline_t {
    packet_t packets[MAX_DEPTH];
    uint32_t depth;       // packets in flight at most
    uint32_t started, issued, retired;
    uint32_t rested;      // number of the last packet that began its delay, plus one
    uint32_t rests_since; // low half of the wall clock then
    // The position of the next packet; the list is executed once per slice.
    uint32_t slice_first, command, page;
    uint32_t slice;
    packet_t next;        // the packet at that position
};

pipeline_t pipe;

packet_t& packet_at(uint32_t number) { return pipe.packets[number & (pipe.depth - 1)]; }
uint32_t pages_of_slice() {
    uint32_t left = args.pages - pipe.slice_first;
    return left < args.slice_pages ? left : args.slice_pages;
}
bool all_started() { return pipe.slice_first >= args.pages || args.commands == 0; }

packet_t next_packet() {
    uint32_t left = pages_of_slice() - pipe.page,
             pages = left < args.packet_pages ? left : args.packet_pages;
    uint32_t first = pipe.slice_first + pipe.page, slot = pipe.started & (pipe.depth - 1);
    const auto* command = reinterpret_cast<const ccl_command_t*>(args.commands_address) +
                          pipe.command;
    uint32_t room = args.packet_pages * page_bytes() + 64, areas = MAX_DEPTH / pipe.depth;
    uint32_t area = args.staging_address + slot * areas * room;
    return {.command = command,
            .index = pipe.command,
            .slice = pipe.slice,
            .first_page = first,
            .pages = pages,
            .bytes = (pages - 1) * page_bytes() + bytes_of_page(first + pages - 1),
            .area = area,
            .addend = sums(command->flags) ? area + room : area,
            .slot = slot,
            .released = false};
}

void pass_on(uint32_t pages) {
    pipe.page += pages;
    if (pipe.page < pages_of_slice()) {
        return;
    }
    pipe.page = 0;
    if (++pipe.command < args.commands) {
        return;
    }
    pipe.command = 0;
    pipe.slice_first += args.slice_pages;
    ++pipe.slice;
}

// An earlier command may still be writing what this one reads.
bool reads_what_is_being_written(const packet_t& next) {
    if (!has(next, CCL_FROM_TENSOR) && !has(next, CCL_DIGEST)) {
        return false;
    }
    for (uint32_t i = pipe.retired; i != pipe.started; ++i) {
        const packet_t& earlier = packet_at(i);
        bool other = earlier.index != next.index || earlier.slice != next.slice;
        if (other && has_any(earlier, CCL_TO_TENSOR | CCL_FILL) &&
            earlier.command->destination == next.command->source) {
            return true;
        }
    }
    return false;
}

bool may_start(const packet_t& next) {
    return !(has(next, CCL_WAIT) && !available(CCL_SEMAPHORE_SIGNAL)) &&
           !(has(next, CCL_FROM_CHANNEL) && !available(CCL_SEMAPHORE_INBOUND)) &&
           !reads_what_is_being_written(next);
}

// Returns false if stopped.
bool start(const packet_t& next) {
    state.command = next.index;
    state.slice = next.slice;
    if (has(next, CCL_WAIT)) {
        ++taken(CCL_SEMAPHORE_SIGNAL);
        state.signals_taken = taken(CCL_SEMAPHORE_SIGNAL);
    }
    if (has_any(next, CCL_FROM_TENSOR | CCL_DIGEST) && !read_pages(next)) {
        return false;
    }
    return !has(next, CCL_FROM_CHANNEL) ||
           read_channel(READ_IDS + next.slot, next.addend, next.bytes);
}

bool has_arrived(const packet_t& packet) {
    return noc_outstanding(NOC, READ_IDS + packet.slot) == 0;
}

// Delays a message that was read before its buffer is returned, so that both ends of the link show
// it as in flight.
bool rests(const packet_t& packet) {
    if (args.dwell_cycles == 0 || !has(packet, CCL_FROM_CHANNEL) || packet.released) {
        return false;
    }
    if (pipe.rested != pipe.issued + 1) {
        pipe.rested = pipe.issued + 1;
        pipe.rests_since = wall_clock();
    }
    return wall_clock() - pipe.rests_since < args.dwell_cycles;
}

bool may_issue(const packet_t& packet) {
    return !has(packet, CCL_TO_CHANNEL) || (available(CCL_SEMAPHORE_OUTBOUND) &&
                                            (!sends_on_credit(packet) || has_room(packet.bytes)));
}

bool release(packet_t& packet) {
    if (!has(packet, CCL_FROM_CHANNEL) || packet.released) {
        return true;
    }
    packet.released = true;
    if (gives_credit(packet)) {
        state.socket.bytes_sent = state.socket.bytes_sent + packet.bytes;
    }
    return release_channel(packet.addend, packet.bytes);
}

bool issue(const packet_t& packet) {
    ++pipe.issued;
    if (has(packet, CCL_DIGEST)) {
        digest_words(packet);
        return true;
    }
    if (has(packet, CCL_FILL)) {
        fill_words(packet);
    } else if (sums(packet.command->flags)) {
        add_words(packet);
    }
    if (sends_on_credit(packet)) {
        count_sent(packet.bytes);
    }
    if (has(packet, CCL_TO_CHANNEL) &&
        !write_channel(WRITE_IDS + packet.slot, packet.area, packet.bytes)) {
        return false;
    }
    return !has_any(packet, CCL_TO_TENSOR | CCL_FILL) || write_pages(packet);
}

bool may_retire(const packet_t& packet) {
    return noc_outstanding(NOC, WRITE_IDS + packet.slot) == 0 &&
           (!gives_credit(packet) || available(CCL_SEMAPHORE_OUTBOUND));
}

bool retire(const packet_t& packet) {
    ++pipe.retired;
    if (gives_credit(packet) && !send_credit(packet)) {
        return false;
    }
    return !has(packet, CCL_SIGNAL) || signal_partner();
}

enum step_t : uint32_t { IDLE = 0, PROGRESS = 1, STOPPED = 2 };
step_t step(bool done) { return done ? PROGRESS : STOPPED; }

step_t step_retire() {
    if (pipe.retired == pipe.issued || !may_retire(packet_at(pipe.retired))) {
        return IDLE;
    }
    return step(retire(packet_at(pipe.retired)));
}

step_t step_issue() {
    if (pipe.issued == pipe.started) {
        return IDLE;
    }
    packet_t& packet = packet_at(pipe.issued);
    if (!has_arrived(packet) || rests(packet)) {
        return IDLE;
    }
    if (!release(packet)) {
        return STOPPED;
    }
    return may_issue(packet) ? step(issue(packet)) : IDLE;
}

// Before a stage at which the host wants the kernel to park, the pipeline runs empty.
step_t step_start() {
    bool park = state.control.stage >= state.control.pause_at_stage;
    if (all_started() || pipe.started - pipe.retired == pipe.depth ||
        (park && pipe.started != pipe.retired) ||
        state.control.termination_signal != KEEP_RUNNING) {
        return IDLE;
    }
    if (!may_start(pipe.next)) {
        return IDLE;
    }
    if (!begin_stage(state.control, compiler_barrier)) {
        return STOPPED;
    }
    packet_t& packet = packet_at(pipe.started++);
    packet = pipe.next;
    pass_on(packet.pages);
    if (!all_started()) {
        pipe.next = next_packet();
    }
    return step(start(packet));
}

void show_wait() {
    if (pipe.retired != pipe.issued) {
        WAYPOINT("NWBW");
    } else if (pipe.issued != pipe.started && !has_arrived(packet_at(pipe.issued))) {
        WAYPOINT("NRBW");
    } else if (pipe.issued != pipe.started && rests(packet_at(pipe.issued))) {
        WAYPOINT("DWLW");
    } else {
        WAYPOINT("NSW");
    }
}

bool was_available(uint32_t semaphore) { return taken(semaphore) != 0 || available(semaphore); }

void note_ready() {
    if (state.ready_cycles != 0) {
        return;
    }
    bool first = (args.inbound.used != 0 && was_available(CCL_SEMAPHORE_INBOUND)) ||
                 (args.outbound.used != 0 && was_available(CCL_SEMAPHORE_OUTBOUND));
    if (first) {
        state.ready_cycles = wall_clock_64();
    }
}

bool writes_done() {
    return wait_until([] {
        uint32_t outstanding = 0;
        for (uint32_t slot = 0; slot < pipe.depth; ++slot) {
            outstanding += noc_outstanding(NOC, WRITE_IDS + slot);
        }
        return outstanding == 0;
    });
}

// Stops: returns the inbound buffers of the packets in flight and drops the rest.
bool drop() {
    for (; pipe.issued != pipe.started; ++pipe.issued) {
        packet_t& packet = packet_at(pipe.issued);
        if (!wait_until([&] { return has_arrived(packet); }) || !release(packet)) {
            return false;
        }
    }
    return writes_done();
}

bool under_way() { return !all_started() || pipe.retired != pipe.started || credits_are_due(); }

}  // namespace

bool carry_out() {
    const auto* commands = reinterpret_cast<const ccl_command_t*>(args.commands_address);
    pipe.depth = MAX_DEPTH;
    for (uint32_t i = 0; i < args.commands; ++i) {
        if (sums(commands[i].flags)) {
            pipe.depth = MAX_DEPTH / 2;  // a sum needs two areas of staging
        }
    }
    if (!all_started()) {
        pipe.next = next_packet();
    }
    WAYPOINT("R");
    while (under_way()) {
        note_ready();
        if (!take_credits()) {
            return false;
        }
        step_t retired = step_retire();
        step_t issued = retired == STOPPED ? STOPPED : step_issue();
        step_t started = issued == STOPPED ? STOPPED : step_start();
        if (started == STOPPED || must_stop_now(state.control)) {
            return false;
        }
        if (state.control.termination_signal != KEEP_RUNNING) {
            return drop();
        }
        if (retired == IDLE && issued == IDLE && started == IDLE) {
            show_wait();
        } else {
            state.last_progress = wall_clock();
            WAYPOINT("R");
        }
    }
    return writes_done();
}

}  // namespace ccl
