/* RequantShift, in which QuantLib writes a whole requantisation for Deeploy:
 *
 *     y = clip(floor((x * mul + add) / div + 1/2)), to n_levels from 0, or around 0 where it is signed
 */
#include <inttypes.h>

#include "import/import.h"

#define MAXIMUM_LEVELS ((int64_t)1 << 32)

struct bounds {
    int64_t minimum, maximum;
};

/* One number, or one a channel in whatever dimension: in front of 1-D signals, too, they are written as Cx1x1. */
static bool read_constant(struct importer *importer, const struct node *node, const struct flow *flow, int index,
                          const char *role, const int64_t **numbers, int *count)
{
    const struct constant *constant = import_constant_input(importer, node, index);
    int channels = flow_tensor_view(importer, flow)->channels, wide = 0;
    if (!constant)
        return import_fault(importer, node, role, "is missing, or computed by the network; supported: a constant");
    for (int i = 0; i < constant->rank; i++)
        wide += constant->dimensions[i] != 1;
    bool is_flat_image = flow->shape.rank == 2 && flow->shape.dimensions[1] != channels;
    if (constant->count != 1 && (constant->count != (size_t)channels || wide > 1 || is_flat_image))
        return import_fault(
            importer, node, role,
            "constant '%s' has %zu numbers, the tensor has shape %s; supported: one number, or one a channel",
            constant->name, constant->count, shape_text(importer, &flow->shape));
    *numbers = import_whole_numbers(importer, node, role, constant, 1);
    *count = (int)constant->count;
    return true;
}

/* Files of Deeploy's own tests call n_levels_out n_levels. */
static bool read_bounds(struct importer *importer, const struct node *node, struct bounds *bounds)
{
    const char *name = node_attribute(node, "n_levels_out") ? "n_levels_out" : "n_levels";
    if (!node_attribute(node, name))
        return import_fault(importer, node, "n_levels_out", "is missing");
    int64_t levels = import_integer(importer, node, name, 256);
    if (levels < 2 || levels > MAXIMUM_LEVELS)
        return import_fault(importer, node, name, "is %" PRId64 "; supported: 2 to 2^32", levels);
    bounds->minimum = import_integer(importer, node, "signed", 0) ? -(levels / 2) : 0;
    bounds->maximum = bounds->minimum + levels - 1;
    return true;
}

static int bits_of(struct bounds bounds)
{
    int64_t levels = bounds.maximum - bounds.minimum + 1;
    return levels <= 4 ? 2 : levels <= 16 ? 4 : levels <= 256 ? 8 : 0;
}

static bool read_divisor(struct importer *importer, const struct node *node, int64_t *divisor)
{
    if (!node_attribute(node, "div"))
        return import_fault(importer, node, "div", "is missing");
    *divisor = import_integer(importer, node, "div", 1);
    return *divisor >= 1 || import_fault(importer, node, "div", "is %" PRId64 "; supported: 1 and more", *divisor);
}

bool import_requant_shift(struct importer *importer, const struct node *node, struct flow *result)
{
    static const int64_t half = 1;
    const struct flow *data;
    const int64_t *multiplier = NULL, *addend = NULL;
    int multipliers = 1, addends = 1;
    int64_t divisor = 1;
    struct bounds bounds = {0, 0};
    if (!import_needs(importer, node, 0, &data))
        return false;
    if (!flow_is_data(data))
        return import_fault(importer, node, NULL, "RequantShift is supported for tensors only");
    if (!read_constant(importer, node, data, 1, "mul", &multiplier, &multipliers) ||
        !read_constant(importer, node, data, 2, "add", &addend, &addends) || !read_divisor(importer, node, &divisor) ||
        !read_bounds(importer, node, &bounds))
        return false;
    *result = *data;
    if (!flow_multiply(importer, node, result, multiplier, multipliers) ||
        !flow_add(importer, node, result, addend, addends) || !flow_divide(importer, node, result, divisor) ||
        !flow_add_fractions(importer, node, result, &half, 1, 1))
        return false;
    flow_floor(importer, node, result);
    flow_clip(importer, node, result, bounds.minimum, bounds.maximum, bits_of(bounds));
    return true;
}
