// Completes what types.h only declares.
#include "types.h"

struct hidden_t {
    uint32_t found;
    struct nested_t {
        uint8_t deep;
    } nested;
};

namespace outer {
struct later_t {
    uint16_t here;
};
}

hidden_t hidden = {1, {2}};
outer::later_t later = {3};

int use(const unsigned *table) {
    return table[hidden.nested.deep] + later.here;
}
