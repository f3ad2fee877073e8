#include "answer.h"

#include <assert.h>
#include <stdio.h>

#include "dory/cpx.h"
#include "model.h"
#include "packet.h"
#include "settings.h"

#if MODEL_OUTPUT_BITS == 32
typedef int32_t element;
#elif MODEL_OUTPUT_BITS == 16 && MODEL_OUTPUT_IS_SIGNED
typedef int16_t element;
#elif MODEL_OUTPUT_BITS == 16
typedef uint16_t element;
#elif MODEL_OUTPUT_BITS == 8 && MODEL_OUTPUT_IS_SIGNED
typedef int8_t element;
#elif MODEL_OUTPUT_BITS == 8
typedef uint8_t element;
#else
#error "outputs of 8, 16 or 32 bits are read here"
#endif

#define CLASSES (MODEL_OUTPUT_BYTES / sizeof(element))
static_assert(CLASSES >= 2 && CLASSES <= 256, "a class number is a byte, and one of several");

uint32_t answers_dropped;
static struct answer answer;

void answer_take(const void *output, uint32_t frame)
{
    const element *outputs = output;
    unsigned best = 0;
    int is_sure = 1;
    for (unsigned i = 1; i < CLASSES; i++)
        best = outputs[i] > outputs[best] ? i : best;
    for (unsigned i = 0; i < CLASSES; i++)
        is_sure = is_sure && (i == best || (int64_t)outputs[best] - outputs[i] >= THRESHOLD);
    answer = (struct answer){(uint8_t)best, (uint8_t)is_sure, (uint16_t)frame, (int32_t)outputs[best]};
}

static int print_answer(void)
{
    static const char *const labels[] = {LABELS};
    char text[CPX_STM32_BYTES], number[16];
    snprintf(number, sizeof number, "class %u", answer.class_number);
    snprintf(text, sizeof text, "frame %u: %s%s, %ld\n", answer.frame,
             answer.class_number < sizeof labels / sizeof *labels ? labels[answer.class_number] : number,
             answer.is_sure ? "" : "?", (long)answer.output);
    return cpx_print(text);
}

int answer_send(void)
{
    int status = cpx_send_app(CPX_STM32, ANSWER_VERSION, &answer, sizeof answer);
    if (status == DORY_OK && answer.frame % PRINT_EVERY == 0)
        status = print_answer();
    if (status != DORY_ERROR_BUSY && status != DORY_ERROR_DEVICE)
        return status;
    answers_dropped++; /* an ESP32 that is not there yet, or no more, does not stop the looking */
    return DORY_OK;
}
