/* The network by names that do not depend on it. */
#ifndef AIDECK_MODEL_H
#define AIDECK_MODEL_H

#include "pose.h"

#define MODEL_L1_BYTES         POSE_L1_BYTES
#define MODEL_L2_BYTES         POSE_L2_BYTES
#define MODEL_CONTROLLER_HERTZ POSE_CONTROLLER_HERTZ
#define MODEL_CLUSTER_HERTZ    POSE_CLUSTER_HERTZ
#define MODEL_INPUT_HEIGHT     POSE_INPUT_HEIGHT
#define MODEL_INPUT_WIDTH      POSE_INPUT_WIDTH
#define MODEL_INPUT_CHANNELS   POSE_INPUT_CHANNELS
#define MODEL_INPUT_BITS       POSE_INPUT_BITS
#define MODEL_INPUT_IS_SIGNED  POSE_INPUT_IS_SIGNED
#define MODEL_INPUT_BYTES      POSE_INPUT_BYTES
#define MODEL_INPUT_OFFSET     POSE_INPUT_OFFSET
#define MODEL_INPUT_IN_RAM     POSE_INPUT_IN_RAM
#define MODEL_OUTPUT_BYTES     POSE_OUTPUT_BYTES
#define MODEL_OUTPUT_BITS      POSE_OUTPUT_BITS
#define MODEL_OUTPUT_IS_SIGNED POSE_OUTPUT_IS_SIGNED

#define model_start   pose_start
#define model_poll    pose_poll
#define model_wait    pose_wait
#define model_weights pose_weights

#endif
