/* Computes depth-wise layers 3x3 of unsigned bytes, stride 1 or 2. Input CHW, output HWC, one column of border: on both
 * sides for stride 1; on the left for stride 2, or on the right as TensorFlow has it.
 *
 * A strip is four columns of one channel after another, from top to bottom. The last strip overlaps the one before where
 * the width is no multiple of four, or has the one or two columns that are left; the planner knows which takes less.
 * Inner loop: depthwise_3x3.h, each input word loaded once where it lies. */
#include "depthwise_3x3_chw.h"
#include "../scratch.h"
#include "../share.h"
#include "../xpulpv2.h"
#include "quads.h"

#define MAXIMUM_ROWS 120 /* of a band: see dory_rounds */

/* Strides; for stride 2 the side of the border. */
enum way { STRIDE_1, STRIDE_2_LEFT, STRIDE_2_RIGHT };

/* Columns of the output in a range of channels. */
struct strip {
    const uint8_t
        *left; /* first row; stride 2: column 0. Stride 1: columns -1 to 2, or 0 to 3 and then shifted up by left_shift */
    const uint8_t *right;             /* stride 1: columns 1 to 4, or 0 to 3 and then shifted down by right_shift */
    uint32_t left_shift, right_shift; /* stride 2: not 0 where the strip reads border on that side */
    uint32_t left_align, right_align; /* the shifts, or what selects bytes of the word and of the border */
    uint32_t border;                  /* a word of it */
    uint32_t rounds, rest;            /* of rows: see dory_rounds */
    uint32_t pitch;                   /* from row to row of the input */
    uint32_t plane_rest;              /* from behind the last row that is read to the next lane's first */
    int32_t step, row_step;           /* in the output */
    uint32_t width;                   /* of it: 4, or what rows end in; with stride 1 the last ones of four */
};

/* The work on one tile. */
struct work {
    const struct dory_tile *tile;
    struct dory_normaliser normaliser;
    enum way way;
    uint32_t columns, channels;
    uint32_t quads;
    uint32_t plane_bytes, quad_bytes;
    uint32_t constants_bytes; /* of a quad */
    uint32_t quad, strip;     /* at work */
};

struct job;

/* Computes a strip in its lanes. */
typedef void compute_function(struct job *job);

/* All that the assembly reads and writes: it leaves one register to find it by. */
struct job {
    struct work work;
    struct strip strip;
    struct dory_lanes lanes;
    compute_function *end; /* of the last columns; none: strips of four are all */
};

static inline uint32_t stride_of(enum way way) { return way == STRIDE_1 ? 1 : 2; }

/* Kinds whose border need not be zero. */
static inline bool knows_border(enum dory_direct kind) { return kind == DORY_DIRECT_HIGH_AWAY || kind == DORY_DIRECT_SPLIT; }

#if defined(DORY_XPULPV2)

#define COMPUTE_JOB(compute, way, kind)                                                                                     \
    do {                                                                                                                    \
        const struct work *work = &job->work;                                                                               \
        const struct strip *strip = &job->strip;                                                                            \
        struct dory_lanes *lanes = &job->lanes;                                                                             \
        COMPUTE(compute, way, kind);                                                                                        \
    } while (0)

/* Stride 1, with the words of one edge or both. */
#define COMPUTE_AT_EDGE(compute, kind)                                                                                      \
    do {                                                                                                                    \
        if (knows_border(kind)) {                                                                                           \
            COMPUTE_JOB(compute, BORDER, kind);                                                                             \
        } else {                                                                                                            \
            COMPUTE_JOB(compute, ALIGN, kind);                                                                              \
        }                                                                                                                   \
    } while (0)

static inline __attribute__((always_inline)) void compute_stride_1(struct job *job, uint32_t width, enum dory_direct kind)
{
    if (width == 1) {
        COMPUTE_AT_EDGE(COMPUTE_ONE, kind);
    } else if (width == 2) {
        COMPUTE_AT_EDGE(COMPUTE_HALF, kind);
    } else if (job->strip.left_shift | job->strip.right_shift) {
        COMPUTE_AT_EDGE(COMPUTE_STRIDE_1, kind);
    } else {
        COMPUTE_JOB(COMPUTE_STRIDE_1, LEAVE, kind);
    }
}

#define COMPUTE_STRIDE_2_OF(side, kind)                                                                                     \
    do {                                                                                                                    \
        if (width == 1) {                                                                                                   \
            COMPUTE_JOB(COMPUTE_STRIDE_2_ONE, side, kind);                                                                  \
        } else if (width == 2) {                                                                                            \
            COMPUTE_JOB(COMPUTE_STRIDE_2_HALF, side, kind);                                                                 \
        } else if (job->strip.left_shift | job->strip.right_shift) {                                                        \
            COMPUTE_JOB(COMPUTE_STRIDE_2, side##_EDGE, kind);                                                               \
        } else {                                                                                                            \
            COMPUTE_JOB(COMPUTE_STRIDE_2, side, kind);                                                                      \
        }                                                                                                                   \
    } while (0)

/* `way`, `width` and `kind` are constants. */
static inline __attribute__((always_inline)) void compute(struct job *job, enum way way, uint32_t width,
                                                          enum dory_direct kind)
{
    if (way == STRIDE_1) {
        compute_stride_1(job, width, kind);
    } else if (way == STRIDE_2_LEFT) {
        COMPUTE_STRIDE_2_OF(LEFT, kind);
    } else {
        COMPUTE_STRIDE_2_OF(RIGHT, kind);
    }
}

#else

/* Words whose first three bytes each of the last `width` of four outputs reads. */
static void load_row_stride_1(const struct strip *strip, uint32_t offset, uint32_t word[4])
{
    uint32_t border = strip->border & 0xFF;
    word[0] = dory_load_word(strip->left + offset) << strip->left_shift | (strip->left_shift ? border : 0);
    word[1] = word[0] >> 8;
    word[2] = dory_load_word(strip->right + offset) >> strip->right_shift | (strip->right_shift ? border << 24 : 0);
    word[3] = word[2] >> 8;
}

static void load_row_stride_2(const struct strip *strip, uint32_t offset, int32_t left, uint32_t word[4])
{
    for (int32_t i = 0, width = (int32_t)strip->width; i < width; i++) {
        word[4 - width + i] = 0;
        for (int32_t tap = 0; tap < 3; tap++) {
            int32_t column = 2 * i - left + tap;
            bool there = !(strip->left_shift && column < 0) && !(strip->right_shift && column == 2 * width);
            uint32_t byte = there ? strip->left[(int32_t)offset + column] : strip->border & 0xFF;
            word[4 - width + i] |= byte << (8 * tap);
        }
    }
}

static void compute_row(const struct job *job, uint32_t first_row, uint8_t *output)
{
    const struct strip *strip = &job->strip;
    int32_t sum[4] = {0};
    for (uint32_t ky = 0; ky < 3; ky++) {
        uint32_t word[4] = {0}, offset = (first_row + ky) * strip->pitch;
        if (job->work.way == STRIDE_1) {
            load_row_stride_1(strip, offset, word);
        } else {
            load_row_stride_2(strip, offset, job->work.way == STRIDE_2_LEFT, word);
        }
        for (unsigned i = 0; i < 4; i++) {
            sum[i] = pv_sdotusp_b(sum[i], word[i], dory_load_word(job->lanes.weights + 4 * ky));
        }
    }
    dory_normalise_in_its_kind(&job->work.normaliser, sum, 1, 4, job->lanes.constants);
    for (int32_t i = 0; i < (int32_t)strip->width; i++) {
        output[i * strip->step] = (uint8_t)sum[3 - i];
    }
}

static void compute(struct job *job, enum way way, uint32_t width, enum dory_direct kind)
{
    (void)kind, (void)width;
    struct work *work = &job->work;
    struct strip *strip = &job->strip;
    struct dory_lanes *lanes = &job->lanes;
    uint32_t stride = stride_of(way), round = stride == 2 ? 2 : 3,
             rows = (strip->rounds - (strip->rest != 0)) * round + strip->rest;
    for (; lanes->left > 0; lanes->left--) {
        for (uint32_t row = 0; row < rows; row++) {
            compute_row(job, row * stride, lanes->output + row * work->columns * work->channels);
        }
        strip->left += work->plane_bytes;
        strip->right += work->plane_bytes;
        lanes->weights += 12;
        lanes->constants += dory_direct_constants_bytes(&work->normaliser);
        lanes->output++;
        if (lanes->left % 4 == 1) {
            lanes->weights += work->constants_bytes;
            lanes->constants += 48;
        }
    }
}

#endif

/* The strip at work, from output column `column` on; `row` is where the first input row starts. */
static inline void place_strip(const struct work *work, struct strip *strip, uint32_t column, const uint8_t *row,
                               enum way way, bool selects)
{
    uint32_t end = column + strip->width;
    bool first = column == 0 && way != STRIDE_2_RIGHT, last = end == work->columns && way != STRIDE_2_LEFT;
    if (way == STRIDE_1) {
        strip->left = row + end - 4 - (first ? 0 : 1);
        strip->right = row + end - 4 + (last ? 0 : 1);
    } else {
        strip->left = strip->right = row + 2 * column;
    }
    strip->left_shift = first ? 8 : 0;
    strip->right_shift = last ? 8 : 0;
    if (way == STRIDE_1) {
        strip->left_align = !selects ? strip->left_shift : first ? 0x02010004 : 0x03020100;
        strip->right_align = !selects ? strip->right_shift : last ? 0x04030201 : 0x03020100;
    }
}

/* The assembly of these kinds reads no more of it than the shift. */
static inline void start_normaliser(struct dory_normaliser *normaliser, const struct dory_layer *layer,
                                    enum dory_direct kind)
{
#if defined(DORY_XPULPV2)
    if (kind == DORY_DIRECT || kind == DORY_DIRECT_CLAMPED) {
        normaliser->direct_shift = layer->shift;
        return;
    }
#endif
    dory_start_normaliser_as(normaliser, layer, kind);
}

/* Field by field: an initialiser would be a call that clears all. */
static inline void start_work(struct work *work, const struct dory_layer *layer, const struct dory_tile *tile, enum way way,
                              enum dory_direct kind)
{
    start_normaliser(&work->normaliser, layer, kind);
    work->tile = tile;
    work->way = way;
    work->columns = tile->columns;
    work->channels = tile->channels;
    work->quads = (tile->channels + 3u) / 4;
    work->plane_bytes = (uint32_t)tile->input_rows * tile->input_columns;
    work->constants_bytes = dory_constants_bytes(layer);
    work->quad_bytes = 48 + work->constants_bytes;
}

/* What does not change from strip to strip, and what changes with its rows. */
static inline void start_strips(const struct work *work, struct strip *strip, uint32_t width)
{
    strip->pitch = work->tile->input_columns;
    strip->step = -(int32_t)work->channels;
    strip->row_step = (int32_t)((work->columns + width - 1) * work->channels);
    strip->width = width;
}

static inline void set_rows(const struct work *work, struct strip *strip, uint32_t rows, uint32_t stride)
{
    strip->rounds = dory_rounds(rows, stride, &strip->rest);
    strip->plane_rest = work->plane_bytes - (stride == 2 ? 2 * rows + 1 : rows + 2) * strip->pitch;
}

/* Rows `first` and up of a strip, in so many quads. */
static inline __attribute__((always_inline)) void run_rows(struct job *job, uint32_t first, uint32_t rows, uint32_t quads,
                                                           enum way way, enum dory_direct kind, compute_function *four)
{
    struct work *work = &job->work;
    const struct dory_tile *tile = work->tile;
    uint32_t width = job->strip.width, column = dory_minimum(4 * work->strip, work->columns - width);
    uint32_t channel = 4 * work->quad, last_pixel = first * work->columns + column + width - 1;
    job->lanes.weights = (const uint8_t *)tile->weights + work->quad * work->quad_bytes;
    job->lanes.constants = job->lanes.weights + 48;
    job->lanes.output = (uint8_t *)tile->output + last_pixel * work->channels + channel;
    job->lanes.left = dory_minimum(4 * quads, work->channels - channel);
    place_strip(work, &job->strip, column,
                (const uint8_t *)tile->input + channel * work->plane_bytes + first * stride_of(way) * job->strip.pitch, way,
                knows_border(kind));
    set_rows(work, &job->strip, rows, stride_of(way));
    if (width < 4) {
        job->end(job);
    } else {
        four(job);
    }
}

/* A core's share of the grid of strips and quads, by rows: strips are long, and balanced to a row. `whole` columns of rows
 * are among them, perhaps between parts of two others. */
struct share {
    uint32_t column, first, items, whole;
};

/* Where columns are even there are no parts: divisions take as long as a row. */
static inline struct share share_of(uint32_t columns, uint32_t rows, unsigned core, unsigned cores)
{
    if (cores == 8 && columns % 8 == 0) {
        uint32_t whole = columns / 8;
        return (struct share){.column = core * whole, .items = whole * rows, .whole = whole};
    }
    struct dory_grid_share grid = dory_grid_share_of(columns, rows, core, cores);
    uint32_t begun = grid.first ? dory_minimum(rows - grid.first, grid.items) : 0, left = grid.items - begun;
    return (struct share){grid.row, grid.first, grid.items, left < rows ? 0 : dory_quotient(left, rows)};
}

/* Quads of a strip at once, in bands that the assembly can count, and on to the next one. */
static inline __attribute__((always_inline)) void run_column(struct job *job, uint32_t first, uint32_t rows, uint32_t quads,
                                                             enum way way, enum dory_direct kind, compute_function *four)
{
    struct work *work = &job->work;
    for (uint32_t end = first + rows; first < end; first += MAXIMUM_ROWS) {
        run_rows(job, first, dory_minimum(MAXIMUM_ROWS, end - first), quads, way, kind, four);
    }
    work->quad += quads;
    if (work->quad == work->quads) {
        work->quad = 0;
        work->strip++;
    }
}

/* Quads of a strip that may follow each other from `work->quad` on, of so many: with four channels each. */
static inline uint32_t quads_together(const struct work *work, uint32_t rows, uint32_t whole)
{
    uint32_t quads = work->channels / 4 - work->quad;
    return rows > MAXIMUM_ROWS || quads == 0 ? 1 : dory_minimum(quads, whole);
}

/* Strips `strip` and up. `way` and `kind` are constants, and `four` is inlined. */
static inline __attribute__((always_inline)) void run_strips(struct job *job, struct share share, uint32_t strip,
                                                             enum way way, enum dory_direct kind, compute_function *four)
{
    struct work *work = &job->work;
    uint32_t rows = work->tile->rows, strips = share.column < work->quads ? 0 : dory_quotient(share.column, work->quads);
    work->strip = strip + strips;
    work->quad = share.column - strips * work->quads;
    for (; share.items > 0; share.first = 0) {
        uint32_t here = dory_minimum(rows - share.first, share.items);
        uint32_t quads = here < rows ? 1 : quads_together(work, rows, share.whole);
        run_column(job, share.first, here, quads, way, kind, four);
        share.items -= here * quads;
        share.whole -= here < rows ? 0 : quads;
    }
}

/* The strips of four columns, and then those that end rows, if there are: each in equal shares. */
static inline __attribute__((always_inline)) void run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      unsigned core, unsigned cores, enum way way, enum dory_direct kind,
                                                      compute_function *four, compute_function *end)
{
    struct job job;
    job.end = end;
    start_work(&job.work, layer, tile, way, kind);
    start_strips(&job.work, &job.strip, 4);
    job.strip.border = (uint8_t)layer->border_value * 0x01010101u;
    uint32_t first = 0, strips = (tile->columns + (end ? 0u : 3u)) / 4;
    for (;;) {
        run_strips(&job, share_of(strips * job.work.quads, tile->rows, core, cores), first, way, kind, four);
        if (!end || job.strip.width < 4) {
            return;
        }
        first = strips;
        strips = 1;
        start_strips(&job.work, &job.strip, tile->columns % 4u);
    }
}

/* One function for each way and kind of normalisation, and for each number of columns that rows may end in, so that a
 * network has only what it needs. */
#define RUN_FUNCTION(name, way, kind)                                                                                       \
    static inline __attribute__((always_inline)) void four_##name(struct job *job) { compute(job, way, 4, kind); }          \
    static __attribute__((noinline)) void run_##name(const struct dory_layer *layer, const struct dory_tile *tile,          \
                                                     unsigned core, unsigned cores, compute_function *end)                  \
    {                                                                                                                       \
        run(layer, tile, core, cores, way, kind, four_##name, end);                                                         \
    }
#define END_FUNCTION(name, way, width, kind)                                                                                \
    static __attribute__((noinline)) void name(struct job *job) { compute(job, way, width, kind); }
#define KERNEL(name, run, end)                                                                                              \
    void dory_xpulpv2_depthwise_3x3_chw_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, \
                                               unsigned cores)                                                              \
    {                                                                                                                       \
        run(layer, tile, core, cores, end);                                                                                 \
    }
#define KERNELS(name, suffix, way, kind)                                                                                    \
    RUN_FUNCTION(name##suffix, way, kind)                                                                                   \
    END_FUNCTION(half_##name##suffix, way, 2, kind)                                                                         \
    END_FUNCTION(one_##name##suffix, way, 1, kind)                                                                          \
    KERNEL(name##suffix, run_##name##suffix, NULL)                                                                          \
    KERNEL(name##_half##suffix, run_##name##suffix, half_##name##suffix)                                                    \
    KERNEL(name##_one##suffix, run_##name##suffix, one_##name##suffix)
#define KERNELS_OF_KIND(suffix, kind)                                                                                       \
    KERNELS(stride_1, suffix, STRIDE_1, kind)                                                                               \
    KERNELS(stride_2, suffix, STRIDE_2_LEFT, kind)                                                                          \
    KERNELS(stride_2_right, suffix, STRIDE_2_RIGHT, kind)

KERNELS_OF_KIND(, DORY_DIRECT)
KERNELS_OF_KIND(_clamped, DORY_DIRECT_CLAMPED)
KERNELS_OF_KIND(_split, DORY_DIRECT_SPLIT)
KERNELS_OF_KIND(_high_away, DORY_DIRECT_HIGH_AWAY)
