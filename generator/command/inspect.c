/* dory inspect: what a model is, as imported and proven. */
#include "command/inspect.h"

#include "command/commands.h"

#include <inttypes.h>
#include <math.h>

#include "command/load_model.h"
#include "describe/layer_operation.h"
#include "network/channels.h"

/* ---- words for a layer ---- */

static const char *shape_words(struct arena *arena, const struct tensor *tensor)
{
    return arena_format(arena, "%dx%dx%d", tensor->height, tensor->width, tensor->channels);
}

static const char *window_words(struct arena *arena, const struct layer *layer)
{
    if (layer_has_two_inputs(layer))
        return "";
    const char *text = arena_format(arena, "%dx%d", layer->kernel_height, layer->kernel_width);
    if (layer->stride_height != 1 || layer->stride_width != 1)
        text = arena_format(arena, "%s /%d,%d", text, layer->stride_height, layer->stride_width);
    if (layer->dilation_height != 1 || layer->dilation_width != 1)
        text = arena_format(arena, "%s *%d,%d", text, layer->dilation_height, layer->dilation_width);
    if (layer->padding_top || layer->padding_left || layer->padding_bottom || layer->padding_right)
        text = arena_format(arena, "%s +%d,%d,%d,%d", text, layer->padding_top, layer->padding_left, layer->padding_bottom,
                            layer->padding_right);
    return text;
}

/* ", scale 0.0078125, zero point 128, in the model 128 less": as far as the model says it. */
static const char *scale_words(struct arena *arena, const struct tensor *tensor)
{
    const char *text = "";
    if (tensor->part_count)
        text = arena_format(arena, ", %d parts, each with a scale and a zero point", tensor->part_count);
    else if (tensor->scale > 0)
        text = arena_format(arena, ", scale %.9g, zero point %d", tensor->scale, tensor->zero_point);
    if (tensor->model_offset)
        text = arena_format(arena, "%s, in the model %d %s", text,
                            tensor->model_offset < 0 ? -tensor->model_offset : tensor->model_offset,
                            tensor->model_offset < 0 ? "less" : "more");
    return text;
}

struct span {
    int64_t minimum, maximum;
};

static struct span span_of(const int64_t *numbers, int count)
{
    struct span span = {numbers[0], numbers[0]};
    for (int i = 1; i < count; i++) {
        span.minimum = numbers[i] < span.minimum ? numbers[i] : span.minimum;
        span.maximum = numbers[i] > span.maximum ? numbers[i] : span.maximum;
    }
    return span;
}

static const char *span_words(struct arena *arena, struct span span)
{
    if (span.minimum == span.maximum)
        return arena_format(arena, "%" PRId64, span.minimum);
    return arena_format(arena, "%" PRId64 "..%" PRId64, span.minimum, span.maximum);
}

static const char *divisor_words(struct arena *arena, int64_t divisor)
{
    if (divisor > 1 && (divisor & (divisor - 1)) == 0)
        return arena_format(arena, "2^%d", __builtin_ctzll((unsigned long long)divisor));
    return arena_format(arena, "%" PRId64, divisor);
}

static const char *rounding_words(enum rounding rounding)
{
    switch (rounding) {
    case ROUND_FLOOR: return "";
    case ROUND_TWICE: return ", rounded twice";
    case ROUND_HALF_EVEN: return ", halves to even";
    case ROUND_HALF_AWAY: return ", halves away from zero";
    case ROUND_ROOT: return ", its root, halves to even";
    }
    return "";
}

static const char *factor_words(struct arena *arena, const struct stage *stage)
{
    double least = HUGE_VAL, most = -HUGE_VAL;
    for (int i = 0; i < stage->count; i++) {
        int exponent = stage->exponent ? stage->exponent[i] : 0;
        double factor = (double)stage->multiplier[i] / (double)stage->divisor;
        factor = ldexp(factor, stage->rounding == ROUND_TWICE ? exponent + stage->left_shift - 31 : exponent);
        least = fmin(least, factor);
        most = fmax(most, factor);
    }
    const char *range = least == most ? arena_format(arena, "%.6g", least) : arena_format(arena, "%.6g..%.6g", least, most);
    return arena_format(arena, "factor %s, addend %s, zero point %" PRId64 "%s", range,
                        span_words(arena, span_of(stage->addend, stage->count)), stage->zero_point,
                        rounding_words(stage->rounding));
}

/* "k 12..350, lambda -99..4, D 2^20, clip 0..255", or "factor 0.001..0.002, addend -99..4, zero point 3, rounded twice" */
static const char *stage_words(struct arena *arena, const struct stage *stage)
{
    const char *text =
        stage->rounding == ROUND_FLOOR
            ? arena_format(arena, "k %s, lambda %s, D %s", span_words(arena, span_of(stage->multiplier, stage->count)),
                           span_words(arena, span_of(stage->addend, stage->count)), divisor_words(arena, stage->divisor))
            : factor_words(arena, stage);
    if (stage->has_clip)
        text = arena_format(arena, "%s, clip %s", text, span_words(arena, (struct span){stage->minimum, stage->maximum}));
    return text;
}

static void print_stages(FILE *stream, struct arena *arena, const struct layer *layer)
{
    for (int i = 0; i < 2 && layer->input_stages[i].count; i++)
        fprintf(stream, "%5s input %d: %s\n", "", i, stage_words(arena, &layer->input_stages[i]));
    for (int i = 0; i < layer->stage_count; i++)
        fprintf(stream, "%5s %s: %s\n", "", i ? "then" : "normalise", stage_words(arena, &layer->stages[i]));
}

/* ---- the table ---- */

static void print_layer(FILE *stream, struct arena *arena, const struct network *network, int index)
{
    const struct layer *layer = &network->layers[index];
    const struct tensor *input = &network->tensors[layer->inputs[0]], *output = &network->tensors[layer->output];
    fprintf(stream, "%4d  %-24.24s %-22s %-12s %-12s %-20s %12" PRIu64 "  %s%d  %s\n", index, layer->name,
            layer_words(network, layer), shape_words(arena, input), shape_words(arena, output), window_words(arena, layer),
            layer_macs(network, layer), output->is_signed ? "int" : "uint", output->bits,
            arena_format(arena, "%s%s", span_words(arena, (struct span){output->minimum, output->maximum}),
                         scale_words(arena, output)));
    fprintf(stream, "%5s accumulator %s; reads", "",
            span_words(arena, (struct span){layer->accumulator_minimum, layer->accumulator_maximum}));
    for (int i = 0; i < 2 && layer->inputs[i] >= 0; i++) {
        int producer = network->tensors[layer->inputs[i]].producer;
        if (producer == NO_LAYER)
            fprintf(stream, " input '%s'", network->tensors[layer->inputs[i]].name);
        else
            fprintf(stream, " layer %d", producer);
    }
    fputc('\n', stream);
    print_stages(stream, arena, layer);
}

static void print_ends(FILE *stream, struct arena *arena, const struct network *network, const char *word, const int *list,
                       int count)
{
    for (int i = 0; i < count; i++) {
        const struct tensor *tensor = &network->tensors[list[i]];
        fprintf(stream, "%s '%s': %s, %s%d, %s%s\n", word, tensor->name, shape_words(arena, tensor),
                tensor->is_signed ? "int" : "uint", tensor->bits,
                span_words(arena, (struct span){tensor->minimum, tensor->maximum}), scale_words(arena, tensor));
    }
}

static uint64_t weight_bytes_of(const struct network *network)
{
    uint64_t bits = 0;
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        const struct tensor *output = &network->tensors[layer->output];
        if (layer->kind == LAYER_CONVOLUTION)
            bits += layer_macs(network, layer) / ((uint64_t)output->height * (uint64_t)output->width) *
                    (uint64_t)layer->weight_bits;
    }
    return bits / 8;
}

static uint64_t macs_of(const struct network *network)
{
    uint64_t macs = 0;
    for (int i = 0; i < network->layer_count; i++)
        macs += layer_macs(network, &network->layers[i]);
    return macs;
}

void network_print(FILE *stream, struct arena *arena, const struct network *network)
{
    print_ends(stream, arena, network, "input", network->inputs, network->input_count);
    print_ends(stream, arena, network, "output", network->outputs, network->output_count);
    fprintf(stream, "\nlayer  %-23s %-22s %-12s %-12s %-20s %12s  %s\n", "node", "kind", "input", "output",
            "kernel /stride +pad", "MACs", "output range");
    for (int i = 0; i < network->layer_count; i++)
        print_layer(stream, arena, network, i);
    fprintf(stream, "\n%d layers, %" PRIu64 " MACs, %" PRIu64 " bytes of weights\n", network->layer_count, macs_of(network),
            weight_bytes_of(network));
}

/* ---- dead channels ---- */

static int channels_of(const struct network *network)
{
    int channels = 0;
    for (int i = 0; i < network->layer_count; i++)
        channels += network->tensors[network->layers[i].output].channels;
    return channels;
}

static int pixels_of(const struct tensor *tensor) { return tensor->height * tensor->width; }

static bool has_dead_channels(const struct network *shrunk) { return channels_of(shrunk) < channels_of(shrunk->whole); }

static void print_unread_pixels(const struct network *shrunk)
{
    const struct network *whole = shrunk->whole;
    puts("\nPixels that no layer reads, which the firmware leaves out:");
    for (int i = 0; i < whole->layer_count; i++) {
        int all = pixels_of(&whole->tensors[whole->layers[i].output]);
        int left = pixels_of(&shrunk->tensors[shrunk->layers[i].output]);
        if (left < all)
            printf("%4d  %-24.24s %5d of %5d\n", i, whole->layers[i].name, all - left, all);
    }
}

static bool has_unread_pixels(const struct network *shrunk)
{
    for (int i = 0; i < shrunk->tensor_count; i++)
        if (shrunk->tensors[i].kept_rows || shrunk->tensors[i].kept_columns)
            return true;
    return false;
}

static void print_removed(const struct network *shrunk)
{
    const struct network *whole = shrunk->whole;
    if (has_unread_pixels(shrunk))
        print_unread_pixels(shrunk);
    if (has_dead_channels(shrunk))
        puts("\nDead channels, constant or read by no layer, which the firmware leaves out:");
    for (int i = 0; i < whole->layer_count; i++) {
        int all = whole->tensors[whole->layers[i].output].channels;
        int left = shrunk->tensors[shrunk->layers[i].output].channels;
        if (left < all)
            printf("%4d  %-24.24s %5d of %5d\n", i, whole->layers[i].name, all - left, all);
    }
}

/* What the firmware does not compute; nothing, where it computes all. */
static void print_dead_channels(const struct network *shrunk)
{
    const struct network *whole = shrunk->whole ? shrunk->whole : shrunk;
    const struct network *imported = whole->imported ? whole->imported : whole;
    if (shrunk->whole)
        print_removed(shrunk);
    if (whole->imported)
        printf("\nParts are taken early, sibling convolutions are one layer, and taps are side by side: %d layers, %" PRIu64
               " MACs; in the model: %d layers, %" PRIu64 " MACs\n",
               whole->layer_count, macs_of(whole), imported->layer_count, macs_of(imported));
    if (imported != shrunk)
        printf("%d of %d channels; %" PRIu64 " of %" PRIu64 " MACs and %" PRIu64 " of %" PRIu64
               " bytes of weights are left\n",
               channels_of(whole) - channels_of(shrunk), channels_of(whole), macs_of(shrunk), macs_of(imported),
               weight_bytes_of(shrunk), weight_bytes_of(imported));
}

/* ---- copies ---- */

static const char *copy_words(const struct network *network, const struct layer *copy)
{
    const struct tensor *from = &network->tensors[copy->inputs[0]], *to = &network->tensors[copy->output];
    size_t before = tensor_elements(from), behind = tensor_elements(to);
    bool pads = copy_has_border(copy->map.rows, to->height) || copy_has_border(copy->map.columns, to->width) ||
                copy_has_border(copy->map.channels, to->channels);
    return pads              ? "lays a border"
           : behind < before ? "takes a part"
           : behind > before ? "repeats elements"
                             : "another order or shape";
}

/* Of whom the copy is: layers that read it so, and outputs of the model. */
static void print_readers(FILE *stream, const struct network *network, int tensor)
{
    for (int i = 0; i < network->layer_count; i++)
        if (layer_reads(&network->layers[i], tensor))
            fprintf(stream, ", for layer %d, %s '%s'", i, layer_words(network, &network->layers[i]),
                    network->layers[i].name);
    if (network_is_output(network, tensor))
        fputs(", for an output, which has the model's order", stream);
    fputc('\n', stream);
}

/* What could be no view of its input; nothing where there is none. */
static void print_copies(FILE *stream, const struct network *network)
{
    int copies = 0;
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        if (layer->kind != LAYER_COPY)
            continue;
        if (copies++ == 0)
            fputs("\nCopies, which move elements and compute nothing:\n", stream);
        fprintf(stream, "%4d  %-24.24s %9zu elements: %s", i, layer->name, tensor_elements(&network->tensors[layer->output]),
                copy_words(network, layer));
        print_readers(stream, network, layer->output);
    }
}

/* ---- scores of attention ---- */

/* Elements that differ by one step weigh less than a 256th of each other: what differs at all is nothing. */
static bool is_all_or_nothing(const struct layer *layer)
{
    return layer->kind == LAYER_SOFTMAX && layer->exponentials[1] < layer->exponentials[0] / 256;
}

/* Masks of -10000 are the usual reason: they take the whole scale. */
static void warn_of_coarse_scores(const struct network *network, struct diagnostics *diagnostics)
{
    for (int i = 0; i < network->layer_count; i++) {
        const struct layer *layer = &network->layers[i];
        const struct tensor *input = &network->tensors[layer->inputs[0]];
        if (is_all_or_nothing(layer) && !network_is_output(network, layer->output))
            diagnose(diagnostics, SEVERITY_WARNING, layer->name, NULL,
                     "layer %d: a softmax of '%s', whose steps of %g are so coarse that its elements are all or nothing. A "
                     "mask of -10000, or of is_causal, takes the whole scale so, and leaves attention uniform; use -20, and "
                     "quantise again",
                     i, input->name, input->scale);
    }
}

/* ---- command ---- */

enum exit_status command_inspect(struct invocation *invocation)
{
    struct network *network = model_load(&invocation->options, &invocation->arena, &invocation->diagnostics);
    if (network) {
        network_print(stdout, &invocation->arena, network);
        print_copies(stdout, network);
        warn_of_coarse_scores(network, &invocation->diagnostics);
        print_dead_channels(model_shrink(network, &invocation->options, &invocation->arena));
    }
    return network ? EXIT_DONE : EXIT_FAULT;
}
