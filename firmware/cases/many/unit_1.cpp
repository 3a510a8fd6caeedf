// Unit 1 of four.
#include "many.h"

namespace unit_1 {
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
