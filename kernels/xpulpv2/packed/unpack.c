/* Reads and writes sixteen elements of 2 to 16 bits as 32-bit integers; see unpack.h. */
#include "unpack.h"

#include "../normalise.h"

typedef uint16_t __attribute__((may_alias)) half;
typedef int16_t __attribute__((may_alias)) signed_half;

#define MAXIMUM_BYTES (2 * DORY_SIXTEEN) /* of sixteen elements */

static inline void read_halves(int32_t *element, const uint8_t *input, bool is_signed)
{
#pragma GCC unroll 4
    for (uint32_t i = 0; i < DORY_SIXTEEN; i++) {
        element[i] = is_signed ? ((const signed_half *)input)[i] : ((const half *)input)[i];
    }
}

static inline void spread_bytes(int32_t *element, const uint8_t *bytes, bool is_signed)
{
#pragma GCC unroll 4
    for (uint32_t i = 0; i < DORY_SIXTEEN; i++) {
        element[i] = is_signed ? (int8_t)bytes[i] : bytes[i];
    }
}

static inline __attribute__((always_inline)) void read_sixteen(int32_t *element, const uint8_t *input, uint32_t bits,
                                                               bool is_signed)
{
    uint32_t bytes[4];
    if (bits == 16) {
        read_halves(element, input, is_signed);
    } else if (bits == 8) {
        spread_bytes(element, input, is_signed);
    } else {
        dory_unpack_sixteen(bytes, input, bits, is_signed);
        spread_bytes(element, (const uint8_t *)bytes, is_signed);
    }
}

void dory_read_elements(int32_t element[DORY_SIXTEEN], const uint8_t *input, uint32_t count, uint32_t bits, bool is_signed)
{
    uint32_t part[MAXIMUM_BYTES / 4];
    if (count < DORY_SIXTEEN) {
        memcpy(part, input, dory_element_bytes(count, bits));
        input = (const uint8_t *)part;
    }
    if (is_signed) {
        read_sixteen(element, input, bits, true);
    } else {
        read_sixteen(element, input, bits, false);
    }
}

static inline void write_sixteen(uint8_t *output, const int32_t *element, uint32_t bits)
{
    uint32_t bytes[4];
    if (bits == 16) {
#pragma GCC unroll 4
        for (uint32_t i = 0; i < DORY_SIXTEEN; i++) {
            ((half *)output)[i] = (uint16_t)element[i];
        }
        return;
    }
    for (uint32_t i = 0; i < 4; i++) {
        bytes[i] = dory_pack_bytes(element + 4 * i);
    }
    dory_pack_sixteen(output, bytes, bits);
}

/* Bits behind the last element are zero. */
void dory_write_elements(uint8_t *output, const int32_t element[DORY_SIXTEEN], uint32_t count, uint32_t bits)
{
    uint32_t part[MAXIMUM_BYTES / 4];
    if (count == DORY_SIXTEEN) {
        write_sixteen(output, element, bits);
        return;
    }
    int32_t present[DORY_SIXTEEN];
    for (uint32_t i = 0; i < DORY_SIXTEEN; i++) {
        present[i] = i < count ? element[i] : 0;
    }
    write_sixteen((uint8_t *)part, present, bits);
    memcpy(output, part, dory_element_bytes(count, bits));
}
