/* From the camera's frame to the network's input: grey of one channel, or red, green and blue of a colour sensor's cells. */
#ifndef AIDECK_INPUT_H
#define AIDECK_INPUT_H

#include <assert.h>

#include "aideck/board.h"
#include "aideck/model.h"
#include "aideck/options.h"
#include "aideck/scale.h"

static_assert((BOARD_MODEL_INPUT_CHANNELS == 1 || BOARD_MODEL_INPUT_CHANNELS == 3) && BOARD_MODEL_INPUT_BITS == 8,
              "the camera gives a byte for grey, or three for a colour");

#define INPUT_CELL    (BOARD_MODEL_INPUT_CHANNELS == 3 ? 2 : 1)
#define INPUT_PATTERN (BOARD_MODEL_INPUT_CHANNELS == 3 ? CAMERA_PATTERN : SCALE_GREY)

/* A grey input of as many bytes as the frame is the frame as it lies in memory, as Bitcraze's classifier has it. */
#define INPUT_IS_FRAME (BOARD_MODEL_INPUT_BYTES == BOARD_BYTES && BOARD_MODEL_INPUT_CHANNELS == 1)

/* Else the largest part in the middle that has the input's shape, made smaller or larger. */
#define PART_OF(limit, other, size, other_size)                                                                             \
    ((other) * (size) < (limit) * (other_size) ? (other) * (size) / (other_size) : (limit))
#define PART_WIDTH (PART_OF(BOARD_WIDTH, BOARD_HEIGHT, BOARD_MODEL_INPUT_WIDTH, BOARD_MODEL_INPUT_HEIGHT) / 4 * 4)
#define PART_HEIGHT                                                                                                         \
    (PART_OF(BOARD_HEIGHT, BOARD_WIDTH, BOARD_MODEL_INPUT_HEIGHT, BOARD_MODEL_INPUT_WIDTH) / INPUT_CELL * INPUT_CELL)
#define PART_TOP  ((BOARD_HEIGHT - PART_HEIGHT) / 2 / INPUT_CELL * INPUT_CELL)
#define PART_LEFT ((BOARD_WIDTH - PART_WIDTH) / 2)
#define INPUT_L1_BYTES                                                                                                      \
    (INPUT_IS_FRAME ? 4                                                                                                     \
                    : SCALE_L1_OF(PART_WIDTH, PART_HEIGHT, BOARD_MODEL_INPUT_WIDTH, BOARD_MODEL_INPUT_HEIGHT, INPUT_CELL))

static_assert(INPUT_IS_FRAME || (PART_WIDTH > 0 && PART_HEIGHT > 0), "the input has the shape of no picture");

/* Makes the network's input of a frame, whose buffer is free then, where the network reads it: in its L2 buffer, or in RAM,
 * some rows at a time; then *input is null. `l1` is free: INPUT_L1_BYTES. */
int input_prepare(const uint8_t *frame, uint32_t *l1, uint8_t *network_l2, const uint8_t **input);

#endif
