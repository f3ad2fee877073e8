/* Rows of the picture come to L1 by DMA in bands, one for each row of the result, the next while this one is worked on. The
 * cores share its columns: each adds up whole columns, four pixels at once, and after a barrier the sums that belong to its
 * pixels of the result, whose rows go to L2 in turn.
 *
 * A row counts by its length in units of 1 / result_height of a row, so that all weights are integers: the weights of an
 * area add up to height, and the sum of a column to 255 * height at most, which has to fit in 16 bits. Likewise across.
 *
 * Of a colour sensor all of this is in cells: columns are added up over the cells' first rows and over their second ones by
 * themselves, and of these sums every second one is one colour's. */
#include "aideck/scale.h"

#include "dory/hal.h"

/* What a pixel of the result covers along one axis: pixels first to last, by how much of the first and of the last. */
struct span {
    uint32_t first, last;
    uint32_t first_weight, last_weight; /* the ones between have the weight `target`; last_weight is 0 where first is last */
};

static struct span span_of(uint32_t index, uint32_t source, uint32_t target)
{
    uint32_t start = index * source, end = start + source;
    struct span span = {.first = start / target, .last = (end - 1) / target};
    span.first_weight = (span.first + 1) * target - start;
    span.last_weight = end - span.last * target;
    if (span.first == span.last) {
        span.first_weight = source;
        span.last_weight = 0;
    }
    return span;
}

/* A part of the picture in cells, and the L1 memory. */
struct work {
    uint32_t cell; /* 1: pixels */
    uint32_t width, height;
    uint32_t words;  /* of a row of pixels */
    uint32_t values; /* of a row of the result */
    uint32_t *bands[2];
    uint16_t *sums[2]; /* of a cell's first and second rows */
    uint8_t *rows[2];
};

static struct work divide(const struct scale *scale)
{
    struct work work = {.cell = scale->pattern == SCALE_GREY ? 1 : 2, .words = scale->width / 4u};
    work.width = scale->width / work.cell;
    work.height = scale->height / work.cell;
    work.values = scale->result_width * SCALE_CHANNELS(work.cell);
    uint32_t band_words = work.cell * SCALE_BAND_ROWS(work.height, scale->result_height) * work.words;
    uint32_t *sums = scale->l1 + 2 * band_words;
    work.bands[0] = scale->l1;
    work.bands[1] = scale->l1 + band_words;
    work.sums[0] = (uint16_t *)(void *)sums;
    work.sums[1] = work.sums[0] + (work.cell - 1) * scale->width;
    work.rows[0] = (uint8_t *)(sums + work.cell * scale->width / 2u);
    work.rows[1] = work.rows[0] + SCALE_ROW_BYTES(scale->result_width, work.cell);
    return work;
}

/* ---- core 0: data in and out ---- */

static int fetch_band(const struct scale *scale, const struct work *work, uint32_t row, hal_dma_ticket ticket)
{
    struct span rows = span_of(row, work->height, scale->result_height);
    const struct hal_dma_copy copy = {
        .local = work->bands[row % 2],
        .external = (uint8_t *)(uintptr_t)scale->picture +
                    (size_t)rows.first * work->cell * scale->picture_stride, /* not written: HAL_TO_LOCAL */
        .run_bytes = scale->width,
        .runs = (rows.last - rows.first + 1) * work->cell,
        .planes = 1,
        .external_run_stride = scale->picture_stride,
        .local_run_stride = scale->width,
        .direction = HAL_TO_LOCAL,
    };
    return hal_dma_copy(ticket, &copy);
}

static int store_row(const struct scale *scale, const struct work *work, uint32_t row, hal_dma_ticket ticket)
{
    const struct hal_dma_copy copy = {
        .local = work->rows[row % 2],
        .external = scale->result + (size_t)(row - scale->first_row) * work->values,
        .run_bytes = work->values,
        .runs = 1,
        .planes = 1,
        .direction = HAL_FROM_LOCAL,
    };
    return hal_dma_copy(ticket, &copy);
}

static uint32_t last_row(const struct scale *scale) { return scale->first_row + scale->rows - 1u; }

/* What goes on beside the work on a row: the band of the next one comes, the row before goes. */
static int start_copies(const struct scale *scale, const struct work *work, uint32_t row, hal_dma_ticket *ticket)
{
    int status = hal_dma_open(ticket);
    if (status == DORY_OK && row < last_row(scale))
        status = fetch_band(scale, work, row + 1, *ticket);
    if (status == DORY_OK && row > scale->first_row)
        status = store_row(scale, work, row - 1, *ticket);
    return status;
}

/* ---- all cores ---- */

#define EVEN_PIXELS 0x00FF00FFu /* of four in a word, each with 16 bits of room; the odd ones after a shift by 8 */

/* The sums of four neighbouring columns. */
static void sum_columns(const uint32_t *column, uint32_t stride, struct span rows, uint32_t weight, uint16_t *sums)
{
    uint32_t first = *column, last = column[(rows.last - rows.first) * stride];
    uint32_t even = 0, odd = 0;
    for (uint32_t row = rows.first + 1; row < rows.last; row++) {
        column += stride;
        even += *column & EVEN_PIXELS;
        odd += *column >> 8 & EVEN_PIXELS;
    }
    even = even * weight + (first & EVEN_PIXELS) * rows.first_weight + (last & EVEN_PIXELS) * rows.last_weight;
    odd = odd * weight + (first >> 8 & EVEN_PIXELS) * rows.first_weight + (last >> 8 & EVEN_PIXELS) * rows.last_weight;
    sums[0] = (uint16_t)even;
    sums[1] = (uint16_t)odd;
    sums[2] = (uint16_t)(even >> 16);
    sums[3] = (uint16_t)(odd >> 16);
}

static void sum_band(const struct scale *scale, const struct work *work, uint32_t row)
{
    struct span rows = span_of(row, work->height, scale->result_height);
    const uint32_t *band = work->bands[row % 2];
    for (uint32_t line = 0; line < work->cell; line++)
        for (uint32_t word = hal_core_id(); word < work->words; word += hal_core_count())
            sum_columns(band + line * work->words + word, work->cell * work->words, rows, scale->result_height,
                        work->sums[line] + (size_t)4 * word);
}

/* The weighted sum of an area, of columns that are `step` apart. */
static uint32_t sum_area(const uint16_t *sums, uint32_t step, struct span columns, uint32_t weight)
{
    uint32_t middle = 0;
    for (uint32_t column = columns.first + 1; column < columns.last; column++)
        middle += sums[column * step];
    return middle * weight + sums[columns.first * step] * columns.first_weight +
           sums[columns.last * step] * columns.last_weight;
}

/* A quotient by a number whose 2^32 / divisor is known: the product's upper half is it, or one less. */
struct divisor {
    uint32_t number, reciprocal;
};

static struct divisor divisor_of(uint32_t number) { return (struct divisor){number, UINT32_MAX / number}; }

static uint8_t mean(uint32_t sum, struct divisor area)
{
    sum += area.number / 2;
    uint32_t quotient = (uint32_t)((uint64_t)sum * area.reciprocal >> 32);
    return (uint8_t)(sum - quotient * area.number >= area.number ? quotient + 1 : quotient);
}

/* Red, green and blue of one pixel; `twice` the area: there are two green pixels in a cell. */
static void average_colours(const struct scale *scale, const struct work *work, struct span columns, struct divisor area,
                            struct divisor twice, uint8_t *pixel)
{
    const uint32_t line = scale->pattern >> 1, column = scale->pattern & 1, weight = scale->result_width;
    const uint16_t *with_red = work->sums[line], *with_blue = work->sums[line ^ 1];
    uint32_t green =
        sum_area(with_red + (column ^ 1), 2, columns, weight) + sum_area(with_blue + column, 2, columns, weight);
    pixel[0] = mean(sum_area(with_red + column, 2, columns, weight), area) ^ scale->flips;
    pixel[1] = mean(green, twice) ^ scale->flips;
    pixel[2] = mean(sum_area(with_blue + (column ^ 1), 2, columns, weight), area) ^ scale->flips;
}

static void average_row(const struct scale *scale, const struct work *work, uint32_t row)
{
    const struct divisor area = divisor_of(work->width * work->height), twice = divisor_of(2 * area.number);
    uint8_t *result = work->rows[row % 2];
    for (uint32_t column = hal_core_id(); column < scale->result_width; column += hal_core_count()) {
        struct span columns = span_of(column, work->width, scale->result_width);
        if (work->cell == 1)
            result[column] = mean(sum_area(work->sums[0], 1, columns, scale->result_width), area) ^ scale->flips;
        else
            average_colours(scale, work, columns, area, twice, result + (size_t)3 * column);
    }
}

static int check(const struct scale *scale)
{
    uint32_t width = scale->width, height = scale->height, cell = scale->pattern == SCALE_GREY ? 1 : 2;
    if (width == 0 || width % 4 != 0 || height == 0 || height % cell != 0 || height > SCALE_HEIGHT_LIMIT)
        return DORY_ERROR_ARGUMENT;
    if (scale->pattern > SCALE_GREY || scale->result_width == 0 || scale->result_height == 0)
        return DORY_ERROR_ARGUMENT;
    if (scale->rows == 0 || scale->first_row + scale->rows > scale->result_height)
        return DORY_ERROR_ARGUMENT;
    uint32_t l1_bytes = SCALE_L1_OF(width, height, scale->result_width, scale->result_height, cell);
    return scale->l1_bytes < l1_bytes ? DORY_ERROR_L1_TOO_SMALL : DORY_OK;
}

static int fetch_first_band(const struct scale *scale, const struct work *work, hal_dma_ticket *ticket)
{
    int status = hal_dma_open(ticket);
    return status ? status : fetch_band(scale, work, scale->first_row, *ticket);
}

static int store_last_row(const struct scale *scale, const struct work *work)
{
    hal_dma_ticket ticket;
    int status = hal_dma_open(&ticket);
    if (status == DORY_OK)
        status = store_row(scale, work, last_row(scale), ticket);
    int waited = hal_dma_wait(ticket);
    return status ? status : waited;
}

static void scale_rows(struct scale *scale)
{
    struct work work = divide(scale);
    hal_dma_ticket ticket = 0;
    int leads = hal_core_id() == 0;
    int status = leads ? fetch_first_band(scale, &work, &ticket) : DORY_OK;
    for (uint32_t row = scale->first_row; row <= last_row(scale); row++) {
        if (leads) {
            int waited = hal_dma_wait(ticket);
            status = status ? status : waited;
        }
        hal_barrier(); /* the band is there, the row before is complete, the one before that has gone */
        if (leads) {
            int started = start_copies(scale, &work, row, &ticket);
            status = status ? status : started;
        }
        sum_band(scale, &work, row);
        hal_barrier();
        average_row(scale, &work, row);
    }
    hal_barrier();
    if (!leads)
        return;
    int waited = hal_dma_wait(ticket);
    int stored = store_last_row(scale, &work);
    scale->status = status ? status : waited ? waited : stored;
}

void scale_area(void *argument)
{
    struct scale *scale = argument;
    int status = check(scale);
    if (status == DORY_OK)
        scale_rows(scale);
    else if (hal_core_id() == 0)
        scale->status = status;
}
