// The worker's computations: sums, patterns, digests.
#include "worker_moves.hpp"

namespace ccl {
namespace {

uint32_t* words_of(uint32_t address) { return reinterpret_cast<uint32_t*>(address); }

// The byte count is a multiple of 32, so an iteration takes eight words.
void add_integers(uint32_t* sum, const uint32_t* addend, const uint32_t* end) {
    for (; sum != end; sum += 8, addend += 8) {
        uint32_t a = sum[0] + addend[0], b = sum[1] + addend[1], c = sum[2] + addend[2],
                 d = sum[3] + addend[3];
        uint32_t e = sum[4] + addend[4], f = sum[5] + addend[5], g = sum[6] + addend[6],
                 h = sum[7] + addend[7];
        sum[0] = a, sum[1] = b, sum[2] = c, sum[3] = d;
        sum[4] = e, sum[5] = f, sum[6] = g, sum[7] = h;
    }
}

void clear_words(uint32_t* out, const uint32_t* end) {
    for (; out != end; out += 8) {
        out[0] = out[1] = out[2] = out[3] = out[4] = out[5] = out[6] = out[7] = 0;
    }
}

// Writes whole words of a rank's data, from word `index` of it.
template <ccl_data_type_t type>
void make_words(uint32_t* out, const uint32_t* end, uint32_t rank, uint32_t index) {
    uint32_t seed = args.seed;
    for (; out != end; ++out, ++index) {
        *out = ccl_pattern(type, seed, rank, index);
    }
}

void make_words(uint32_t* out, const uint32_t* end, uint32_t rank, uint32_t index) {
    switch (args.data_type) {
        case CCL_FLOAT32: return make_words<CCL_FLOAT32>(out, end, rank, index);
        case CCL_BFLOAT16: return make_words<CCL_BFLOAT16>(out, end, rank, index);
        default: return make_words<CCL_INT32>(out, end, rank, index);
    }
}

}  // namespace

void add_words(const packet_t& packet) {
    compiler_barrier();
    uint32_t *sum = words_of(packet.area), *end = words_of(packet.area + packet.bytes);
    const uint32_t* addend = words_of(packet.addend);
    switch (args.data_type) {
        case CCL_FLOAT32: add_floats(sum, addend, end); break;
        case CCL_BFLOAT16: add_bfloats(sum, addend, end); break;
        default: add_integers(sum, addend, end); break;
    }
    compiler_barrier();
}

// Words beyond the elements of the rank's data are zero.
void fill_words(const packet_t& packet) {
    uint32_t *out = words_of(packet.area), *end = words_of(packet.area + packet.bytes);
    uint32_t in_word = 4 / element_bytes(),
             element = packet.command->first_element +
                       packet.first_page * (page_bytes() / element_bytes());
    uint32_t elements = element < args.elements ? args.elements - element : 0,
             whole = elements / in_word;
    if (whole >= packet.bytes / 4) {
        make_words(out, end, packet.command->rank, element / in_word);
    } else {
        clear_words(out, end);
        make_words(out, out + whole, packet.command->rank, element / in_word);
        if (elements % in_word != 0) {
            out[whole] = ccl_pattern(args.data_type, args.seed, packet.command->rank,
                                     element / in_word + whole) &
                         0xFFFF;
        }
    }
    compiler_barrier();
}

void digest_words(const packet_t& packet) {
    compiler_barrier();
    volatile uint32_t& result = word_at(args.digests_address + packet.index * 4);
    uint32_t digest = packet.slice == 0 && packet.first_page == 0 ? CCL_DIGEST_SEED : result;
    const uint32_t *in = words_of(packet.area), *end = words_of(packet.area + packet.bytes);
    for (; in != end; ++in) {
        digest = ccl_digest(digest, *in);
    }
    result = digest;
}

}  // namespace ccl
