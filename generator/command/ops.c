/* dory ops: the operators that a model may have. */
#include <stdio.h>

#include "command/commands.h"
#include "import/operators.h"
#include "import/qdq/qdq.h"
#include "import/tflite/tflite_network.h"

static void print_operator(const char *type, const char *becomes, const char *limits)
{
    printf("%-24s  %s%s%s\n", type, becomes, *limits ? " | " : "", limits);
}

static void print_quantised_operators(void)
{
    puts("\nOperators of quantised networks: QDQ and QOperator ONNX of onnxruntime, Brevitas, AIMET, PyTorch. Opsets 10 to "
         "25.\n");
    for (int i = 0; i < qdq_operator_count; i++)
        print_operator(qdq_operators[i].type, qdq_operators[i].becomes, qdq_operators[i].limits);
    puts(
        "\nand QLinearConv, QLinearMatMul, and of com.microsoft QGemm, QLinearAdd, QLinearAveragePool, QLinearConcat,\n"
        "QLinearGlobalAveragePool, QLinearLeakyRelu, QLinearMul, QLinearReduceMean, QLinearSigmoid, QLinearSoftmax: as the\n"
        "operator inside. Operators in floating point are left to the application behind the last quantised tensor.");
}

static void print_tflite_operators(void)
{
    struct arena arena = {0};
    puts("\nOperators of int8 TFLite, whose numbers are TensorFlow Lite Micro's. Fused activations: RELU, RELU6, "
         "RELU_N1_TO_1.\n");
    for (int i = 0; i < tflite_operator_count; i++) {
        const struct tflite_description operation = tflite_describe_operator(i, &arena);
        print_operator(operation.type, operation.becomes, operation.limits);
    }
    arena_free(&arena);
}

static void print_operators(void)
{
    puts("Operators of integer networks, as NEMO exports them after net.id_stage(), or Quantlab after its integerise "
         "passes.\n"
         "Opsets 7 to 21, one image at a time, fixed dimensions, 1 or 2 spatial dimensions.\n");
    for (int i = 0; i < operator_count; i++)
        print_operator(operators[i].type, operators[i].becomes, operators[i].limits);
    puts("\nAnd of transformers of integers, as QuantLib writes them for Deeploy; all others are those of quantised "
         "networks.\n");
    for (int i = 0; i < qdq_integer_operator_count; i++)
        print_operator(qdq_integer_operators[i].type, qdq_integer_operators[i].becomes, qdq_integer_operators[i].limits);
    print_quantised_operators();
    print_tflite_operators();
    puts("\nNot supported in integer networks:\n");
    for (int i = 0; i < operator_advice_count; i++)
        printf("%-18s %s\n", operator_advices[i].type, operator_advices[i].text);
}

enum exit_status command_ops(struct invocation *invocation)
{
    (void)invocation;
    print_operators();
    return EXIT_DONE;
}
