// The source of the corpus seeds: a small example of each construct that readers treat differently.
// See `seeds.sh`.
typedef unsigned int word_t;
enum class color_t : unsigned char { red = 1, blue = 2 };
namespace in {
template <int N> struct base_t {
    word_t first : 3;
    int second : 5;
    static constexpr int slots = N;
};
}
struct node_t : in::base_t<3> {
    node_t *next;
    union {
        word_t raw;
        unsigned char bytes[2][2];
    };
    color_t color;
    word_t slots[4];
};
node_t nodes[2];
node_t *volatile head = nodes;
constexpr word_t limit = 77;
static inline __attribute__((always_inline)) word_t twice(word_t x) { return head->raw + x * limit; }
__attribute__((noinline)) word_t work(word_t x) { return twice(x) + twice(x + nodes[0].slots[1]); }
extern "C" word_t start(word_t x) {
    static word_t calls;
    calls += work(x);
    return work(calls) + in::base_t<3>::slots;
}
