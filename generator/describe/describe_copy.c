/* Layers that move elements: windows, transpositions, first elements, and any other map. */
#include <string.h>

#include "base/arithmetic.h"
#include "describe/description.h"
#include "describe/row_window.h"

/* Do the positions of rows (or columns) say `i * stride - padding`, in units of `unit` elements? A padding may be negative.
 */
static bool is_window(const int32_t *positions, int count, int32_t unit, int extent, int *stride, int *padding)
{
    int first = 0;
    while (first < count && positions[first] < 0)
        first++;
    if (first == count)
        return false;
    *stride = first + 1 < count && positions[first + 1] >= 0 ? (positions[first + 1] - positions[first]) / unit : 1;
    *padding = first * *stride - positions[first] / unit;
    for (int i = 0; i < count; i++) {
        int64_t position = (int64_t)i * *stride - *padding;
        if (positions[i] != (position >= 0 && position < extent ? position * unit : -1))
            return false;
    }
    return *stride >= 1;
}

/* So many first positions follow each other. */
static int first_run(const int32_t *positions, int count)
{
    int run = 0;
    while (run < count && positions[run] >= 0 && positions[run] == positions[0] + run)
        run++;
    return run;
}

/* A border and a stride need no map, and only the rows that a tile reads. */
static bool describe_window_copy(const struct description *d)
{
    const struct layer_map *map = &d->layer->map;
    const struct tensor *x = d->input, *y = d->output;
    int stride[2], padding[2];
    if (x->channels != y->channels || map->channels[0] != 0 || first_run(map->channels, y->channels) < y->channels ||
        !is_window(map->rows, y->height, x->width * x->channels, x->height, &stride[0], &padding[0]) ||
        !is_window(map->columns, y->width, x->channels, x->width, &stride[1], &padding[1]) || padding[1] < 0)
        return false;
    const struct dimension dimensions[] = {
        {"vertical stride", stride[0], &d->record->stride_height},
        {"horizontal stride", stride[1], &d->record->stride_width},
        {"padding at the left", padding[1], &d->record->padding_left},
    };
    describe_dimensions(d, dimensions, COUNT_OF(dimensions));
    describe_padding_top(d, padding[0]);
    return true;
}

/* A map, and how the firmware sees both tensors: a tile has whole rows of these. */
struct mapped {
    int height, width, channels; /* of the output */
    int input_height, input_width, input_channels;
    const int32_t *rows, *columns, *channel_list;
    struct row_window window;
};

/* The input rows that output rows copy from: all of a position is a sum, and the rows of the sums are what counts. */
static void find_copied_rows(const struct mapped *m, struct row_span *spans)
{
    struct row_span columns = row_span_of(m->columns, m->width), channels = row_span_of(m->channel_list, m->channels);
    int row = m->input_width * m->input_channels;
    for (int i = 0; i < m->height; i++) {
        bool none = m->rows[i] < 0 || columns.last < 0 || channels.last < 0;
        spans[i].first = none ? 0 : (m->rows[i] + columns.first + channels.first) / row;
        spans[i].last = none ? -1 : (m->rows[i] + columns.last + channels.last) / row;
    }
}

#define SMALL_TILE 12288 /* elements of a row and its window, of which a tile has several */
#define MOST_ROWS  16384 /* each of which has a word in the map */

/* Pixels of the output are its rows. */
static bool split_output(struct arena *arena, struct mapped *m)
{
    int64_t rows = (int64_t)m->height * m->width;
    if (rows > MOST_ROWS || m->width == 1)
        return false;
    int32_t *list = arena_array(arena, int32_t, (size_t)rows);
    for (int i = 0; i < rows; i++) {
        int32_t row = m->rows[i / m->width], column = m->columns[i % m->width];
        list[i] = row < 0 || column < 0 ? -1 : row + column;
    }
    m->rows = list;
    m->columns = arena_array(arena, int32_t, 1); /* one column, which is at 0 */
    m->height = (int)rows;
    m->width = 1;
    return true;
}

static bool split_input(struct mapped *m)
{
    int64_t rows = (int64_t)m->input_height * m->input_width;
    if (rows > UINT16_MAX || m->input_width == 1)
        return false;
    m->input_height = (int)rows;
    m->input_width = 1;
    return true;
}

/* What the smallest tile has. */
static int64_t tile_elements(struct arena *arena, struct mapped *m)
{
    struct row_span *spans = arena_array(arena, struct row_span, (size_t)m->height);
    find_copied_rows(m, spans);
    m->window = find_row_window(spans, m->height, m->input_height);
    return (int64_t)m->window.rows * m->input_width * m->input_channels + (int64_t)m->width * m->channels;
}

/* Shorter rows are slower ones: they must make tiles an eighth smaller. */
static bool is_less(int64_t elements, int64_t least) { return elements < least - least / 8; }

/* Where tiles would be large, pixels of either tensor are rows of their own: as of images that lie in the order of channels,
 * rows, columns. */
static int64_t shorten_rows(struct arena *arena, struct mapped *m)
{
    const struct mapped whole = *m;
    int64_t least = tile_elements(arena, m);
    for (int way = 1; way < 4 && least > SMALL_TILE; way++) {
        struct mapped other = whole;
        if (((way & 1) && !split_input(&other)) || ((way & 2) && !split_output(arena, &other)))
            continue;
        int64_t elements = tile_elements(arena, &other);
        *m = is_less(elements, least) ? other : *m;
        least = is_less(elements, least) ? elements : least;
    }
    return least;
}

/* ---- rows of elements ---- */

#define MOST_ELEMENTS (1 << 22) /* of a tensor whose elements are looked at one by one */
#define MOST_RUN      4096      /* elements of a row */

/* The position that an element of the output is copied from; negative: the border. */
static int32_t position_of(const struct mapped *m, int64_t element)
{
    int64_t pixel = element / m->channels;
    int32_t row = m->rows[pixel / m->width], column = m->columns[pixel % m->width],
            channel = m->channel_list[element % m->channels];
    return row < 0 || column < 0 || channel < 0 ? -1 : row + column + channel;
}

/* Of the run from an element on, the one with the least position; -1: all are border. */
static int least_of_run(const struct mapped *m, int64_t first, int run)
{
    int least = -1;
    for (int i = 0; i < run; i++) {
        int32_t position = position_of(m, first + i);
        if (position >= 0 && (least < 0 || position < position_of(m, first + least)))
            least = i;
    }
    return least;
}

/* Whether rows of so many elements have positions that are the sum of a row's and an element's, and `m` with such rows. */
static bool split_in_runs(struct arena *arena, struct mapped *m, int run)
{
    int64_t count = (int64_t)m->height * m->width * m->channels, first = 0;
    int32_t *rows = arena_array(arena, int32_t, (size_t)(count / run)), *list = arena_array(arena, int32_t, (size_t)run);
    int least = -1;
    for (; first < count && least < 0; first += least < 0 ? run : 0)
        least = least_of_run(m, first, run);
    if (least < 0)
        return false;
    for (int i = 0; i < run; i++) {
        int32_t position = position_of(m, first + i);
        list[i] = position < 0 ? -1 : position - position_of(m, first + least);
    }
    for (int64_t i = 0; i < count; i++) {
        int32_t *row = &rows[i / run];
        *row = i % run ? *row : position_of(m, i + least);
        int32_t sum = *row < 0 || list[i % run] < 0 ? -1 : *row + list[i % run];
        if (sum != position_of(m, i))
            return false;
    }
    m->rows = rows;
    m->columns = arena_array(arena, int32_t, 1); /* one column, which is at 0 */
    m->channel_list = list;
    m->height = (int)(count / run);
    m->width = 1;
    m->channels = run;
    return true;
}

/* The largest divisor of a number of elements that may be the length of rows; not above `most`. 0: none. */
static int run_of(int64_t count, int64_t most)
{
    int64_t run = most < MOST_RUN ? most : MOST_RUN;
    while (run > 0 && count % run != 0)
        run--;
    return run > 0 && count / run <= UINT16_MAX ? (int)run : 0;
}

/* `m` with rows of the input of so many elements, if tiles are then smaller. */
static void take_if_less(struct arena *arena, struct mapped *m, struct mapped other, int input_run, int64_t *least)
{
    int64_t inputs = (int64_t)other.input_height * other.input_width * other.input_channels;
    if (input_run == 0)
        return;
    other.input_height = (int)(inputs / input_run);
    other.input_width = 1;
    other.input_channels = input_run;
    int64_t elements = tile_elements(arena, &other);
    *m = is_less(elements, *least) ? other : *m;
    *least = is_less(elements, *least) ? elements : *least;
}

/* Of one row, or of pixels, that are large by themselves: sequences, vectors. Rows need not be the tensors'. */
static void cut_rows(struct arena *arena, struct mapped *m, int64_t least)
{
    const struct mapped whole = *m;
    int64_t count = (int64_t)m->height * m->width * m->channels,
            inputs = (int64_t)m->input_height * m->input_width * m->input_channels;
    for (int run = count <= MOST_ELEMENTS ? run_of(count, count) : 0; run && least > SMALL_TILE;
         run = run_of(count, run - 1)) {
        struct mapped other = whole;
        if (!split_in_runs(arena, &other, run))
            continue;
        take_if_less(arena, m, other, run_of(inputs, MOST_RUN), &least);
        take_if_less(arena, m, other, run_of(inputs, run), &least); /* which move on as the output's do */
    }
}

static void set_mapped(struct dory_layer *record, const struct mapped *m)
{
    record->input_height = (uint16_t)m->input_height;
    record->input_width = (uint16_t)m->input_width;
    record->output_height = (uint16_t)m->height;
    record->output_width = (uint16_t)m->width;
    record->input_channels = (uint16_t)m->input_channels;
    record->output_channels = (uint16_t)m->channels;
    set_row_window(record, m->window);
}

static struct mapped mapped_of(const struct description *d)
{
    const struct layer_map *map = &d->layer->map;
    const struct tensor *x = d->input, *y = d->output;
    return (struct mapped){.height = y->height,
                           .width = y->width,
                           .channels = y->channels,
                           .input_height = x->height,
                           .input_width = x->width,
                           .input_channels = x->channels,
                           .rows = map->rows,
                           .columns = map->columns,
                           .channel_list = map->channels};
}

#define LEAST_RUN 16 /* elements of a row that is copied by itself */

/* The first elements, as they come, such as a token in front of others: both tensors in rows, of which only the output's are
 * loaded, and no map. */
static bool describe_first_elements(const struct description *d)
{
    const struct mapped m = mapped_of(d);
    int64_t count = (int64_t)tensor_elements(d->output), inputs = (int64_t)tensor_elements(d->input);
    int run = run_of((int64_t)greatest_common_divisor(count, inputs), MOST_RUN);
    if (count >= inputs || count > MOST_ELEMENTS || run < LEAST_RUN || inputs / run > UINT16_MAX)
        return false;
    for (int64_t i = 0; i < count; i++)
        if (position_of(&m, i) != i)
            return false;
    d->record->input_height = (uint16_t)(inputs / run);
    d->record->output_height = (uint16_t)(count / run);
    d->record->input_width = d->record->output_width = 1;
    d->record->input_channels = d->record->output_channels = (uint16_t)run;
    d->record->stride_height = d->record->stride_width = 1;
    return true;
}

/* Of a copy that reads nothing, all elements of the input are rows, of which a tile has one. */
static void shrink_rows(struct arena *arena, struct mapped *m)
{
    int64_t inputs = (int64_t)m->input_height * m->input_width * m->input_channels;
    if (row_span_of(m->rows, m->height).last >= 0 || inputs > UINT16_MAX)
        return;
    m->input_height = (int)inputs;
    m->input_width = m->input_channels = 1;
    tile_elements(arena, m);
}

/* The longest runs, all of them equal, in which a list counts up; 0: it has borders. */
static int run_in_list(const int32_t *positions, int count)
{
    int run = count;
    for (int i = 0; i < count; i++)
        if (positions[i] < 0)
            return 0;
        else if (i > 0 && positions[i] != positions[i - 1] + 1)
            run = (int)greatest_common_divisor(run, i);
    return run;
}

/* Of kernels, some cycles: to pick one channel, and to begin a run, whose place the map has. */
#define PICK_CYCLES  3
#define BEGIN_CYCLES 45

/* Runs of channels, such as heads that become one row, are pixels of their own where that is faster than to pick those
 * channels one by one that are behind the first run. */
static void split_channels(struct arena *arena, struct mapped *m)
{
    int run = run_in_list(m->channel_list, m->channels), runs = run ? m->channels / run : 1;
    int picked = m->channels - first_run(m->channel_list, m->channels);
    if (runs == 1 || picked * PICK_CYCLES <= runs * BEGIN_CYCLES || m->width > MOST_RUN / runs)
        return;
    int32_t *columns = arena_array(arena, int32_t, (size_t)m->width * (size_t)runs),
            *channels = arena_array(arena, int32_t, (size_t)run);
    for (int i = 0; i < m->width * runs; i++) {
        int32_t column = m->columns[i / runs];
        columns[i] = column < 0 ? -1 : column + m->channel_list[i % runs * run];
    }
    for (int i = 0; i < run; i++)
        channels[i] = i;
    m->columns = columns;
    m->channel_list = channels;
    m->width *= runs;
    m->channels = run;
}

/* Any other map. */
static void describe_mapped_copy(const struct description *d)
{
    struct mapped m = mapped_of(d);
    cut_rows(d->arena, &m, shorten_rows(d->arena, &m));
    shrink_rows(d->arena, &m);
    split_channels(d->arena, &m);
    size_t rows = (size_t)m.height, columns = (size_t)m.width, channels = (size_t)m.channels;
    int32_t *positions = arena_array(d->arena, int32_t, rows + columns + channels);
    set_mapped(d->record, &m);
    d->record->constants.map = positions;
    d->record->map_channels.run = (uint16_t)first_run(m.channel_list, m.channels);
    memcpy(positions, m.rows, rows * sizeof *positions);
    memcpy(positions + rows, m.columns, columns * sizeof *positions);
    memcpy(positions + rows + columns, m.channel_list, channels * sizeof *positions);
}

void describe_copy(const struct description *d)
{
    d->record->operation = DORY_COPY;
    d->record->stages = NULL;
    if (d->input->bits != 8 || d->output->bits != 8 || d->layer->stage_count != 0) {
        REFUSE(d, NULL, "moves elements of %d bits; 8 are supported", d->input->bits);
        return;
    }
    d->record->border_value = (int16_t)d->layer->padding_value;
    describe_clip(d, NULL);
    if (!describe_window_copy(d) && !describe_transposition(d) && !describe_first_elements(d))
        describe_mapped_copy(d);
}
