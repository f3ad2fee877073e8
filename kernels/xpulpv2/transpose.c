/* Transposes bytes of four pixels to words of one channel, where lanes are fewer than four or lie unaligned; see
 * transpose.h. */
#include "transpose.h"

void dory_transpose_bytes(const struct dory_transpose *job)
{
    const uint8_t *p0 = job->input, *p1 = p0 + job->offset[0], *p2 = p0 + job->offset[1], *p3 = p0 + job->offset[2];
    uint32_t offset = 0;
    for (uint32_t row = 0; row < job->rows; row++, offset += job->row_bytes) {
        uint8_t *output = job->output + 4 * row;
        for (uint32_t at = offset; at < offset + job->lanes; at++, output += job->lane_bytes) {
            uint32_t low = (uint32_t)(p0[at] | p1[at] << 8), high = (uint32_t)(p2[at] | p3[at] << 8);
            dory_store_word(output, pv_pack_h(high, low));
        }
    }
}
