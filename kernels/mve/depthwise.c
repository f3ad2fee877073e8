/* Computes depth-wise 3x3 layers of bytes. Shapes: stride 1 or 2 in both directions, HWC.
 *
 * Each core takes a part of the channels. It lays a channel's band of rows as planes, and gathers words of four columns from
 * four rows: with stride 1 the windows of two rows by two columns, which are 36 products in 5 instructions. */
#include "dory/share.h"

#include "lanes.h"
#include "mve.h"
#include "planes.h"
#include "sixteens.h"

struct work {
    const struct dory_layer *layer;
    const struct dory_tile *tile;
    struct dory_mve_planes planes;
    uint8_t *plane;
    int32_t *sums;
    uint8_t flip; /* 0x80 where elements have no sign: they are laid as 128 less, with a sign */
    enum dory_finish kind;
    bool is_shared;
};

static struct work work_of(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core)
{
    struct work work = {.layer = layer, .tile = tile, .planes = dory_mve_planes_of(layer, tile->rows, tile->columns)};
    work.plane = (uint8_t *)tile->scratch + core * dory_mve_planes_core_bytes(&work.planes);
    work.sums = (int32_t *)(void *)(work.plane + 2 * work.planes.plane_bytes);
    work.flip = layer->input_is_signed ? 0 : 0x80;
    work.kind = dory_finish_of(layer);
    work.is_shared = layer->normalisation == DORY_NORMALISE_SHARED;
    return work;
}

/* ---- planes ---- */

/* All of both planes, once for all channels of a band: what is input is the same part of each. */
static void lay_border(const struct work *work)
{
    uint8x16_t value = vdupq_n_u8((uint8_t)((uint8_t)work->layer->border_value ^ work->flip));
    uint8_t *end = work->plane + 2 * work->planes.plane_bytes;
    for (uint8_t *to = work->plane; to < end; to += 16) {
        vstrbq_u8(to, value);
    }
}

/* Of a band's input, what the tile has, and where it lies in the planes. */
struct part {
    const uint8_t *input; /* the first channel of its first pixel */
    uint8_t *plane;
    uint32_t rows, columns;
};

static struct part part_of(const struct work *work, uint32_t first_row, uint32_t rows)
{
    const struct dory_tile *tile = work->tile;
    struct dory_border_rows border = dory_border_of(work->layer, tile);
    uint32_t above = dory_minimum(border.top > first_row ? border.top - first_row : 0, rows);
    uint32_t left = dory_minimum(border.left, work->planes.columns), skipped = first_row + above - border.top;
    uint32_t there = tile->input_rows > skipped ? tile->input_rows - skipped : 0;
    struct part part = {.rows = dory_minimum(rows - above, there)};
    part.columns = dory_minimum(tile->input_columns, work->planes.columns - left);
    part.plane = work->plane + above * work->planes.row_bytes + left;
    part.input = (const uint8_t *)tile->input + skipped * tile->input_columns * tile->channels;
    return part;
}

/* What a row's end takes, of up to eight bytes. */
struct row_end {
    uint16x8_t offsets, flip, border;
    mve_pred16_t there;
};

/* Writes eight bytes to both planes. */
static inline __attribute__((always_inline)) void put_end(const struct row_end *end, const uint8_t *from, uint8_t *to,
                                                          uint8_t *other)
{
    uint16x8_t bytes = veorq_u16(vldrbq_gather_offset_z_u16(from, end->offsets, end->there), end->flip);
    bytes = vpselq_u16(bytes, end->border, end->there);
    vstrbq_u16(to, bytes);
    vstrbq_u16(other, bytes);
}

/* Eights of bytes, in both planes. The second one's first two fall on what lies behind the row above, and what is written
 * behind a row is border: of it, or of the row below, which is laid later. */
static __attribute__((noinline)) void lay_rows(const struct work *work, const struct part *part, uint32_t channel)
{
    uint32_t pixel_bytes = work->tile->channels, line_bytes = work->tile->input_columns * pixel_bytes;
    uint32_t other = work->planes.plane_bytes - 2, row_bytes = work->planes.row_bytes, eights = (part->columns - 1) / 8;
    struct row_end end = {.there = vctp16q(part->columns - 8 * eights), .flip = vdupq_n_u16(work->flip)};
    end.offsets = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)pixel_bytes);
    end.border = vdupq_n_u16((uint8_t)((uint8_t)work->layer->border_value ^ work->flip));
    const uint8_t *line = part->input + channel;
    uint8_t *row = part->plane;
    if (eights == 0) {
        for (uint32_t rows = part->rows; rows > 0; rows--, line += line_bytes, row += row_bytes) {
            put_end(&end, line, row, row + other);
        }
        return;
    }
    for (uint32_t rows = part->rows; rows > 0; rows--, line += line_bytes, row += row_bytes) {
        const uint8_t *from = line;
        uint8_t *to = row;
        for (uint32_t i = eights; i > 0; i--, from += 8 * pixel_bytes, to += 8) {
            uint16x8_t bytes = veorq_u16(vldrbq_gather_offset_u16(from, end.offsets), end.flip);
            vstrbq_u16(to, bytes);
            vstrbq_u16(to + other, bytes);
        }
        put_end(&end, from, to, to + other);
    }
}

/* ---- sums ---- */

/* Weights of the windows of two rows by two columns in a patch of 4x4. */
struct kernel {
    int8x16_t here, right, below, both;
};

/* From three rows of three weights and a zero. */
static inline struct kernel kernel_of(const uint8_t *weights)
{
    int32_t rows[5];
    for (uint32_t i = 0; i < 3; i++) {
        rows[i + 1] = (int32_t)dory_word_at(weights + 4 * i);
    }
    rows[0] = rows[4] = 0;
    int32x4_t here = vldrwq_s32(rows + 1), below = vldrwq_s32(rows);
    return (struct kernel){vreinterpretq_s8_s32(here), vreinterpretq_s8_s32(vshlq_r_s32(here, 8)),
                           vreinterpretq_s8_s32(below), vreinterpretq_s8_s32(vshlq_r_s32(below, 8))};
}

static inline int8x16_t patch_at(const uint8_t *plane, uint32x4_t rows)
{
    return vreinterpretq_s8_s32(vldrwq_gather_offset_s32((const int32_t *)(const void *)plane, rows));
}

/* Where patches begin, from an even column on: fours of columns, of which the second patch is in the second plane. */
struct patches {
    const uint8_t *first, *second;
    uint32x4_t rows;
};

static inline struct patches patches_of(const struct work *work)
{
    return (struct patches){work->plane, work->plane + work->planes.plane_bytes,
                            vmulq_n_u32(vidupq_n_u32(0, 1), work->planes.row_bytes)};
}

/* Stride 1: the last one to three columns of two rows. */
static inline __attribute__((always_inline)) void sum_rest(const struct kernel *kernel, const uint8_t *first,
                                                           const uint8_t *second, uint32x4_t rows, int32_t *sums,
                                                           int32_t *below, uint32_t columns)
{
    int8x16_t patch = patch_at(first, rows);
    sums[0] = vmladavq_s8(patch, kernel->here);
    below[0] = vmladavq_s8(patch, kernel->below);
    if (columns > 1) {
        sums[1] = vmladavq_s8(patch, kernel->right);
        below[1] = vmladavq_s8(patch, kernel->both);
    }
    if (columns > 2) {
        patch = patch_at(second, rows);
        sums[2] = vmladavq_s8(patch, kernel->here);
        below[2] = vmladavq_s8(patch, kernel->below);
    }
}

/* Stride 1, row after row; by twos, so that there may be one more. */
static __attribute__((noinline)) void sum_twos(const struct work *work, const uint8_t *weights, uint32_t rows)
{
    struct kernel kernel = kernel_of(weights);
    struct patches patches = patches_of(work);
    uint32_t columns = work->tile->columns, step = 2 * work->planes.row_bytes;
    int32_t *sums = work->sums;
    for (; rows > 0; rows -= dory_minimum(rows, 2), patches.first += step, patches.second += step) {
        const uint8_t *first = patches.first, *second = patches.second;
        int32_t *below = sums + columns;
        for (uint32_t fours = columns / 4; fours > 0; fours--, first += 4, second += 4, sums += 4, below += 4) {
            int8x16_t patch = patch_at(first, patches.rows);
            sums[0] = vmladavq_s8(patch, kernel.here);
            sums[1] = vmladavq_s8(patch, kernel.right);
            below[0] = vmladavq_s8(patch, kernel.below);
            below[1] = vmladavq_s8(patch, kernel.both);
            patch = patch_at(second, patches.rows);
            sums[2] = vmladavq_s8(patch, kernel.here);
            sums[3] = vmladavq_s8(patch, kernel.right);
            below[2] = vmladavq_s8(patch, kernel.below);
            below[3] = vmladavq_s8(patch, kernel.both);
        }
        if (columns % 4 != 0) {
            sum_rest(&kernel, first, second, patches.rows, sums, below, columns % 4);
        }
        sums = below + columns % 4;
    }
}

/* Stride 2, likewise a row at a time. */
static __attribute__((noinline)) void sum_strides(const struct work *work, const uint8_t *weights, uint32_t rows)
{
    struct kernel kernel = kernel_of(weights);
    struct patches patches = patches_of(work);
    uint32_t columns = work->tile->columns, step = 2 * work->planes.row_bytes;
    int32_t *sums = work->sums;
    for (; rows > 0; rows--, patches.first += step, patches.second += step) {
        const uint8_t *first = patches.first, *second = patches.second;
        for (uint32_t twos = columns / 2; twos > 0; twos--, first += 4, second += 4, sums += 2) {
            sums[0] = vmladavq_s8(patch_at(first, patches.rows), kernel.here);
            sums[1] = vmladavq_s8(patch_at(second, patches.rows), kernel.here);
        }
        if (columns % 2 != 0) {
            *sums++ = vmladavq_s8(patch_at(first, patches.rows), kernel.here);
        }
    }
}

/* ---- from sums to elements ---- */

/* A channel's: so many, `pixel_bytes` apart. */
struct row {
    const int32_t *sums;
    uint8_t *output;
    uint32_t count, pixel_bytes;
};

static inline __attribute__((always_inline)) void finish(enum dory_finish kind, const struct dory_lanes_scale *scale,
                                                         int32_t start, struct row row)
{
    uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), row.pixel_bytes);
    int32x4_t starts = vdupq_n_s32(start);
    for (uint32_t fours = row.count / 4; fours > 0; fours--, row.sums += 4, row.output += 4 * row.pixel_bytes) {
        int32x4_t value = dory_finish_lanes(kind, scale, vaddq_s32(vldrwq_s32(row.sums), starts));
        vstrbq_scatter_offset_s32((int8_t *)row.output, offsets, value);
    }
    if (row.count % 4 != 0) {
        int32x4_t value = dory_finish_lanes(kind, scale, vaddq_s32(vldrwq_s32(row.sums), starts));
        vstrbq_scatter_offset_p_s32((int8_t *)row.output, offsets, value, vctp32q(row.count % 4));
    }
}

static __attribute__((noinline)) void finish_row(const struct work *work, const uint8_t *constants, uint32_t lane,
                                                 struct row row)
{
    struct dory_scale scale = dory_layer_scale_of(work->layer);
    int32_t start = (int32_t)dory_word_at(constants + 4 * lane);
    if (!work->is_shared) {
        dory_read_lane(work->kind, constants + DORY_STARTS_BYTES, lane, &scale);
    }
    struct dory_lanes_scale lanes = dory_lanes_scale_of(&scale);
    switch (work->kind) {
    case DORY_FINISH_HIGH: finish(DORY_FINISH_HIGH, &lanes, start, row); break;
    case DORY_FINISH_HIGH_AWAY: finish(DORY_FINISH_HIGH_AWAY, &lanes, start, row); break;
    case DORY_FINISH_HIGH_EVEN: finish(DORY_FINISH_HIGH_EVEN, &lanes, start, row); break;
    default: finish(DORY_FINISH_32, &lanes, start, row); break;
    }
}

/* ---- all ---- */

/* A band's outputs from `row` on, of a channel. */
static void compute_channel(const struct work *work, const struct part *part, uint32_t channel, uint32_t row, uint32_t rows)
{
    const struct dory_tile *tile = work->tile;
    uint32_t block_bytes = 4 * 12 + DORY_STARTS_BYTES + 4 * dory_channel_constants_bytes(work->layer);
    const uint8_t *block = (const uint8_t *)tile->weights + channel / 4 * block_bytes, *weights = block + channel % 4 * 12;
    struct row to = {.sums = work->sums, .count = rows * tile->columns, .pixel_bytes = tile->channels};
    to.output = (uint8_t *)tile->output + row * tile->columns * to.pixel_bytes + channel;
    if (part->rows > 0 && part->columns > 0) {
        lay_rows(work, part, channel);
    }
    if (work->layer->stride_height == 1) {
        sum_twos(work, weights, rows);
    } else {
        sum_strides(work, weights, rows);
    }
    finish_row(work, block + 4 * 12, channel % 4, to);
}

void dory_mve_depthwise(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    struct work work = work_of(layer, tile, core);
    struct dory_share share = dory_share_of(tile->channels, core, cores);
    for (uint32_t row = 0; row < tile->rows; row += work.planes.band_rows) {
        uint32_t rows = dory_minimum(work.planes.band_rows, tile->rows - row), stride = layer->stride_height;
        struct part part = part_of(&work, row * stride, dory_input_extent(rows, 3, stride, 1));
        lay_border(&work);
        for (uint32_t channel = share.first; channel < share.end; channel++) {
            compute_channel(&work, &part, channel, row, rows);
        }
    }
}
