/* Any bytes as an ONNX file, through all passes. The last two bytes choose options. */
#include "pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    unsigned choices = length >= 2 ? (unsigned)(bytes[length - 2] | bytes[length - 1] << 8) : 0;
    pipeline_run(bytes, length, choices);
    return 0;
}
