// Arrays of the standard library, as constants of the debug information and in memory.
#include <stdint.h>

namespace std {
template <typename T, decltype(sizeof(0)) N>
struct array {
    T _M_elems[N];
    constexpr const T &operator[](decltype(sizeof(0)) at) const { return _M_elems[at]; }
};
}  // namespace std

struct point_t {
    int16_t x, y;
};

constexpr std::array<uint32_t, 3> SLOTS = {8, 16, 4};
constexpr std::array<std::array<uint8_t, 2>, 2> PAIRS = {{{1, 2}, {3, 4}}};
std::array<point_t, 2> points = {{{1, -2}, {3, -4}}};
uint8_t small = 200;
int32_t lowest = -2147483647 - 1;
volatile uint32_t sink;

extern "C" void start() {
    sink = SLOTS[sink] + PAIRS[sink][1] + uint32_t(points[sink].y) + small + uint32_t(lowest);
}
