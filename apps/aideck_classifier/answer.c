#include "aideck/answer.h"

#include <assert.h>
#include <stdio.h>

#include "aideck/model.h"
#include "dory/cpx.h"
#include "packet.h"
#include "settings.h"

#if CLASSIFIER_OUTPUT_BITS == 32
typedef int32_t element;
#elif CLASSIFIER_OUTPUT_BITS == 16 && CLASSIFIER_OUTPUT_IS_SIGNED
typedef int16_t element;
#elif CLASSIFIER_OUTPUT_BITS == 16
typedef uint16_t element;
#elif CLASSIFIER_OUTPUT_BITS == 8 && CLASSIFIER_OUTPUT_IS_SIGNED
typedef int8_t element;
#elif CLASSIFIER_OUTPUT_BITS == 8
typedef uint8_t element;
#else
#error "outputs of 8, 16 or 32 bits are read here"
#endif

#define CLASSES (CLASSIFIER_OUTPUT_BYTES / sizeof(element))
static_assert(CLASSES >= 2 && CLASSES <= 256, "a class number is a byte, and one of several");

static struct answer answer;

void answer_take(const struct model_outputs *outputs, uint32_t frame)
{
    const element *values = (const element *)(const void *)outputs->output;
    unsigned best = 0;
    int is_sure = 1;
    for (unsigned i = 1; i < CLASSES; i++)
        best = values[i] > values[best] ? i : best;
    for (unsigned i = 0; i < CLASSES; i++)
        is_sure = is_sure && (i == best || (int64_t)values[best] - values[i] >= THRESHOLD);
    answer = (struct answer){(uint8_t)best, (uint8_t)is_sure, (uint16_t)frame, (int32_t)values[best]};
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
    return status == DORY_OK && answer.frame % PRINT_EVERY == 0 ? print_answer() : status;
}
