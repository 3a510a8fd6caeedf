/* A client of libttsim's entry points, for the vendor's library and for ours alike.
 *
 *     cc -O2 -o client client.c -ldl
 *     client native ROUNDS                    the loop below as this machine's own code
 *     client LIBRARY word                     a word of L1 of tile 1-1
 *     client LIBRARY idle CLOCKS              an idle machine
 *     client LIBRARY busy TILES CORES CLOCKS  a loop of eight instructions on CORES cores of each of TILES tiles
 *
 * The loop is `lw addi mul xor add sw andi j`; the cores of a tile share its word. Addresses:
 * wormhole.md 1.2, wormhole.md 1.3, wormhole.md 4.2. Tiles are taken row by row; all rows of the
 * vendor's `wh` and of MESHSCOPE_MESH=n150 that 16 tiles need are there. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t (*config_read)(uint32_t, uint32_t);
static void (*mem_read)(uint64_t, void *, uint32_t);
static void (*mem_write)(uint64_t, const void *, uint32_t);
static void (*advance)(uint32_t);
static uint64_t bar0;

static const uint64_t WINDOW_ENTRIES = 0x1FC00000;
static const uint32_t SOFT_RESET_0 = 0xFFB121B0, SHARED_WORD = 0x8000;
static const uint32_t RESET_BITS[5] = {1 << 11, 1 << 18, 1 << 12, 1 << 13, 1 << 14};
static const uint32_t RESET_PCS[5] = {0x0, 0x12000, 0x6000, 0xA000, 0xE000};
static const uint32_t ALL_IN_RESET = 0x47800;

/* Seconds of processor time: hosts are shared, and the libraries use one thread. */
static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return at.tv_sec + at.tv_nsec / 1e9;
}

/* Points window 0 at an address of a tile; returns the bus address of it. */
static uint64_t window(int x, int y, uint32_t address) {
    uint64_t entry = address >> 20 | (uint64_t)x << 16 | (uint64_t)y << 22;
    mem_write(bar0 + WINDOW_ENTRIES, &entry, 8);
    return bar0 + (address & 0xFFFFF);
}

static void write_word(int x, int y, uint32_t address, uint32_t value) {
    mem_write(window(x, y, address), &value, 4);
}

static uint32_t read_word(int x, int y, uint32_t address) {
    uint32_t value = 0;
    mem_read(window(x, y, address), &value, 4);
    return value;
}

/* Puts the loop where each core of a tile starts. */
static void load(int x, int y) {
    static const uint32_t LOOP[] = {
        0x00008537, /* lui  a0, 0x8 */
        0x41C65E37, /* lui  t3, 0x41c65 */
        0xE6DE0E13, /* addi t3, t3, -403 */
        0x00052283, /* lw   t0, 0(a0) */
        0x00138393, /* addi t2, t2, 1: a counter, so that the loop never repeats a state */
        0x03C28333, /* mul  t1, t0, t3 */
        0x00734333, /* xor  t1, t1, t2 */
        0x006282B3, /* add  t0, t0, t1 */
        0x00552023, /* sw   t0, 0(a0) */
        0x0FF3F413, /* andi s0, t2, 255 */
        0xFE5FF06F, /* j    lw */
    };
    for (int core = 0; core < 5; core++)
        mem_write(window(x, y, RESET_PCS[core]), LOOP, sizeof LOOP);
    write_word(x, y, SHARED_WORD, 1);
}

/* Starts the loop on `cores` cores of `tiles` tiles; returns how many there are. No tile may be fused
 * off: an access would stop the machine. */
static int start(int tiles, int cores) {
    uint32_t held = ALL_IN_RESET;
    for (int core = 0; core < cores; core++)
        held &= ~RESET_BITS[core];
    int found = 0;
    for (int y = 1; y < 12 && found < tiles; y++)
        for (int x = 1; x < 10 && found < tiles; x++) {
            if (x == 5 || y == 6) /* columns and rows without Tensix tiles */
                continue;
            load(x, y);
            write_word(x, y, SOFT_RESET_0, held);
            found += read_word(x, y, SOFT_RESET_0) == held;
        }
    return found;
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return found;
}

static int usage(const char *name) {
    fprintf(stderr, "usage: %s native ROUNDS\n       %s LIBRARY word | idle CLOCKS | busy TILES CORES CLOCKS\n", name, name);
    return 2;
}

/* The loop of eight instructions in C: an anchor for machines of different speed. */
static int native(uint32_t rounds) {
    volatile uint32_t shared = 1;
    double started = now();
    for (uint32_t count = 1; count <= rounds; count++) {
        uint32_t word = shared;
        shared = word + (word * 0x41C64E6D ^ count);
    }
    printf("%.2f MIPS word %08x\n", rounds * 8.0 / (now() - started) / 1e6, shared);
    return 0;
}

int main(int count, char **words) {
    if (count < 3)
        return usage(words[0]);
    if (!strcmp(words[1], "native"))
        return native(strtoul(words[2], 0, 0));
    void *library = dlopen(words[1], RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    void (*init)(void) = symbol(library, "libttsim_init");
    config_read = symbol(library, "libttsim_pci_config_rd32");
    mem_read = symbol(library, "libttsim_pci_mem_rd_bytes");
    mem_write = symbol(library, "libttsim_pci_mem_wr_bytes");
    advance = symbol(library, "libttsim_clock");
    init();
    bar0 = (uint64_t)config_read(0, 0x14) << 32 | (config_read(0, 0x10) & ~0xFu);
    if (!strcmp(words[2], "word")) {
        printf("%08x\n", read_word(1, 1, 0));
        return 0;
    }
    int busy = !strcmp(words[2], "busy") && count == 6;
    if (!busy && !(count == 4 && !strcmp(words[2], "idle")))
        return usage(words[0]);
    uint32_t clocks = strtoul(words[count - 1], 0, 0), settle = clocks / 10;
    int tiles = busy ? atoi(words[3]) : 0, cores = busy ? atoi(words[4]) : 0;
    if (cores < 0 || cores > 5 || start(tiles, cores) != tiles) {
        fprintf(stderr, "no %d tiles with %d cores\n", tiles, cores);
        return 2;
    }
    advance(settle);
    double started = now();
    advance(clocks);
    double seconds = now() - started;
    printf("%.3f M clocks/s", clocks / seconds / 1e6);
    if (busy)
        printf(" %.2f MIPS word %08x", (double)clocks * tiles * cores / seconds / 1e6, read_word(1, 1, SHARED_WORD));
    printf("\n");
    return 0;
}
