// One inference by TensorFlow Lite Micro: its instructions, counted as count.c counts dory's, the bytes of its arena, and a sum of its
// outputs. Compiled against the user's checkouts.
#include <cstdint>
#include <cstdio>

#include "tensorflow/lite/micro/micro_interpreter.h"
#include "tensorflow/lite/micro/micro_mutable_op_resolver.h"
#include "tensorflow/lite/schema/schema_generated.h"

extern "C" const unsigned char model[];
extern "C" uint32_t count_start(void);
extern "C" uint32_t count_ticks_since(uint32_t before);
extern "C" uint32_t count_instructions(uint32_t ticks);

// What abort() of a C library without an operating system wants.
extern "C" int getpid(void) { return 1; }
extern "C" int kill(int, int) { return -1; }

alignas(16) static uint8_t arena[256 * 1024];

int main()
{
    tflite::MicroMutableOpResolver<8> resolver;
    resolver.AddConv2D();
    resolver.AddDepthwiseConv2D();
    resolver.AddFullyConnected();
    resolver.AddAdd();
    resolver.AddAveragePool2D();
    resolver.AddSoftmax();
    resolver.AddReshape();
    tflite::MicroInterpreter interpreter(tflite::GetModel(model), resolver, arena, sizeof arena);
    if (interpreter.AllocateTensors() != kTfLiteOk)
        return 1;
    TfLiteTensor *input = interpreter.input(0);
    for (size_t i = 0; i < input->bytes; i++)
        input->data.int8[i] = static_cast<int8_t>(i * 37 + 11);
    uint32_t before = count_start();
    TfLiteStatus status = interpreter.Invoke();
    uint32_t ticks = count_ticks_since(before);
    const TfLiteTensor *output = interpreter.output(0);
    int32_t sum = 0;
    for (size_t i = 0; i < output->bytes; i++)
        sum += output->data.int8[i] * static_cast<int32_t>(i + 1);
    printf("arena bytes: %u\noutputs: %d\ninstructions: %u\n", static_cast<unsigned>(interpreter.arena_used_bytes()), static_cast<int>(sum),
           static_cast<unsigned>(count_instructions(ticks)));
    return status != kTfLiteOk;
}
