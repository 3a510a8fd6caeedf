// Unit 3 of four.
#include "many.h"

namespace unit_3 {
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
