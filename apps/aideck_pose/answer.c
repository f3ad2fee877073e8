#include "aideck/answer.h"

#include <assert.h>
#include <stdio.h>

#include "aideck/model.h"
#include "dory/cpx.h"
#include "packet.h"
#include "settings.h"

static_assert(POSE_OUTPUT_BYTES == 4 && POSE_OUTPUT_BITS == 8, "four numbers of 8 bits: x, y, z and an angle");

static struct pose pose;

static float number(const void *output, unsigned index)
{
#if POSE_OUTPUT_IS_SIGNED
    return pose_dequantise_output(((const int8_t *)output)[index]);
#else
    return pose_dequantise_output(((const uint8_t *)output)[index]);
#endif
}

void answer_take(const struct model_outputs *outputs, uint32_t frame)
{
    pose = (struct pose){(uint16_t)frame, number(outputs->output, 0), number(outputs->output, 1), number(outputs->output, 2),
                         number(outputs->output, 3)};
}

/* The C library of firmware prints no fractions: thousandths. */
static int print_pose(void)
{
    char text[CPX_STM32_BYTES];
    snprintf(text, sizeof text, "frame %u: %d %d %d mm, %d mrad\n", pose.frame, (int)(pose.x * 1000), (int)(pose.y * 1000),
             (int)(pose.z * 1000), (int)(pose.angle * 1000));
    return cpx_print(text);
}

int answer_send(void)
{
    int status = cpx_send_app(CPX_STM32, POSE_VERSION, &pose, sizeof pose);
    return status == DORY_OK && pose.frame % PRINT_EVERY == 0 ? print_pose() : status;
}
