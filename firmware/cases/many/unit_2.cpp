// Unit 2 of four.
#include "many.h"

namespace unit_2 {
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
