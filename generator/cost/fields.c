#include "cost/fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "describe/layer_operation.h"

/* ---- what there is ---- */

/* Those of report.json; "linear" is fully connected there, which it says of convolutions over their whole input, too. */
static const char *const operations[] = {
    [DORY_COST_CONVOLUTION] = WORD_CONVOLUTION,
    [DORY_COST_LINEAR] = "linear",
    [DORY_COST_MAXIMUM_POOL] = WORD_MAXIMUM_POOL,
    [DORY_COST_AVERAGE_POOL] = WORD_AVERAGE_POOL,
    [DORY_COST_ADDITION] = WORD_ADDITION,
    [DORY_COST_MULTIPLICATION] = WORD_MULTIPLICATION,
    [DORY_COST_CONCATENATION] = WORD_CONCATENATION,
    [DORY_COST_TABLE] = WORD_TABLE,
    [DORY_COST_OPERATIONS] = NULL,
};

/* Likewise, with what makes a difference to the cycles. */
static const char *const normalisations[] = {
    [DORY_COST_NORMALISE_NONE] = WORD_NORMALISE_NONE,
    [DORY_COST_NORMALISE_SHIFT_32] = WORD_NORMALISE_32,
    [DORY_COST_NORMALISE_SHIFT_64] = WORD_NORMALISE_64,
    [DORY_COST_NORMALISE_DIVIDE] = WORD_NORMALISE_DIVIDE,
    [DORY_COST_NORMALISE_CLAMPED] = WORD_NORMALISE_CLAMPED,
    [DORY_COST_NORMALISE_CLAMPED_DIVIDED] = WORD_NORMALISE_CLAMPED "_divided",
    [DORY_COST_NORMALISE_HIGH] = WORD_NORMALISE_HIGH,
    [DORY_COST_NORMALISE_HIGH_AWAY] = WORD_NORMALISE_HIGH "_away",
    [DORY_COST_NORMALISE_HIGH_EVEN] = WORD_NORMALISE_HIGH "_even",
    [DORY_COST_NORMALISE_SHARED] = WORD_NORMALISE_SHARED,
    [DORY_COST_NORMALISATIONS] = NULL,
};
static const char *const layouts[] = {"hwc", "chw", NULL};
static const char *const tile_tables[] = {"auto", "no", "yes", NULL};
static const char *const truths[] = {"false", "true", NULL};

#define MAXIMUM_VALUES 4

/* A field sets one member, or as many as it has values: "3" and "3x3" are a kernel. */
struct cost_field {
    const char *name;
    size_t members[MAXIMUM_VALUES]; /* in struct dory_cost_layer; 0 behind the last but for the first */
    uint32_t least, most;
    const char *const *words; /* null: numbers */
};

#define MEMBER(name) offsetof(struct dory_cost_layer, name)

static const struct cost_field fields[] = {
    {"operation", {MEMBER(operation)}, 0, 0, operations},
    {"height", {MEMBER(height)}, 1, MAXIMUM_DIMENSION, NULL},
    {"width", {MEMBER(width)}, 1, MAXIMUM_DIMENSION, NULL},
    {"channels", {MEMBER(channels)}, 1, MAXIMUM_DIMENSION, NULL},
    {"outputs", {MEMBER(outputs)}, 1, MAXIMUM_DIMENSION, NULL},
    {"kernel", {MEMBER(kernel_height), MEMBER(kernel_width)}, 1, MAXIMUM_DIMENSION, NULL},
    {"stride", {MEMBER(stride_height), MEMBER(stride_width)}, 1, MAXIMUM_DIMENSION, NULL},
    {"dilation", {MEMBER(dilation_height), MEMBER(dilation_width)}, 1, MAXIMUM_DIMENSION, NULL},
    {"padding",
     {MEMBER(padding_top), MEMBER(padding_left), MEMBER(padding_bottom), MEMBER(padding_right)},
     0,
     INT16_MAX,
     NULL},
    {"groups", {MEMBER(groups)}, 1, MAXIMUM_DIMENSION, NULL},
    {"input_bits", {MEMBER(input_bits)}, 2, 32, NULL},
    {"weight_bits", {MEMBER(weight_bits)}, 2, 8, NULL},
    {"output_bits", {MEMBER(output_bits)}, 2, 32, NULL},
    {"input_signed", {MEMBER(input_is_signed)}, 0, 0, truths},
    {"output_signed", {MEMBER(output_is_signed)}, 0, 0, truths},
    {"normalisation", {MEMBER(normalisation)}, 0, 0, normalisations},
    {"input_layout", {MEMBER(input_layout)}, 0, 0, layouts},
    {"output_layout", {MEMBER(output_layout)}, 0, 0, layouts},
    {"tile_table", {MEMBER(tile_table)}, 0, 0, tile_tables},
};
#define FIELD_COUNT (sizeof fields / sizeof *fields)

static const struct cost_field *find_field(const char *name, size_t length)
{
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (strlen(fields[i].name) == length && !memcmp(fields[i].name, name, length))
            return &fields[i];
    return NULL;
}

bool cost_field_is_known(const char *name, size_t length) { return find_field(name, length) != NULL; }

/* ---- reading one ---- */

static uint32_t *place(struct dory_cost_layer *layer, size_t member) { return (uint32_t *)(void *)((char *)layer + member); }

static int member_count(const struct cost_field *field)
{
    int count = 1;
    while (count < MAXIMUM_VALUES && field->members[count])
        count++;
    return count;
}

static bool read_word(struct dory_cost_layer *layer, const struct cost_field *field, const char *text)
{
    uint32_t index = 0;
    while (field->words[index] && strcmp(field->words[index], text) != 0)
        index++;
    if (field->words[index])
        *place(layer, field->members[0]) = index;
    return field->words[index] != NULL;
}

/* A number without a sign and its end; null: none, or beyond 32 bits. */
static const char *read_number(const char *text, uint32_t *number)
{
    uint64_t value = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9' && value <= UINT32_MAX; at++)
        value = value * 10 + (uint64_t)(*at - '0');
    *number = (uint32_t)value;
    return at == text || value > UINT32_MAX ? NULL : at;
}

/* One number for all members, one for each, or for a padding two: above and below, left and right. */
static bool read_numbers(struct dory_cost_layer *layer, const struct cost_field *field, const char *text)
{
    uint32_t values[MAXIMUM_VALUES];
    int count = 0, members = member_count(field);
    do {
        text = read_number(count ? text + 1 : text, &values[count]);
        if (!text || values[count] < field->least || values[count] > field->most)
            return false;
        count++;
    } while (*text == 'x' && count < members);
    if (*text || members % count != 0)
        return false;
    for (int i = 0; i < members; i++)
        *place(layer, field->members[i]) = values[i % count];
    return true;
}

static void describe_words(const struct cost_field *field, char *message, size_t bytes)
{
    size_t length = (size_t)snprintf(message, bytes, "one of");
    for (int i = 0; field->words[i] && length < bytes; i++)
        length += (size_t)snprintf(message + length, bytes - length, "%s %s", i ? "," : "", field->words[i]);
}

/* What a field wants. */
static void describe(const struct cost_field *field, char *message, size_t bytes)
{
    int members = member_count(field);
    const char *shapes = members == 1   ? ""
                         : members == 2 ? ", or two such as 3x1"
                                        : ", or two such as 0x1, or four: top x left x bottom x right";
    if (field->words)
        describe_words(field, message, bytes);
    else
        snprintf(message, bytes, "a whole number from %" PRIu32 " to %" PRIu32 "%s", field->least, field->most, shapes);
}

bool dory_cost_layer_set(struct dory_cost_layer *layer, const char *name, const char *text, char *message, size_t bytes)
{
    char expected[DORY_COST_TEXT_BYTES];
    const struct cost_field *field = find_field(name, strlen(name));
    if (!field) {
        snprintf(message, bytes, "field '%.40s': there is none of that name", name);
        return false;
    }
    if (field->words ? read_word(layer, field, text) : read_numbers(layer, field, text))
        return true;
    describe(field, expected, sizeof expected);
    snprintf(message, bytes, "field '%s': '%.40s' is not %s", name, text, expected);
    return false;
}

void dory_cost_layer_start(struct dory_cost_layer *layer)
{
    *layer = (struct dory_cost_layer){
        .kernel_height = 1,
        .kernel_width = 1,
        .stride_height = 1,
        .stride_width = 1,
        .dilation_height = 1,
        .dilation_width = 1,
        .groups = 1,
        .input_bits = 8,
        .weight_bits = 8,
        .output_bits = 8,
        .normalisation = DORY_COST_NORMALISE_SHIFT_32,
    };
}
