/* Rows of the picture come to L1 by DMA in bands, one for each row of the result, the next while this one is worked on. The
 * cores share its columns: each adds up whole columns, four pixels at once, and after a barrier the sums that belong to its
 * pixels of the result.
 *
 * A row counts by its length in units of 1 / result_height of a row, so that all weights are integers: the weights of an
 * area add up to height, and the sum of a column to 255 * height at most, which has to fit in 16 bits. Likewise across. */
#include "scale.h"

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

struct memory {
    uint32_t *bands[2];
    uint16_t *sums;
    uint8_t *result;
};

static struct memory divide(const struct scale *scale)
{
    uint32_t height = scale->height, result_height = scale->result_height;
    uint32_t band_words = SCALE_BAND_ROWS(height, result_height) * (scale->width / 4u);
    uint32_t *sums = scale->l1 + 2 * band_words;
    return (struct memory){
        .bands = {scale->l1, scale->l1 + band_words},
        .sums = (uint16_t *)(void *)sums,
        .result = (uint8_t *)(sums + scale->width / 2u),
    };
}

/* ---- core 0: data in and out ---- */

static int start_band(const struct scale *scale, uint32_t row, void *band, hal_dma_ticket *ticket)
{
    struct span rows = span_of(row, scale->height, scale->result_height);
    const struct hal_dma_copy copy = {
        .local = band,
        .external =
            (uint8_t *)(uintptr_t)scale->picture + rows.first * scale->picture_stride, /* not written: HAL_TO_LOCAL */
        .run_bytes = scale->width,
        .runs = rows.last - rows.first + 1,
        .planes = 1,
        .external_run_stride = scale->picture_stride,
        .local_run_stride = scale->width,
        .direction = HAL_TO_LOCAL,
    };
    int status = hal_dma_open(ticket);
    return status ? status : hal_dma_copy(*ticket, &copy);
}

static int store_result(const struct scale *scale, uint8_t *result)
{
    const struct hal_dma_copy copy = {
        .local = result,
        .external = scale->result,
        .run_bytes = (uint32_t)scale->result_width * scale->result_height,
        .runs = 1,
        .planes = 1,
        .direction = HAL_FROM_LOCAL,
    };
    hal_dma_ticket ticket;
    int status = hal_dma_open(&ticket);
    if (status == DORY_OK)
        status = hal_dma_copy(ticket, &copy);
    int waited = hal_dma_wait(ticket);
    return status ? status : waited;
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

static uint8_t mean(const uint16_t *sums, struct span columns, uint32_t weight, uint32_t area)
{
    uint32_t middle = 0;
    for (uint32_t column = columns.first + 1; column < columns.last; column++)
        middle += sums[column];
    uint32_t sum = middle * weight + sums[columns.first] * columns.first_weight + sums[columns.last] * columns.last_weight;
    return (uint8_t)((sum + area / 2) / area);
}

static void scale_row(const struct scale *scale, const struct memory *memory, uint32_t row)
{
    struct span rows = span_of(row, scale->height, scale->result_height);
    const uint32_t *band = memory->bands[row % 2];
    uint32_t words = scale->width / 4u, area = (uint32_t)scale->width * scale->height;
    for (uint32_t word = hal_core_id(); word < words; word += hal_core_count())
        sum_columns(band + word, words, rows, scale->result_height, memory->sums + (size_t)4 * word);
    hal_barrier();
    for (uint32_t column = hal_core_id(); column < scale->result_width; column += hal_core_count()) {
        struct span columns = span_of(column, scale->width, scale->result_width);
        memory->result[row * scale->result_width + column] = mean(memory->sums, columns, scale->result_width, area);
    }
}

static int check(const struct scale *scale)
{
    uint32_t width = scale->width, height = scale->height;
    uint32_t result_width = scale->result_width, result_height = scale->result_height;
    if (width == 0 || width % 4 != 0 || height == 0 || height > SCALE_HEIGHT_LIMIT)
        return DORY_ERROR_ARGUMENT;
    if (result_width == 0 || result_width > width || result_height == 0 || result_height > height)
        return DORY_ERROR_ARGUMENT;
    return scale->l1_bytes < SCALE_L1_BYTES(width, height, result_width, result_height) ? DORY_ERROR_L1_TOO_SMALL : DORY_OK;
}

static void scale_rows(struct scale *scale)
{
    struct memory memory = divide(scale);
    hal_dma_ticket ticket = 0;
    int leads = hal_core_id() == 0;
    int status = leads ? start_band(scale, 0, memory.bands[0], &ticket) : DORY_OK;
    for (uint32_t row = 0; row < scale->result_height; row++) {
        if (leads) {
            int waited = hal_dma_wait(ticket);
            status = status ? status : waited;
        }
        hal_barrier(); /* the band is there, and the sums of the row before are used */
        if (leads && row + 1u < scale->result_height) {
            int started = start_band(scale, row + 1, memory.bands[(row + 1) % 2], &ticket);
            status = status ? status : started;
        }
        scale_row(scale, &memory, row);
    }
    hal_barrier();
    if (leads)
        scale->status = status ? status : store_result(scale, memory.result);
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
