/* BATCH_MATMUL: products of two activations. */
#include "import/tflite/tflite_import.h"
#include "middle/matrix.h"

/* Both factors, in the order of dimensions that a product has: rows and terms, terms and columns. */
static bool take_factors(struct tflite_importer *importer, const struct tflite_operator *operation,
                         struct middle_value factors[2])
{
    const bool is_transposed[2] = {operation->options.first_is_transposed, operation->options.second_is_transposed};
    if (operation->input_count != 2)
        return tflite_fault(importer, "%d inputs; supported: 2", operation->input_count);
    for (int i = 0; i < 2; i++) {
        if (!tflite_takes(importer, i, &factors[i]))
            return false;
        if (is_transposed[i] && factors[i].view.rank >= 2)
            factors[i].view = middle_transposed(&factors[i].view);
    }
    return true;
}

/* The product of both scales is rounded to float32, as TensorFlow Lite Micro does. */
static bool multiply(struct tflite_importer *importer, const struct middle_product *product, int output)
{
    const struct tensor *tensors = importer->builder.network->tensors;
    double scale = (double)(float)(tensors[product->factors[0].tensor].scale * tensors[product->factors[1].tensor].scale);
    struct layer *layer =
        quantised_layer(&importer->builder, LAYER_MATRIX_PRODUCT, tensors[output].name, product->factors[0].tensor, output);
    middle_set_product(&importer->builder, product, layer);
    layer->stages[0] = quantised_stage(&importer->builder, 1, &tensors[output]);
    quantised_set_channel(&importer->builder, &layer->stages[0], 0, 0,
                          (struct real_factor){{scale, 1}, tensors[output].scale, 1});
    layer->stage_count = 1;
    return true;
}

bool tflite_multiply_matrices(struct tflite_importer *importer, const struct tflite_operator *operation,
                              struct value *result)
{
    const struct tflite_tensor *to = tflite_output(importer);
    struct middle_value factors[2];
    struct middle_product product;
    struct quantisation quantisation;
    if (!to || !tflite_quantisation(importer, to, &quantisation) || !take_factors(importer, operation, factors))
        return false;
    if (!middle_multiply(&importer->builder, to->name, factors, &product))
        return tflite_fault(importer, "multiplies matrices of %s and %s; supported: dimensions that go together",
                            view_text(&factors[0].view, importer->arena), view_text(&factors[1].view, importer->arena));
    int output =
        quantised_tensor(&importer->builder, to->name, product.height, product.width, product.channels, &quantisation);
    struct middle_value made = {output, product.view};
    return multiply(importer, &product, output) && tflite_gives(importer, 0, &made, result);
}
