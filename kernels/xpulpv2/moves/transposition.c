/* Transposes tiles of bytes. Shapes: any order of rows, columns and channels.
 *
 * Two of the three dimensions of a tile are a matrix that is turned; the third says how many matrices there are. Each core
 * takes a part of the blocks of 4 x 4 bytes. Inner loop: a block in 18 instructions, with words and shuffles (transpose.h).
 * Where channels stay channels they are runs, as in copies. */
#include "dory/transposition.h"
#include "../share.h"
#include "../transpose.h"
#include "../xpulpv2.h"
#include "copy_run.h"

/* Lines of the output. Elements of a line follow each other there, and lines in the input; all else is a step of bytes. */
struct matrices {
    const uint8_t *input;
    uint8_t *output;
    uint32_t count, lines, elements;
    uint32_t input_step, output_step; /* from matrix to matrix */
    uint32_t element_step, line_step; /* from element to element in the input, from line to line in the output */
};

/* Bytes so many apart in the input between the elements that follow each other along a dimension of the output. */
static uint32_t input_step(const struct dory_layer *layer, const struct dory_tile *tile, unsigned dimension)
{
    return dory_axis(layer, 2) == dimension   ? 1
           : dory_axis(layer, 1) == dimension ? tile->input_channels
                                              : (uint32_t)tile->input_columns * tile->input_channels;
}

static struct matrices matrices_of(const struct dory_layer *layer, const struct dory_tile *tile)
{
    const uint32_t sizes[2] = {tile->rows, tile->columns},
                   steps[2] = {(uint32_t)tile->columns * tile->channels, tile->channels};
    unsigned line = dory_axis(layer, 2), other = 1 - line;
    return (struct matrices){
        .input = tile->input,
        .output = tile->output,
        .count = sizes[other],
        .lines = sizes[line],
        .elements = tile->channels,
        .input_step = input_step(layer, tile, other),
        .output_step = steps[other],
        .element_step = input_step(layer, tile, 2),
        .line_step = steps[line],
    };
}

/* Blocks `first` to `end` - 1 of four lines. The last one starts where it has four elements, too: others that write some of
 * them write the same. */
static void turn_blocks(const struct matrices *m, const uint8_t *input, uint8_t *output, uint32_t first, uint32_t end)
{
    uint32_t step = m->element_step, whole = dory_minimum(end, m->elements / 4);
    struct dory_transpose job = {
        .input = input + 4 * first * step,
        .offset = {step, 2 * step, 3 * step},
        .row_bytes = 4 * step,
        .rows = whole - first,
        .output = output + 4 * first,
        .lane_bytes = m->line_step,
        .lanes = 4,
    };
    if (first < whole) {
        dory_transpose_words(&job);
    }
    if (end > whole) {
        job.rows = 1;
        job.input = input + (m->elements - 4) * step;
        job.output = output + (m->elements - 4);
        dory_transpose_words(&job);
    }
}

/* Matrices of at least 4 x 4: a core has a part of the blocks, line by line. */
static void turn(const struct matrices *m, unsigned core, unsigned cores)
{
    uint32_t fours = dory_divide_up(m->lines, 4), blocks = dory_divide_up(m->elements, 4);
    struct dory_grid_share share = dory_grid_share_of(m->count * fours, blocks, core, cores);
    uint32_t matrix = dory_quotient(share.row, fours), four = share.row - matrix * fours;
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, blocks), line = dory_minimum(4 * four, m->lines - 4);
        turn_blocks(m, m->input + matrix * m->input_step + line, m->output + matrix * m->output_step + line * m->line_step,
                    share.first, end);
        dory_grid_share_next_row(&share, end);
        if (++four == fours) {
            four = 0;
            matrix++;
        }
    }
}

/* ---- matrices with fewer lines or elements than four, and runs ---- */

#if defined(DORY_XPULPV2)

/* Two bytes a round. */
static inline void move_pairs(const uint8_t *from, uint32_t from_step, uint8_t *to, uint32_t to_step, uint32_t pairs)
{
    __asm__ volatile(".option push\n"
                     ".balign 4\n"
                     ".option norvc\n" LP_SETUP("x0", "%[pairs]", 4, "1") P_LBU_STEP("t0", "%[from_step]", "%[from]")
                         P_LBU_STEP("t1", "%[from_step]", "%[from]") P_SB_STEP("t0", "%[to_step]", "%[to]") "1: " P_SB_STEP(
                             "t1", "%[to_step]", "%[to]") ".option pop\n"
                     : [from] "+r"(from), [to] "+r"(to)
                     : [pairs] "r"(pairs), [from_step] "r"(from_step), [to_step] "r"(to_step)
                     : "t0", "t1", "memory");
}

#else

static inline void move_pairs(const uint8_t *from, uint32_t from_step, uint8_t *to, uint32_t to_step, uint32_t pairs)
{
    for (uint32_t i = 0; i < 2 * pairs; i++) {
        to[i * to_step] = from[i * from_step];
    }
}

#endif

/* Bytes along one dimension. */
static void move_bytes(const uint8_t *from, uint32_t from_step, uint8_t *to, uint32_t to_step, uint32_t count)
{
    uint32_t even = count & ~1u;
    if (even != 0) {
        move_pairs(from, from_step, to, to_step, even / 2);
    }
    if (even != count) {
        to[even * to_step] = from[even * from_step];
    }
}

/* A core has a part of each line, where there are fewer than four lines, or of the elements of all lines at once. */
static void turn_narrow(const struct matrices *m, unsigned core, unsigned cores)
{
    bool few_lines = m->lines < 4;
    uint32_t lines = few_lines ? m->lines : m->elements, bytes = few_lines ? m->elements : m->lines;
    uint32_t from_line = few_lines ? 1 : m->element_step, to_line = few_lines ? m->line_step : 1;
    uint32_t from_byte = few_lines ? m->element_step : 1, to_byte = few_lines ? 1 : m->line_step;
    struct dory_grid_share share = dory_grid_share_of(1, bytes, core, cores);
    for (uint32_t i = 0; i < m->count * lines && share.items != 0; i++) {
        uint32_t matrix = i / lines, line = i - matrix * lines;
        move_bytes(m->input + matrix * m->input_step + line * from_line + share.first * from_byte, from_byte,
                   m->output + matrix * m->output_step + line * to_line + share.first * to_byte, to_byte, share.items);
    }
}

/* Pixels of the output, whose channels are those of one of the input. */
static void move_runs(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    uint32_t row_step = input_step(layer, tile, 0), column_step = input_step(layer, tile, 1), bytes = tile->channels;
    struct dory_grid_share share = dory_grid_share_of(tile->rows, tile->columns, core, cores);
    uint8_t *output = (uint8_t *)tile->output + (share.row * tile->columns + share.first) * bytes;
    while (share.items != 0) {
        uint32_t end = dory_grid_share_row_end(&share, tile->columns);
        const uint8_t *input = (const uint8_t *)tile->input + share.row * row_step + share.first * column_step;
        for (uint32_t i = share.first; i < end; i++, input += column_step, output += bytes) {
            dory_copy_run(input, output, bytes);
        }
        dory_grid_share_next_row(&share, end);
    }
}

void dory_xpulpv2_transposition(const struct dory_layer *layer, const struct dory_tile *tile, unsigned core, unsigned cores)
{
    if (dory_axis(layer, 2) == 2) {
        move_runs(layer, tile, core, cores);
        return;
    }
    struct matrices m = matrices_of(layer, tile);
    if (m.lines < 4 || m.elements < 4) {
        turn_narrow(&m, core, cores);
    } else {
        turn(&m, core, cores);
    }
}
