/* Depth-wise layers 3x3 of unsigned bytes, stride 1 or 2, from an input in CHW, with one column of border on the left and on
 * the right for stride 1; for stride 2 on the left, or on the right as TensorFlow has it. The border's columns are not
 * there: words at odd addresses are loaded where they are, and at the edges a word that lies a column further, shifted, or
 * with a byte of border shuffled in: only the high kinds and the split one know a border that is not zero. A strip has four
 * columns; the last one overlaps the one before where the width is three more than a multiple of four, and is of one or two
 * columns where it is one or two more. */
#include "../scratch.h"
#include "../share.h"
#include "../xpulpv2.h"
#include "depthwise_3x3.h"

#define MAXIMUM_ROWS 120 /* of a band: see dory_rounds */

/* Four columns of the output in a range of channels. */
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
    uint32_t width;                   /* of it, only so many last columns: 4, or 1 or 2 at the end of rows */
};

/* Strides; for stride 1 whether rows end in two columns or in one, for stride 2 the side of the border. */
enum way { STRIDE_1, STRIDE_1_HALF, STRIDE_1_ONE, STRIDE_2_LEFT, STRIDE_2_RIGHT };

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

static inline uint32_t stride_of(enum way way) { return way <= STRIDE_1_ONE ? 1 : 2; }
static inline uint32_t end_of(enum way way) { return way == STRIDE_1_HALF ? 2 : way == STRIDE_1_ONE ? 1 : 0; }

static inline bool knows_border(enum dory_direct kind)
{
    return kind == DORY_DIRECT_HIGH || kind == DORY_DIRECT_HIGH_AWAY || kind == DORY_DIRECT_SPLIT;
}

#if defined(DORY_XPULPV2)

/* clang-format off */

/* a0 and a1: left and right; s9 and s10: shifts or selectors, for stride 1; pitch: a6 for stride 1, a7 for stride 2 */
#define STEP_1 "s8"
#define STEP_2 "s8"
#define LOAD_OWN                                                                                                            \
    "lw a0, %[left]\n"                                                                                                      \
    "lw a1, %[right]\n"                                                                                                     \
    "lw s9, %[left_align]\n"                                                                                                \
    "lw s10, %[right_align]\n"                                                                                              \
    "lw a6, %[pitch]\n"                                                                                                     \
    "lw a7, %[pitch]\n"

#define LOAD_ROW(left, right) P_LW_STEP(left, "a6", "a0") P_LW_STEP(right, "a6", "a1")
#define ALIGN_ROW(left, right, free)                                                                                          \
    "sll " left ", " left ", s9\n"                                                                                          \
    "srl " right ", " right ", s10\n"
#define INSTRUCTIONS_OF_ALIGN_ROW 2
#define BORDER_ROW(left, right, free)                                                                                       \
    "lw " free ", %[border]\n"                                                                                              \
    PV_SHUFFLE2_B(left, free, "s9")                                                                                         \
    PV_SHUFFLE2_B(right, free, "s10")
#define INSTRUCTIONS_OF_BORDER_ROW 3
#define START_ALIGN_RIGHT    "nop\n"
#define ALIGN_RIGHT(right)   "srli " right ", " right ", 8\n"
#define START_BORDER_RIGHT   "lw t0, %[border]\n"
#define BORDER_RIGHT(right)  PV_SHUFFLE2_B(right, "t0", "s10")

/* Stride 2: words at columns 0 and 4 as they lie in memory, without border, and t2, of which one byte is read: with border on
 * the left the last one before them, else the first one behind them. */
#define START_STRIDE_2(way) way##_SELECT
#define LOAD_UNITS(way)                                                                                                     \
    way##_THIRD                                                                                                             \
    "lw t1, 4(a0)\n" P_LW_STEP("t0", "a7", "a0")

/* Border on the left: outputs 1 and 3 are dot products of both words with the weights a byte further, outputs 0 and 2 of words
 * that begin a column earlier. */
#define FURTHER_1 "ra"
#define FURTHER_2 "s9"
#define FURTHER_3 "s10"
#define START_LANE_STRIDE_2                                                                                                 \
    "slli ra, s1, 8\n"                                                                                                      \
    "slli s9, s2, 8\n"                                                                                                      \
    "slli s10, s3, 8\n"
#define INSTRUCTIONS_OF_START_LANE 3
#define SELECT_LEFT  "li a6, 0x02010007\n"
#define SHUFFLE_LEFT PV_SHUFFLE2_B("t1", "t0", "a6") PV_SHUFFLE2_B("t0", "t2", "a6")
#define DOTS_LEFT(dot, a, b, c, d, k)                                                                                       \
    dot(d, "t1", FURTHER_##k) dot(b, "t0", FURTHER_##k) SHUFFLE_LEFT dot(c, "t1", "s" #k) dot(a, "t0", "s" #k)
#define SHARED_DOTS_LEFT(a, b, c, d, next_a, next_b, next_c, next_d)                                                        \
    PV_SDOTUSP_B(d, "t1", FURTHER_3) PV_DOTUSP_B(next_d, "t1", FURTHER_1)                                                   \
    PV_SDOTUSP_B(b, "t0", FURTHER_3) PV_DOTUSP_B(next_b, "t0", FURTHER_1)                                                   \
    SHUFFLE_LEFT                                                                                                            \
    PV_SDOTUSP_B(c, "t1", "s3") PV_DOTUSP_B(next_c, "t1", "s1") PV_SDOTUSP_B(a, "t0", "s3") PV_DOTUSP_B(next_a, "t0", "s1")
#define ALIGN_SELECT  SELECT_LEFT
#define LEAVE_SELECT  SELECT_LEFT
#define BORDER_SELECT SELECT_LEFT
#define ALIGN_THIRD   "li t2, 0\n"
#define LEAVE_THIRD   "lw t2, -4(a0)\n"
#define BORDER_THIRD  "lw t2, %[border]\n"
#define ALIGN_DOTS    DOTS_LEFT
#define LEAVE_DOTS    DOTS_LEFT
#define BORDER_DOTS   DOTS_LEFT
#define ALIGN_SHARED_DOTS  SHARED_DOTS_LEFT
#define LEAVE_SHARED_DOTS  SHARED_DOTS_LEFT
#define BORDER_SHARED_DOTS SHARED_DOTS_LEFT

/* On the right: outputs 0 and 2 are dot products of both words, outputs 1 and 3 of words that begin two columns further. */
#define SELECT_RIGHT "li a6, 0x05040302\n"
#define SHUFFLE_RIGHT PV_SHUFFLE2_B("t0", "t1", "a6") PV_SHUFFLE2_B("t1", "t2", "a6")
#define DOTS_RIGHT(dot, a, b, c, d, k)                                                                                      \
    dot(c, "t1", "s" #k) dot(a, "t0", "s" #k) SHUFFLE_RIGHT dot(b, "t0", "s" #k) dot(d, "t1", "s" #k)
#define SHARED_DOTS_RIGHT(a, b, c, d, next_a, next_b, next_c, next_d)                                                       \
    PV_SDOTUSP_B(c, "t1", "s3") PV_DOTUSP_B(next_c, "t1", "s1") PV_SDOTUSP_B(a, "t0", "s3") PV_DOTUSP_B(next_a, "t0", "s1") \
    SHUFFLE_RIGHT                                                                                                           \
    PV_SDOTUSP_B(b, "t0", "s3") PV_DOTUSP_B(next_b, "t0", "s1") PV_SDOTUSP_B(d, "t1", "s3") PV_DOTUSP_B(next_d, "t1", "s1")
#define RIGHT_ALIGN_SELECT  SELECT_RIGHT
#define RIGHT_LEAVE_SELECT  SELECT_RIGHT
#define RIGHT_BORDER_SELECT SELECT_RIGHT
#define RIGHT_ALIGN_THIRD   ALIGN_THIRD
#define RIGHT_LEAVE_THIRD   "lbu t2, 8(a0)\n"
#define RIGHT_BORDER_THIRD  BORDER_THIRD
#define RIGHT_ALIGN_DOTS    DOTS_RIGHT
#define RIGHT_LEAVE_DOTS    DOTS_RIGHT
#define RIGHT_BORDER_DOTS   DOTS_RIGHT
#define RIGHT_ALIGN_SHARED_DOTS  SHARED_DOTS_RIGHT
#define RIGHT_LEAVE_SHARED_DOTS  SHARED_DOTS_RIGHT
#define RIGHT_BORDER_SHARED_DOTS SHARED_DOTS_RIGHT

#define INPUT_ROW(way, dot, a, b, c, d, k) LOAD_UNITS(way) way##_DOTS(dot, a, b, c, d, k)
#define SHARED_INPUT_ROW(way, a, b, c, d, next_a, next_b, next_c, next_d)                                                   \
    LOAD_UNITS(way) way##_SHARED_DOTS(a, b, c, d, next_a, next_b, next_c, next_d)

#define NEXT_CHANNEL                                                                                                        \
    "lw t5, %[plane_rest]\n"                                                                                                \
    "nop\n"                                                                                                                 \
    "add a0, a0, t5\n"                                                                                                      \
    "add a1, a1, t5\n"

/* Behind every fourth lane there are constants, and then weights, to be jumped over. */
#define AGAIN(label)                                                                                                        \
    "andi t5, t6, 3\n"                                                                                                      \
    "bnez t5, " label "\n"                                                                                                  \
    "beqz t6, 9f\n"                                                                                                         \
    "lw t0, %[weights]\n"                                                                                                   \
    "lw t1, %[constants]\n"                                                                                                 \
    "lw t2, %[constants_bytes]\n"                                                                                           \
    "addi t1, t1, 48\n"                                                                                                     \
    "add t0, t0, t2\n"                                                                                                      \
    "sw t1, %[constants]\n"                                                                                                 \
    "sw t0, %[weights]\n"                                                                                                   \
    "j " label "\n"                                                                                                         \
    "9:\n"

#define OWN_OPERANDS                                                                                                        \
    [step0] "m"(strip->step), [row_step] "m"(strip->row_step),                  \
        [rounds] "m"(strip->rounds), [rest] "m"(strip->rest), [left] "m"(strip->left), [right] "m"(strip->right),           \
        [left_align] "m"(strip->left_align), [right_align] "m"(strip->right_align), [pitch] "m"(strip->pitch),              \
        [border] "m"(strip->border),                                                                                        \
        [plane_rest] "m"(strip->plane_rest), [constants_bytes] "m"(work->constants_bytes)

/* clang-format on */

/* With the words of one edge, or of none. */
#define COMPUTE_WORDS(compute, align, border, leave, kind)                                                                  \
    do {                                                                                                                    \
        if (!(strip->left_shift | strip->right_shift)) {                                                                    \
            COMPUTE(compute, leave, kind);                                                                                  \
        } else if (knows_border(kind)) {                                                                                    \
            COMPUTE(compute, border, kind);                                                                                 \
        } else {                                                                                                            \
            COMPUTE(compute, align, kind);                                                                                  \
        }                                                                                                                   \
    } while (0)

/* With those of the right edge. */
#define COMPUTE_END(compute, kind)                                                                                          \
    do {                                                                                                                    \
        if (knows_border(kind)) {                                                                                           \
            COMPUTE(compute, BORDER, kind);                                                                                 \
        } else {                                                                                                            \
            COMPUTE(compute, ALIGN, kind);                                                                                  \
        }                                                                                                                   \
    } while (0)

/* `way` and `kind` are constants. */
static inline __attribute__((always_inline)) void compute(const struct work *work, const struct strip *strip,
                                                          struct dory_lanes *lanes, enum way way, enum dory_direct kind)
{
    if (way == STRIDE_1_HALF && strip->width < 4) {
        COMPUTE_END(COMPUTE_HALF, kind);
    } else if (way == STRIDE_1_ONE && strip->width < 4) {
        COMPUTE_END(COMPUTE_ONE, kind);
    } else if (stride_of(way) == 1) {
        COMPUTE_WORDS(COMPUTE_STRIDE_1, ALIGN, BORDER, LEAVE, kind);
    } else if (way == STRIDE_2_LEFT) {
        COMPUTE_WORDS(COMPUTE_STRIDE_2, ALIGN, BORDER, LEAVE, kind);
    } else {
        COMPUTE_WORDS(COMPUTE_STRIDE_2, RIGHT_ALIGN, RIGHT_BORDER, RIGHT_LEAVE, kind);
    }
}

#else

/* Words whose first three bytes each of the four outputs reads. */
static void load_row(const struct strip *strip, uint32_t offset, enum way way, uint32_t word[4])
{
    const uint8_t *left = strip->left + offset, *right = strip->right + offset;
    uint32_t border = strip->border & 0xFF, first = dory_load_word(left);
    if (stride_of(way) == 1) {
        word[0] = first << strip->left_shift | (strip->left_shift ? border : 0);
        word[1] = word[0] >> 8;
        word[2] = dory_load_word(right) >> strip->right_shift | (strip->right_shift ? border << 24 : 0);
        word[3] = word[2] >> 8;
        return;
    }
    uint32_t second = dory_load_word(left + 4);
    if (way == STRIDE_2_LEFT) {
        word[0] = first << 8 | (strip->left_shift ? border : left[-1]);
        word[1] = first >> 8;
        word[2] = second << 8 | first >> 24;
        word[3] = second >> 8;
    } else {
        word[0] = first;
        word[1] = first >> 16 | second << 16;
        word[2] = second;
        word[3] = second >> 16 | (strip->right_shift ? border : left[8]) << 16;
    }
}

static void compute_row(const struct work *work, const struct strip *strip, const struct dory_lanes *lanes,
                        uint32_t first_row, uint8_t *output)
{
    int32_t sum[4] = {0};
    for (uint32_t ky = 0; ky < 3; ky++) {
        uint32_t word[4];
        load_row(strip, (first_row + ky) * strip->pitch, work->way, word);
        for (unsigned i = 0; i < 4; i++) {
            sum[i] = pv_sdotusp_b(sum[i], word[i], dory_load_word(lanes->weights + 4 * ky));
        }
    }
    dory_normalise_in_its_kind(&work->normaliser, sum, 1, 4, lanes->constants);
    for (int32_t i = 0; i < (int32_t)strip->width; i++) {
        output[i * strip->step] = (uint8_t)sum[3 - i];
    }
}

static void compute(const struct work *work, struct strip *strip, struct dory_lanes *lanes, enum way way,
                    enum dory_direct kind)
{
    (void)kind;
    uint32_t stride = stride_of(way), round = stride == 2 ? 2 : 3,
             rows = (strip->rounds - (strip->rest != 0)) * round + strip->rest;
    for (; lanes->left > 0; lanes->left--) {
        for (uint32_t row = 0; row < rows; row++) {
            compute_row(work, strip, lanes, row * stride, lanes->output + row * work->columns * work->channels);
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

/* The strip from output column `column` on; `row` is where the first input row starts. */
static inline void place_strip(const struct work *work, struct strip *strip, const uint8_t *row, uint32_t column,
                               enum way way, enum dory_direct kind)
{
    bool first = column == 0 && way != STRIDE_2_RIGHT, last = column + 4 == work->columns && way != STRIDE_2_LEFT;
    if (stride_of(way) == 1) {
        strip->left = row + column - (first ? 0 : 1);
        strip->right = row + column + (last ? 0 : 1);
    } else {
        strip->left = strip->right = row + 2 * column;
    }
    strip->left_shift = first ? 8 : 0;
    strip->right_shift = last ? 8 : 0;
    if (knows_border(kind)) {
        strip->left_align = first ? 0x02010004 : 0x03020100;
        strip->right_align = last ? 0x04030201 : 0x03020100;
    } else {
        strip->left_align = strip->left_shift;
        strip->right_align = strip->right_shift;
    }
}

static inline void start_work(struct work *work, const struct dory_layer *layer, const struct dory_tile *tile, enum way way)
{
    dory_start_normaliser(&work->normaliser, layer);
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
static inline void start_strips(const struct work *work, struct strip *strip, uint8_t border)
{
    strip->pitch = work->tile->input_columns;
    strip->border = border * 0x01010101u;
    strip->step = -(int32_t)work->channels;
    strip->row_step = (int32_t)((work->columns + 3) * work->channels);
    strip->width = 4;
}

static inline void set_rows(const struct work *work, struct strip *strip, uint32_t rows, uint32_t stride)
{
    strip->rounds = dory_rounds(rows, stride, &strip->rest);
    strip->plane_rest = work->plane_bytes - (stride == 2 ? 2 * rows + 1 : rows + 2) * strip->pitch;
}

/* Rows `first` and up of a strip, in so many quads. */
static inline __attribute__((always_inline)) void run_rows(const struct work *work, struct strip *strip, uint32_t first,
                                                           uint32_t rows, uint32_t quads, enum way way,
                                                           enum dory_direct kind)
{
    uint32_t stride = stride_of(way);
    const struct dory_tile *tile = work->tile;
    const uint8_t *weights = (const uint8_t *)tile->weights + work->quad * work->quad_bytes;
    uint32_t column = dory_minimum(4 * work->strip, work->columns - 4), channel = 4 * work->quad;
    uint32_t first_pixel = first * work->columns + column + 3;
    struct dory_lanes lanes = {.weights = weights,
                               .constants = weights + 48,
                               .output = (uint8_t *)tile->output + first_pixel * work->channels + channel,
                               .left = dory_minimum(4 * quads, work->channels - channel)};
    place_strip(work, strip, (const uint8_t *)tile->input + channel * work->plane_bytes + first * stride * strip->pitch,
                column, way, kind);
    set_rows(work, strip, rows, stride);
    compute(work, strip, &lanes, way, kind);
}

/* Quads of a strip that may follow each other from `work->quad` on: of all rows, and with four channels each. */
static inline uint32_t quads_together(const struct work *work, const struct dory_grid_share *share)
{
    uint32_t rows = work->tile->rows;
    if (share->first != 0 || share->items < 2 * rows || rows > MAXIMUM_ROWS) {
        return 1;
    }
    uint32_t quads = dory_minimum(dory_quotient(share->items, rows), work->channels / 4 - work->quad);
    return quads ? quads : 1;
}

/* Strips `first_strip` and up: a core's share is a range of the grid of strips and quads, by rows: strips are long, and
 * balanced to a row. */
static inline __attribute__((always_inline)) void run_strips(struct work *work, struct strip *strip,
                                                             struct dory_grid_share share, uint32_t first_strip,
                                                             enum way way, enum dory_direct kind)
{
    uint32_t rows = work->tile->rows, strips = dory_quotient(share.row, work->quads);
    work->strip = first_strip + strips;
    work->quad = share.row - strips * work->quads;
    while (share.items > 0) {
        uint32_t end = dory_grid_share_row_end(&share, rows), quads = quads_together(work, &share);
        for (uint32_t first = share.first; first < end; first += MAXIMUM_ROWS) {
            run_rows(work, strip, first, dory_minimum(MAXIMUM_ROWS, end - first), quads, way, kind);
        }
        dory_grid_share_next_row(&share, end);
        share.items -= (quads - 1) * rows;
        work->quad += quads;
        if (work->quad == work->quads) {
            work->quad = 0;
            work->strip++;
        }
    }
}

/* The strips of four columns, and then those that end rows, each in equal shares. */
static inline __attribute__((always_inline)) void run(const struct dory_layer *layer, const struct dory_tile *tile,
                                                      unsigned core, unsigned cores, enum way way, enum dory_direct kind)
{
    struct work work; /* and strip: field by field, an initialiser would be a call that clears all */
    struct strip strip;
    start_work(&work, layer, tile, way);
    start_strips(&work, &strip, (uint8_t)layer->border_value);
    uint32_t end = end_of(way), strips = (tile->columns + 3u) / 4 - (end != 0), first = 0;
    for (;;) {
        run_strips(&work, &strip, dory_grid_share_of(strips * work.quads, tile->rows, core, cores), first, way, kind);
        if (end == 0 || strip.width == end) {
            return;
        }
        first = strips;
        strips = 1;
        strip.width = end;
        strip.row_step -= (int32_t)((4 - end) * work.channels);
    }
}

/* One function for each way and kind of normalisation, so that a network has only what it needs. */
#define KERNEL(name, way, kind)                                                                                             \
    void dory_xpulpv2_depthwise_3x3_chw_##name(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, \
                                               unsigned cores)                                                              \
    {                                                                                                                       \
        run(layer, tile, core, cores, way, kind);                                                                           \
    }

KERNEL(stride_1, STRIDE_1, DORY_DIRECT)
KERNEL(stride_1_clamped, STRIDE_1, DORY_DIRECT_CLAMPED)
KERNEL(stride_1_clamped_less_one, STRIDE_1, DORY_DIRECT_CLAMPED_LESS_ONE)
KERNEL(stride_1_split, STRIDE_1, DORY_DIRECT_SPLIT)
KERNEL(stride_1_high, STRIDE_1, DORY_DIRECT_HIGH)
KERNEL(stride_1_high_away, STRIDE_1, DORY_DIRECT_HIGH_AWAY)
KERNEL(stride_1_half, STRIDE_1_HALF, DORY_DIRECT)
KERNEL(stride_1_half_clamped, STRIDE_1_HALF, DORY_DIRECT_CLAMPED)
KERNEL(stride_1_half_clamped_less_one, STRIDE_1_HALF, DORY_DIRECT_CLAMPED_LESS_ONE)
KERNEL(stride_1_half_split, STRIDE_1_HALF, DORY_DIRECT_SPLIT)
KERNEL(stride_1_half_high, STRIDE_1_HALF, DORY_DIRECT_HIGH)
KERNEL(stride_1_half_high_away, STRIDE_1_HALF, DORY_DIRECT_HIGH_AWAY)
KERNEL(stride_1_one, STRIDE_1_ONE, DORY_DIRECT)
KERNEL(stride_1_one_clamped, STRIDE_1_ONE, DORY_DIRECT_CLAMPED)
KERNEL(stride_1_one_clamped_less_one, STRIDE_1_ONE, DORY_DIRECT_CLAMPED_LESS_ONE)
KERNEL(stride_1_one_split, STRIDE_1_ONE, DORY_DIRECT_SPLIT)
KERNEL(stride_1_one_high, STRIDE_1_ONE, DORY_DIRECT_HIGH)
KERNEL(stride_1_one_high_away, STRIDE_1_ONE, DORY_DIRECT_HIGH_AWAY)
KERNEL(stride_2, STRIDE_2_LEFT, DORY_DIRECT)
KERNEL(stride_2_clamped, STRIDE_2_LEFT, DORY_DIRECT_CLAMPED)
KERNEL(stride_2_clamped_less_one, STRIDE_2_LEFT, DORY_DIRECT_CLAMPED_LESS_ONE)
KERNEL(stride_2_split, STRIDE_2_LEFT, DORY_DIRECT_SPLIT)
KERNEL(stride_2_high, STRIDE_2_LEFT, DORY_DIRECT_HIGH)
KERNEL(stride_2_high_away, STRIDE_2_LEFT, DORY_DIRECT_HIGH_AWAY)
KERNEL(stride_2_right, STRIDE_2_RIGHT, DORY_DIRECT)
KERNEL(stride_2_right_clamped, STRIDE_2_RIGHT, DORY_DIRECT_CLAMPED)
KERNEL(stride_2_right_clamped_less_one, STRIDE_2_RIGHT, DORY_DIRECT_CLAMPED_LESS_ONE)
KERNEL(stride_2_right_split, STRIDE_2_RIGHT, DORY_DIRECT_SPLIT)
KERNEL(stride_2_right_high, STRIDE_2_RIGHT, DORY_DIRECT_HIGH)
KERNEL(stride_2_right_high_away, STRIDE_2_RIGHT, DORY_DIRECT_HIGH_AWAY)
