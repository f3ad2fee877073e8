/* Products of two activations: BATCH_MATMUL, and FULLY_CONNECTED whose weights are computed. */
#include "import/tflite/tflite_import.h"
#include "middle/matrix.h"

/* A factor with scales that the runtimes do not read: they take the first. */
static bool has_one_scale(struct tflite_importer *importer, const struct tflite_tensor *factor)
{
    return factor->scale_count <= 1 ||
           tflite_fault(
               importer,
               "the constant '%s' has %d scales, of which TensorFlow Lite Micro and LiteRT read the first; quantise "
               "it with one (of ai-edge-quantizer: a recipe with granularity TENSORWISE for BATCH_MATMUL)",
               factor->name, factor->scale_count);
}

/* Both factors, in the order of dimensions that a product has: rows and terms, terms and columns. */
static bool take_factors(struct tflite_importer *importer, const struct tflite_operator *operation,
                         struct middle_value factors[2])
{
    const bool is_transposed[2] = {operation->options.first_is_transposed, operation->options.second_is_transposed};
    if (operation->input_count != 2)
        return tflite_fault(importer, "%d inputs; supported: 2", operation->input_count);
    for (int i = 0; i < 2; i++) {
        const struct tflite_tensor *factor = tflite_input(importer, i);
        if (!factor || !has_one_scale(importer, factor) || !tflite_takes(importer, i, &factors[i]))
            return false;
        if (is_transposed[i] && factors[i].view.rank >= 2)
            factors[i].view = middle_transposed(&factors[i].view);
    }
    return true;
}

/* The product of both scales is exact, as in TensorFlow Lite Micro since autumn 2026; of UINT8, which only LiteRT computes,
 * it is rounded to float32. A FULLY_CONNECTED with computed weights is such a product, too: their zero point is subtracted,
 * as by both where there is one scale. */
static bool multiply(struct tflite_importer *importer, const struct middle_product *product, int output)
{
    const struct tensor *tensors = importer->builder.network->tensors;
    double exact = tensors[product->factors[0].tensor].scale * tensors[product->factors[1].tensor].scale,
           scale = tflite_output(importer)->type == TFLITE_UINT8 ? (double)(float)exact : exact;
    struct layer *layer =
        quantised_layer(&importer->builder, LAYER_MATRIX_PRODUCT, tensors[output].name, product->factors[0].tensor, output);
    middle_set_product(&importer->builder, product, layer);
    layer->stages[0] = quantised_stage(&importer->builder, 1, &tensors[output]);
    quantised_set_channel(&importer->builder, &layer->stages[0], 0, 0,
                          (struct real_factor){{scale, 1}, tensors[output].scale, 1});
    layer->stage_count = 1;
    return tflite_clip(importer, &layer->stages[0], output);
}

static bool multiply_factors(struct tflite_importer *importer, const struct middle_value factors[2],
                             struct middle_value *made)
{
    const struct tflite_tensor *to = tflite_output(importer);
    struct middle_product product;
    struct quantisation quantisation;
    if (!to || !tflite_quantisation(importer, to, &quantisation))
        return false;
    if (!middle_multiply(&importer->builder, to->name, factors, &product))
        return tflite_fault(importer, "multiplies matrices of %s and %s; supported: dimensions that go together",
                            view_text(&factors[0].view, importer->arena), view_text(&factors[1].view, importer->arena));
    int output =
        quantised_tensor(&importer->builder, to->name, product.height, product.width, product.channels, &quantisation);
    *made = (struct middle_value){output, product.view};
    return multiply(importer, &product, output);
}

bool tflite_multiply_matrices(struct tflite_importer *importer, const struct tflite_operator *operation,
                              struct value *result)
{
    struct middle_value factors[2], made;
    return take_factors(importer, operation, factors) && multiply_factors(importer, factors, &made) &&
           tflite_gives(importer, 0, &made, result);
}

/* ---- FULLY_CONNECTED ---- */

/* There is none, or it adds nothing: the layer has one scale and no addend a column. */
static bool has_no_bias(struct tflite_importer *importer, const struct tflite_operator *operation)
{
    if (operation->input_count < 3 || operation->inputs[2] == NO_TENSOR)
        return true;
    const struct tflite_tensor *bias = tflite_constant(importer, 2, TFLITE_INT32, 0);
    for (size_t i = 0; bias && i < tflite_elements(bias); i++)
        if (tflite_integer(bias, i) != 0)
            return tflite_fault(importer, "computed weights and a bias; supported: one of both");
    return bias != NULL;
}

/* All dimensions but the last as one. */
static bool join_rows(struct view *view)
{
    int64_t terms = view->dimensions[view->rank - 1], dimensions[2] = {view_elements(view) / terms, terms};
    return view->rank == 2 || view_reshape(view, 2, dimensions, view);
}

bool tflite_connect_tensors(struct tflite_importer *importer, const struct tflite_operator *operation, struct value *result)
{
    const struct tflite_tensor *to = tflite_output(importer);
    struct middle_value factors[2], made;
    int64_t dimensions[TFLITE_MAXIMUM_RANK];
    if (!to || !has_no_bias(importer, operation) || !tflite_takes(importer, 0, &factors[0]) ||
        !tflite_takes(importer, 1, &factors[1]))
        return false;
    if (factors[0].view.rank < 1 || factors[1].view.rank != 2 || !join_rows(&factors[0].view))
        return tflite_fault(importer, "multiplies %s by %s; supported: rows by a matrix",
                            view_text(&factors[0].view, importer->arena), view_text(&factors[1].view, importer->arena));
    factors[1].view = middle_transposed(&factors[1].view);
    if (!multiply_factors(importer, factors, &made))
        return false;
    for (int i = 0; i < to->rank; i++)
        dimensions[i] = to->dimensions[i];
    if (!view_reshape(&made.view, to->rank, dimensions, &made.view))
        return tflite_fault(importer, "the output's shape %s is not the %s that its input gives",
                            tflite_shape_text(importer, to), view_text(&made.view, importer->arena));
    return tflite_gives(importer, 0, &made, result);
}
