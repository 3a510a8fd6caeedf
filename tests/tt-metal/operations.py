"""Operations with kernels of our own through tt-metal's fast dispatch.

    operations.py PROGRAM

PROGRAM is JSON: a list of operations, each with
  kernel   what its kernels do (KERNELS)
  cores    x and y of the first and of the last core
  victim   the core that is unlike the others, as its number among them
  ncrisc   whether the kernel runs on NCRISC
  absent   NOC 0 coordinates of a tile that does not answer

Prints `queued N` behind each operation and `done N` when it has ended, and waits for a line at the end.
"""

import json
import sys

import ttnn

HEAD = """
#include "api/dataflow/dataflow_api.h"
struct Us {
    uint32_t me = get_arg_val<uint32_t>(0), all = get_arg_val<uint32_t>(1), victim = get_arg_val<uint32_t>(2);
    uint32_t x_first = get_arg_val<uint32_t>(3), y_first = get_arg_val<uint32_t>(4);
    uint32_t x_next = get_arg_val<uint32_t>(5), y_next = get_arg_val<uint32_t>(6);
    uint32_t x_absent = get_arg_val<uint32_t>(7), y_absent = get_arg_val<uint32_t>(8);
    volatile tt_l1_ptr uint32_t* word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(0));
    void tell(uint32_t x, uint32_t y) {
        noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(0)), 1);
        noc_async_atomic_barrier();
    }
};
"""
KERNELS = {
    # Every core tells the first one, which waits for all.
    "gather": """
void kernel_main() {
    Us us;
    us.tell(us.x_first, us.y_first);
    if (us.me == 0) noc_semaphore_wait(us.word, us.all);
}""",
    # The same, but the victim does not tell.
    "semaphore": """
void kernel_main() {
    Us us;
    if (us.me != us.victim) us.tell(us.x_first, us.y_first);
    if (us.me == 0) noc_semaphore_wait_min(us.word, us.all);
}""",
    # All wait for the victim, which reads pages of its neighbour without end.
    "moves": """
void kernel_main() {
    Us us;
    uint32_t pages = get_read_ptr(0);
    for (uint32_t turn = 0; us.me == us.victim; turn++) {
        noc_async_read(get_noc_addr(us.x_next, us.y_next, pages + turn % 64 * 32), pages, 2048);
        noc_async_read_barrier();
    }
    noc_semaphore_wait(us.word, 1);
}""",
    # All wait for the victim, which reads the same page of its neighbour again and again.
    "retry": """
void kernel_main() {
    Us us;
    uint32_t pages = get_read_ptr(0);
    while (us.me == us.victim) {
        noc_async_read(get_noc_addr(us.x_next, us.y_next, pages), pages, 2048);
        noc_async_read_barrier();
    }
    noc_semaphore_wait(us.word, 1);
}""",
    # The victim overwrites the mailboxes of its tile.
    "mailbox": """
void kernel_main() {
    Us us;
    volatile tt_l1_ptr uint32_t* word = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(0x10);
    while (us.me == us.victim && reinterpret_cast<uint32_t>(word) < 0x2000) *word++ = 0xDEADBEEF;
}""",
    # Each waits for the one before it, and only then tells the one behind it.
    "circle": """
void kernel_main() {
    Us us;
    noc_semaphore_wait(us.word, 1);
    us.tell(us.x_next, us.y_next);
}""",
    # All wait for the victim, which computes for ever.
    "loop": """
void kernel_main() {
    Us us;
    if (us.me == us.victim) for (volatile uint32_t i = 1; i != 0; i = i | 1) {}
    us.tell(us.x_first, us.y_first);
    if (us.me == 0) noc_semaphore_wait(us.word, us.all);
}""",
    # The victim waits for a page that nobody pushes.
    "buffer": """
void kernel_main() {
    Us us;
    cb_reserve_back(0, 2);
    cb_push_back(0, 2);
    cb_wait_front(0, us.me == us.victim ? 3 : 2);
}""",
    # The victim reserves a page that nobody frees.
    "full": """
void kernel_main() {
    Us us;
    cb_reserve_back(0, 3);
    cb_push_back(0, 3);
    if (us.me == us.victim) cb_reserve_back(0, 2);
}""",
    # The victim reads from a tile that does not answer.
    "unanswered": """
void kernel_main() {
    Us us;
    // NoC 1 counts from the opposite corner.
    uint32_t x = noc_index == 0 ? us.x_absent : 9 - us.x_absent, y = noc_index == 0 ? us.y_absent : 11 - us.y_absent;
    if (us.me == us.victim) noc_async_read(get_noc_addr(x, y, 0), get_read_ptr(0), 32);
    noc_async_read_barrier();
}""",
    # The victim waits for the acknowledge of a write that it counts and never sends.
    "barrier": """
void kernel_main() {
    Us us;
    if (us.me == us.victim) noc_nonposted_writes_acked[noc_index] += 1;
    noc_async_write_barrier();
}""",
}


def operation(device, tensors, kernel, cores, victim, ncrisc, absent):
    (x0, y0), (x1, y1) = cores
    places = [(x, y) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]
    real = [device.worker_core_from_logical_core(ttnn.CoreCoord(x, y)) for x, y in places]
    at = lambda number: [real[number % len(real)].x, real[number % len(real)].y]
    arguments = ttnn.RuntimeArgs()
    for me, (x, y) in enumerate(places):
        arguments[x][y] = [me, len(places), victim, *at(0), *at(me + 1), *absent]
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(x0, y0), ttnn.CoreCoord(x1, y1))})
    config = ttnn.ReaderConfigDescriptor() if ncrisc else ttnn.WriterConfigDescriptor()
    described = ttnn.KernelDescriptor(
        kernel_source=HEAD + KERNELS[kernel],
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=grid,
        compile_time_args=[],
        runtime_args=arguments,
        config=config,
    )
    semaphore = ttnn.SemaphoreDescriptor(id=0, core_type=ttnn.CoreType.WORKER, core_ranges=grid, initial_value=0)
    page = ttnn.CBFormatDescriptor(buffer_index=0, data_format=ttnn.bfloat16, page_size=2048)
    buffer = ttnn.CBDescriptor(total_size=4 * 2048, core_ranges=grid, format_descriptors=[page])
    program = ttnn.ProgramDescriptor(kernels=[described], semaphores=[semaphore], cbs=[buffer])
    ttnn.generic_op(tensors, program)


def main():
    device = ttnn.open_device(device_id=0)
    tensors = [
        ttnn.allocate_tensor_on_device(
            ttnn.Shape([1, 1, 32, 32]), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, device, ttnn.DRAM_MEMORY_CONFIG
        )
        for _ in range(2)
    ]
    print("open", flush=True)
    for number, asked in enumerate(json.loads(sys.argv[1])):
        operation(device, tensors, **asked)
        print(f"queued {number}", flush=True)
        ttnn.synchronize_device(device)
        print(f"done {number}", flush=True)
    sys.stdin.readline()
    ttnn.close_device(device)
    print("closed", flush=True)


main()
