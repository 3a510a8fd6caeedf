// Unit 0 of four.
#include "many.h"

namespace unit_0 {
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
#include "rows.inc"
}

extern "C" int start() {
    return 0;
}
