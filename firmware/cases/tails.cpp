// Calls that became jumps. A path to `leaf` is certain through `one` and `three`, has two ways
// through `fork`, may pass a pointer in `unknown`, and is certain at both ends in `ends`.
using u32 = unsigned;

volatile u32 sink, stop;
u32 (*pointer)(u32);

#define NOINLINE __attribute__((noinline, noclone))

extern "C" {
NOINLINE u32 leaf(u32 a) {
    while (!stop) sink = a;
    return sink;
}
static inline u32 times_three(u32 a) {
    sink = a;
    return a * 3;
}
NOINLINE u32 one(u32 a) { return leaf(times_three(a)); }
NOINLINE u32 three_c(u32 a) {
    sink = 4;
    return leaf(a + 4);
}
NOINLINE u32 three_b(u32 a) { return three_c(a + 3); }
NOINLINE u32 three(u32 a) { return three_b(a + 2); }
NOINLINE u32 left(u32 a) {
    sink = 5;
    return leaf(a + 5);
}
NOINLINE u32 right(u32 a) {
    sink = 6;
    return leaf(a + 6);
}
NOINLINE u32 fork(u32 a) { return a & 1 ? left(a) : right(a); }
NOINLINE u32 unknown(u32 a) { return a & 1 ? leaf(a) : pointer(a); }
NOINLINE u32 odd(u32 a);
NOINLINE u32 even(u32 a) {
    sink = a;
    return a ? odd(a - 1) : leaf(0);
}
NOINLINE u32 odd(u32 a) {
    sink = a + 1;
    return a ? even(a - 1) : leaf(1);
}
NOINLINE u32 last(u32 a) {
    sink = 8;
    return leaf(a + 8);
}
NOINLINE u32 middle_a(u32 a) {
    sink = 9;
    return last(a + 9);
}
NOINLINE u32 middle_b(u32 a) {
    sink = 10;
    return last(a + 10);
}
NOINLINE u32 ends_fork(u32 a) { return a & 1 ? middle_a(a) : middle_b(a); }
NOINLINE u32 ends(u32 a) {
    sink = 11;
    return ends_fork(a);
}
void start() {
    u32 sum = leaf(1);
    sum += one(2);
    sum += three(3);
    sum += fork(sum);
    sum += unknown(sum);
    sum += even(sum);
    sum += ends(sum);
    sum += pointer(sum);
    sink = sum;
}
}
