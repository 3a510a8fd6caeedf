// Moves pages through a circular buffer as tt-metal's kernels do: NCRISC pushes them, BRISC pops them.
// BRISC takes some at once. Each then waits for its semaphore, unless it is told to return.
#include "api/dataflow/dataflow_api.h"

constexpr uint32_t BUFFER = 3;
constexpr uint32_t RETURNS = 0xFFFFFFFF;

void kernel_main() {
#if defined(COMPILE_FOR_NCRISC)
    const uint32_t pages = get_arg_val<uint32_t>(0);
    const uint32_t semaphore = get_arg_val<uint32_t>(1);
    for (uint32_t page = 0; page < pages; ++page) {
        cb_reserve_back(BUFFER, 1);
        cb_push_back(BUFFER, 1);
    }
#else
    const uint32_t pages = get_arg_val<uint32_t>(2);
    const uint32_t semaphore = get_arg_val<uint32_t>(3);
    const uint32_t at_once = get_arg_val<uint32_t>(4);
    for (uint32_t page = 0; page < pages; page += at_once) {
        cb_wait_front(BUFFER, at_once);
        cb_pop_front(BUFFER, at_once);
    }
#endif
    if (semaphore != RETURNS) {
        auto* awaited = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(semaphore));
        noc_semaphore_wait(awaited, 1);
    }
}
