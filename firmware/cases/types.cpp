// Every kind of type, variable and constant that the reader supports, once.
#include "types.h"

struct header_t {
    volatile uint8_t kind;
    uint8_t : 2;
    uint8_t flag : 1;
    uint16_t length;
};

struct packed_t {
    uint32_t low : 5;
    int32_t middle : 7;
    uint32_t straddles : 13;
    uint32_t : 0;
    uint8_t last : 3;
    bool set : 1;
};

struct base_t {
    uint32_t base_word;
};

class derived_t : public base_t {
public:
    static constexpr uint32_t limit = 77;
    uint64_t own;
private:
    uint8_t tail;
};

union word_t {
    uint32_t all;
    struct {
        uint8_t first;
        uint8_t second;
        uint16_t rest;
    };
    float as_float;
};

enum color_t { RED, GREEN = 5, BLUE = -1 };
enum class mode_t : uint8_t { off = 0, on = 1, loud = 0xff };
enum { NAMELESS_ONE = 1001 };

typedef struct {
    int32_t x, y;
} point_t;

template <typename T, int N>
struct ring_t {
    struct slot_t {
        T value;
        uint8_t valid;
    };
    slot_t slots[N];
    uint16_t head;
};

namespace outer {
namespace inner {
struct thing_t {
    uint16_t a;
    uint32_t b;
};
constexpr uint32_t stream_id = 22;
uint32_t counter = 3;
}
struct thing_t {
    uint8_t other;
};
}

namespace {
struct secret_t {
    uint32_t word;
};
secret_t secret = {9};
}

struct alignas(16) big_t {
    header_t header;
    uint32_t grid[2][3];
    volatile uint16_t ids[5];
    uint8_t none[0];
    uint8_t before_hole;
    uint64_t after_hole;
    word_t word;
    point_t points[2];
    const color_t color;
    mode_t mode;
    bool yes;
    char letter;
    float ratio;
    double precise;
    big_t *next;
    hidden_t *hidden;
    outer::later_t *later;
    void (*handler)(int32_t, const char *);
    uint32_t (*row)[3];
    uint32_t *volatile pointer;
    volatile uint32_t *const volatile both;
    const void *anything;
    outer::inner::thing_t thing;
    ring_t<uint16_t, 4> ring;
    ring_t<uint16_t, 4>::slot_t slot;
    packed_t packed;
    derived_t derived;
    uint8_t open[];
};

struct mailboxes_t {
    uint32_t rd_ptr;
    struct launch_t {
        uint16_t ids[2];
        uint32_t enables;
    } launch[8];
};

// As in tt-metal: a constant pointer without storage.
constexpr unsigned mailbox_base = 0x3dd50;
static mailboxes_t *const mailboxes = (mailboxes_t *)mailbox_base;
constexpr uint32_t table[4] = {1, 2, 3, 0xdeadbeef};
constexpr long long negative = -5;
constexpr float half = 0.5f;
const uint32_t stored_table[3] = {10, 20, 30};

big_t *big_pointer;
hidden_t *hidden_pointer;
outer::later_t *later_pointer;
outer::thing_t shallow;
outer::inner::thing_t deep;
uint32_t grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
extern uint32_t *declared_open[];
uint32_t *declared_open[4];
color_t color = GREEN;
derived_t derived;
packed_t packed;
volatile uint32_t *const volatile doubly = nullptr;

uint32_t &reference = outer::inner::counter;

int use(const uint32_t *table);

static uint32_t count_calls() {
    static uint32_t calls = 40;
    constexpr uint32_t step = 2;
    struct local_t {
        uint32_t only_here;
    } local = {calls + step};
    calls = local.only_here;
    return calls;
}

extern "C" int start() {
    mailboxes->launch[1].enables = secret.word;
    use(table);
    packed.low =
        ((uint32_t)mode_t::on + BLUE + NAMELESS_ONE + (uint32_t)half + (uint32_t)negative) & 31;
    return count_calls() + use(stored_table) + derived_t::limit + outer::inner::stream_id;
}
