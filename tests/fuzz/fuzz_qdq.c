/* Any bytes as a quantised ONNX file (QDQ, QOperator), through all passes. These front ends refuse options that say what the
 * input is, so the length of the file chooses what is left. */
#include "pipeline.h"

#define AS_IN_THE_FILE (3u << 7) /* no size of the input's elements is asked for */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    pipeline_run(bytes, length, AS_IN_THE_FILE | (unsigned)(length & 63));
    return 0;
}
