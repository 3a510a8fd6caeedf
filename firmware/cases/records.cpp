// Records whose description differs most between forms of debug information: bit-fields across their
// storage units, and types that contain pointers to themselves and to each other.
#include "types.h"

enum signed_t { LOW = -3, ZERO, HIGH = 2 };
enum unsigned_t { NONE, NINE = 9 };
enum class mode_t : uint8_t { off, on, loud = 7 };

struct __attribute__((packed)) cross_t {
    uint32_t a : 9;
    uint32_t b : 14;
    uint32_t c : 17;
    int32_t tail : 5;
};
struct __attribute__((packed)) mixed_t {
    signed char a : 3;
    bool flag : 1;
    signed_t kind : 5;
    unsigned_t other : 4;
    mode_t mode : 5;
    uint64_t big : 50;
    int64_t negative : 33;
    uint16_t whole : 16;
};
struct __attribute__((packed)) wide_t {
    char before;
    uint64_t x : 63;
    uint64_t y : 63;
    int32_t z : 31;
    int32_t w : 31;
    const volatile int32_t last : 11;
};
struct plain_t {
    uint32_t a : 5;
    uint32_t : 3;
    int32_t b : 20;
    uint32_t : 0;
    bool c : 1;
    uint64_t d : 45;
    int64_t e : 20;
};
struct inherited_t : plain_t {
    uint16_t extra : 9;
    struct {
        uint32_t inner : 3;
        int32_t deeper : 4;
    };
};
union overlaid_t {
    uint64_t all : 40;
    int32_t part : 7;
    struct __attribute__((packed)) {
        uint32_t x : 3;
        int32_t y : 30;
    } in;
};
template <int N> struct __attribute__((packed)) divided_t {
    uint64_t low : N;
    int64_t high : 64 - N;
    uint32_t more : N;
};

struct node_t {
    node_t *next;
    uint32_t value;
};
namespace graph {
struct edge_t;
union any_t;
struct vertex_t {
    edge_t *edge;
    vertex_t *same[2];
    struct inner_t {
        inner_t *next;
        vertex_t *around;
        uint32_t value;
    } inner;
    uint32_t value;
    uint32_t get() const;
};
struct edge_t {
    vertex_t *from;
    vertex_t &to;
    any_t *any;
    mode_t mode;
};
union any_t {
    any_t *next;
    vertex_t *vertex;
};
template <typename T> struct list_t {
    list_t *next;
    T value;
};
uint32_t vertex_t::get() const { return value; }
}

cross_t cross = {0x155, 0xabc, 0x1234, -2};
cross_t crosses[2] = {{1, 2, 3, 4}, {0x1aa, 0x2bbb, 0x1cccc, -7}};
mixed_t mixed = {-3, true, LOW, NINE, mode_t::loud, 0x2aaaabbbbccccULL, -4000000001LL, 0xbeef};
wide_t wide = {'x', 0x7123456789abcdefULL, 0x4fedcba987654321ULL, -0x30000000, 0x3abcdef0, -700};
plain_t plain = {21, -400000, true, 0x123456789abcULL, -300000};
inherited_t inherited = {{1, -2, false, 3, -4}, 300, {5, -3}};
overlaid_t overlaid = {0xabcdef1234ULL};
divided_t<13> divided13 = {0x1abc, -123456789012345LL, 0x1555};
divided_t<27> divided27 = {0x5abcdef, -1234567890LL, 0x7654321};

node_t last = {nullptr, 22}, first = {&last, 11};
extern graph::vertex_t v1;
graph::any_t any = {nullptr};
graph::vertex_t v2 = {nullptr, {&v1, &v2}, {nullptr, &v2, 5}, 22};
graph::edge_t edge = {&v1, v2, &any, mode_t::on};
graph::vertex_t v1 = {&edge, {&v1, &v2}, {&v2.inner, &v1, 6}, 11};
graph::list_t<int32_t> numbers2 = {nullptr, -5}, numbers = {&numbers2, -4};
graph::list_t<graph::vertex_t *> vertices = {nullptr, &v2};
graph::list_t<graph::list_t<int32_t>> lists = {nullptr, {&numbers2, -6}};

extern "C" uint32_t start() {
    return cross.a + crosses[1].b + mixed.a + wide.x + plain.a + inherited.extra + overlaid.part +
           divided13.low + divided27.low + first.next->value + v1.edge->to.get() + v1.inner.value +
           numbers.next->value + vertices.value->value + lists.value.value;
}
