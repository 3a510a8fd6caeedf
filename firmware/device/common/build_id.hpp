// The loaded word by which a tool identifies the running image from L1. firmware/build computes it
// from the image's sources and flags. Symbol `meshscope_build_id`, 16 bytes: the letters
// "meshscop", then the 64-bit id, little-endian.
#pragma once
#include <stdint.h>

struct meshscope_build_id_t {
    char magic[8];
    uint64_t id;
};

extern "C" {
extern const meshscope_build_id_t meshscope_build_id;
__attribute__((used, section(".meshscope_build_id")))
const meshscope_build_id_t meshscope_build_id = {{'m', 'e', 's', 'h', 's', 'c', 'o', 'p'},
                                                 MESHSCOPE_BUILD_ID};
}
