// Classes of C++: templates with bases, several and virtual bases, empty ones, values as arguments.
#include "types.h"

enum class direction_t : uint8_t { east, west, north, south };

struct empty_t {};
struct tag_t {};

template <uint32_t SLOTS>
class slots_t {
public:
    static constexpr uint32_t count = SLOTS;
    uint32_t words[SLOTS];
protected:
    uint8_t used;
};

template <typename HEADER, uint32_t SLOTS, direction_t DIRECTION, bool FIRST_LEVEL_ACK = false>
class channel_t : public slots_t<SLOTS>, private tag_t {
public:
    using header_type = HEADER;
    static constexpr direction_t direction = DIRECTION;
    static constexpr bool first_level_ack = FIRST_LEVEL_ACK;
    uint8_t in_the_hole_of_the_base;
    HEADER *next;
    HEADER headers[2];
    uint32_t room() const { return SLOTS - this->used; }
};

struct header_t {
    uint16_t bytes;
    direction_t direction : 3;
    uint8_t hops : 5;
    union {
        uint32_t word;
        struct {
            uint8_t low;
            union {
                uint8_t a[3];
                struct {
                    uint8_t b0, b1;
                } pair;
            };
        };
    };
};

struct left_t : empty_t {
    uint16_t left;
};
struct right_t {
    uint64_t right;
    uint8_t last;
};
struct both_t : left_t, right_t {
    uint8_t own;
    [[no_unique_address]] empty_t nothing;
};

// The vtable holds the offsets of virtual bases: the type alone does not give them.
struct root_t {
    uint32_t root;
};
struct one_t : virtual root_t {
    uint32_t one;
};
struct two_t : virtual root_t {
    uint32_t two;
};
struct diamond_t : one_t, two_t {
    uint32_t tip;
};
struct shape_t {
    virtual uint32_t area() const;
    uint32_t width;
};
struct square_t : shape_t {
    uint32_t area() const override;
    uint32_t depth;
};
uint32_t shape_t::area() const { return width; }
uint32_t square_t::area() const { return width * width; }

template <typename... TYPES>
struct pack_t;
template <>
struct pack_t<> {};
template <typename FIRST, typename... REST>
struct pack_t<FIRST, REST...> : pack_t<REST...> {
    FIRST first;
};

template <const uint32_t *POINTER, int NEGATIVE, char LETTER>
struct values_t {
    static constexpr int negative = NEGATIVE;
    static constexpr char letter = LETTER;
    uint8_t bytes[NEGATIVE + 10];
};

struct credit_t {
    uint8_t stream_id;
    uint16_t slots;
};
constexpr credit_t credits[3] = {{22, 8}, {23, 16}, {32, 0}};
constexpr credit_t first_credit = credits[0];
template <uint32_t CHANNEL>
constexpr uint32_t stream_of = 22 + CHANNEL;
constexpr bool enabled = true;
constexpr char letter = 'x';
constexpr uint64_t wide = 0x123456789abcdef0;
constexpr int64_t wide_negative = -2;
constexpr double ratio = 2.5;
constexpr direction_t facing = direction_t::south;
constexpr uint8_t cube[2][2][3] = {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}};
constexpr const char *name = "router";
inline constexpr uint32_t inlined_constant = 41;

const uint32_t anchor = 5;
channel_t<header_t, 8, direction_t::west> sender;
channel_t<header_t, 16, direction_t::east, true> receiver;
both_t both;
diamond_t diamond;
square_t square;
pack_t<uint8_t, uint32_t, header_t> pack;
values_t<&anchor, -3, 'q'> values;
uint32_t sixth[2][3][4][1][2][5];
uint8_t nothing_in_the_middle[3][0][4];
int (*operations[2])(const header_t &, uint8_t (&)[4]);
uint32_t both_t::*member_pointer = nullptr;
uint32_t (header_t::*function_pointer)(int) const = nullptr;

// The vtable requires it when there is no C++ library.
extern "C" void __cxa_pure_virtual() {}
void operator delete(void *, unsigned) noexcept {}

extern "C" int start() {
    int sum = credits[sender.words[0] & 1].slots + stream_of<3> + first_credit.slots + enabled +
              letter;
    sum += static_cast<int>(wide + wide_negative + static_cast<uint64_t>(ratio)) +
           static_cast<int>(facing);
    sum += cube[1][sum & 1][2] + name[1] + inlined_constant + values.bytes[0] +
           values_t<&anchor, -3, 'q'>::negative;
    sum += sender.room() + receiver.room() + diamond.root + square.area() + pack.first + both.own;
    return sum + sixth[1][2][3][0][1][4] + sender.count + receiver.first_level_ack;
}
