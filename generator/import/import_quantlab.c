/* What Quantlab writes as attributes of an Add: both inputs are requantised before the sum, and the sum may be after it.
 *
 *     r1 = clip((x1 * in1_mul + in1_add) >> in1_shift), r2 likewise; y = ((r1 + r2) * out_mul + out_add) >> out_shift
 *
 * A step whose *_rq is 0 is left out. Clips are to *_n_levels, from zero or around it.
 */
#include "import/import.h"

#include <inttypes.h>

#define MAXIMUM_SHIFT  62
#define MAXIMUM_LEVELS ((int64_t)1 << 32)

struct requantisation {
    bool is_done;
    int64_t multiplier, addend, shift, levels;
};

static int64_t read_integer(struct importer *importer, const struct node *node, const char *prefix, const char *suffix,
                            int64_t otherwise)
{
    return import_integer(importer, node, arena_format(importer->arena, "%s_%s", prefix, suffix), otherwise);
}

static bool read_requantisation(struct importer *importer, const struct node *node, const char *prefix,
                                struct requantisation *requantisation)
{
    *requantisation = (struct requantisation){
        .is_done = read_integer(importer, node, prefix, "rq", 1) != 0,
        .multiplier = read_integer(importer, node, prefix, "mul", 1),
        .addend = read_integer(importer, node, prefix, "add", 0),
        .shift = read_integer(importer, node, prefix, "shift", 0),
        .levels = read_integer(importer, node, prefix, "n_levels", 256),
    };
    if (requantisation->shift < 0 || requantisation->shift > MAXIMUM_SHIFT)
        return import_fault(importer, node, arena_format(importer->arena, "%s_shift", prefix),
                            "is %" PRId64 "; supported: 0 to %d", requantisation->shift, MAXIMUM_SHIFT);
    if (requantisation->levels < 2 || requantisation->levels > MAXIMUM_LEVELS)
        return import_fault(importer, node, arena_format(importer->arena, "%s_n_levels", prefix),
                            "is %" PRId64 "; supported: 2 to 2^32", requantisation->levels);
    return true;
}

static struct stage make_stage(struct importer *importer, const struct requantisation *requantisation, bool is_signed)
{
    struct affine affine = affine_identity(importer);
    if (!requantisation->is_done)
        return (struct stage){.count = 1, .multiplier = affine.multiplier, .addend = affine.addend, .divisor = 1};
    affine.multiplier[0] = requantisation->multiplier;
    affine.addend[0] = requantisation->addend;
    affine.divisor = (int64_t)1 << requantisation->shift;
    affine_reduce(&affine);
    int64_t minimum = is_signed ? -requantisation->levels / 2 : 0;
    return (struct stage){
        .count = 1,
        .multiplier = affine.multiplier,
        .addend = affine.addend,
        .divisor = affine.divisor,
        .has_clip = true,
        .minimum = minimum,
        .maximum = minimum + requantisation->levels - 1,
    };
}

int import_output_bits(struct importer *importer, const struct node *node)
{
    bool is_named = node->output_count > 0 && node->outputs[0] != NO_VALUE;
    int64_t bits = is_named ? importer->graph->values[node->outputs[0]].precision : 0;
    if (importer->options->front_end == FRONT_END_QUANTLAB)
        bits = import_integer(importer, node, "out_bits", bits);
    return bits == 2 || bits == 4 || bits == 8 ? (int)bits : 0;
}

static int bits_of_levels(int64_t levels) { return levels <= 4 ? 2 : levels <= 16 ? 4 : 8; }

bool import_is_annotated_addition(const struct node *node)
{
    return node_attribute(node, "in1_mul") || node_attribute(node, "in2_mul") || node_attribute(node, "out_mul");
}

bool import_annotate_addition(struct importer *importer, const struct node *node, struct layer *layer,
                              const bool is_signed[2])
{
    static const char *const prefixes[3] = {"in1", "in2", "out"};
    struct requantisation steps[3];
    for (int i = 0; i < 3; i++)
        if (!read_requantisation(importer, node, prefixes[i], &steps[i]))
            return false;
    bool output_is_signed = import_integer(importer, node, "out_signed", is_signed[0] || is_signed[1]) != 0;
    for (int i = 0; i < 2; i++)
        layer->input_stages[i] = make_stage(importer, &steps[i], is_signed[i]);
    if (!steps[2].is_done)
        return true;
    layer->stages[layer->stage_count++] = make_stage(importer, &steps[2], output_is_signed);
    layer->output_bits = bits_of_levels(steps[2].levels);
    return true;
}
