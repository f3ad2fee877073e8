/* Camera, network, answer to the Crazyflie; pictures to a PC by Wi-Fi.
 *
 * The camera's uDMA fills one buffer while the network has what another one held; a third one holds the picture that is on
 * its way to the PC. The answer to the frame before goes out while the network runs. What changes with the network is the
 * application's: settings.h, and answer_take and answer_send of answer.h. */
#include <stdio.h>

#include "aideck/answer.h"
#include "aideck/board.h"
#include "aideck/input.h"
#include "aideck/model.h"
#include "aideck/options.h"
#include "common/app.h"
#include "dory/cpx.h"
#include "dory/hal.h"

enum { BUFFERS = STREAM ? 3 : 2, SENDS = 12, RECEIVES = 1, PAUSE_CYCLES = 10000 };

static union {
    uint8_t network[BOARD_MODEL_L1_BYTES];
    uint32_t scaling[(INPUT_L1_BYTES + 3) / 4];
} l1 DORY_L1;

static uint8_t l2[BOARD_MODEL_L2_BYTES] DORY_L2;
static uint8_t buffers[BUFFERS][BOARD_BYTES] DORY_L2;
static uint8_t cpx_frames[CPX_FRAMES_BYTES(SENDS + RECEIVES)] DORY_L2;
static struct model_outputs outputs DORY_L2;
static struct dory_job job DORY_FC;

static uint8_t *captures[2]; /* under way, by the frame's number */
static uint8_t *spare;       /* the buffer that neither camera nor network has; null: the picture's */
static struct cpx_picture picture;
static unsigned pictures, answers_dropped;

static struct {
    uint32_t capture, input, run, start, end; /* start, end: when the first and the last frame came */
} cycles;

static void add_time(uint32_t *part, uint32_t *since)
{
    uint32_t now = hal_cycles();
    *part += now - *since;
    *since = now;
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

/* The buffer to capture into next: this one, or, where this one is to be sent, the spare one. */
static uint8_t *send_or_reuse(uint8_t *frame)
{
    struct cpx_wifi wifi;
    cpx_wifi(&wifi);
    if (!STREAM || !spare || !wifi.has_client)
        return frame;
    picture = (struct cpx_picture){
        .width = BOARD_WIDTH, .height = BOARD_HEIGHT, .depth = 1, .type = CPX_RAW, .pixels = frame, .bytes = BOARD_BYTES};
    uint8_t *next = spare;
    spare = NULL;
    return next;
}

/* Whatever there is to do while the program waits. The picture's buffer is free when all of it is queued, or nobody wants
 * it. */
static int go_on(void)
{
    int status = picture.pixels ? cpx_picture_send(&picture) : DORY_RUNNING;
    if (picture.pixels && status != DORY_RUNNING && status != DORY_ERROR_DEVICE) {
        pictures += status == DORY_OK;
        spare = (uint8_t *)(uintptr_t)picture.pixels;
        picture = (struct cpx_picture){0};
    }
    cpx_poll();
    return status == DORY_ERROR_ARGUMENT ? status : DORY_OK;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static int await_frame(unsigned number, uint8_t **frame)
{
    int status = DORY_OK;
    *frame = captures[number % 2];
    while (status == DORY_OK && !board_capture_is_complete())
        status = go_on();
    return status ? status : board_await_capture();
}

static int start_network(const uint8_t *input)
{
    const struct dory_buffers network = {
        .l1 = &l1,
        .l1_bytes = sizeof l1,
        .l2 = l2,
        .l2_bytes = sizeof l2,
        .flash_address = hal_flash_address(board_model_weights),
    };
    return board_model_start(&job, &network, input, &outputs);
}

/* The network's driver shares the controller's cache with what runs here: a loop of few lines leaves it the rest. */
static void pause_for(uint32_t pause_cycles)
{
    for (uint32_t since = hal_cycles(); hal_cycles_available() && hal_cycles() - since < pause_cycles;) {
    }
}

/* The queue holds parts of a picture for milliseconds. */
static int await_network(void)
{
    int status = DORY_RUNNING, going = DORY_OK;
    for (unsigned turn = 0; status == DORY_RUNNING && picture.pixels && going == DORY_OK; turn++) {
        going = turn % 16 == 0 ? go_on() : DORY_OK;
        pause_for(PAUSE_CYCLES);
        status = board_model_poll(&job);
    }
    return status == DORY_RUNNING ? board_model_wait(&job) : status;
}

static int capture_into(unsigned number, uint8_t *buffer)
{
    captures[number % 2] = buffer;
    return board_start_capture(buffer);
}

/* An ESP32 that is not there yet, or no more, does not stop the looking. */
static int send_answer(void)
{
    int status = answer_send();
    if (status != DORY_ERROR_BUSY && status != DORY_ERROR_DEVICE)
        return status;
    answers_dropped++;
    return DORY_OK;
}

/* Once the network's input is made, the frame's buffer is free for the camera, or the PC. */
static int look_at_frame(unsigned number)
{
    uint8_t *frame;
    const uint8_t *input;
    uint32_t since = hal_cycles();
    int status = await_frame(number, &frame);
    add_time(&cycles.capture, &since);
    cycles.start = number == 0 ? since : cycles.start;
    cycles.end = since;
    status = status ? status : input_prepare(frame, l1.scaling, l2, &input);
    add_time(&cycles.input, &since);
    status = status ? status : capture_into(number, send_or_reuse(frame));
    status = status ? status : start_network(input);
    if (status == DORY_OK && number > 0)
        status = send_answer();
    int ran = await_network();
    add_time(&cycles.run, &since);
    if (ran == DORY_OK)
        answer_take(&outputs, number);
    return status ? status : ran;
}

static int look(void)
{
    unsigned number = 0;
    spare = STREAM ? buffers[BUFFERS - 1] : NULL;
    int status = capture_into(0, buffers[0]);
    status = status ? status : capture_into(1, buffers[1]);
    for (; status == DORY_OK && (FRAMES == 0 || number != FRAMES); number++)
        status = look_at_frame(number);
    return status ? status : send_answer();
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static void report(void)
{
    unsigned all = (unsigned)(cycles.end - cycles.start), frames = FRAMES ? FRAMES : 1;
    printf("cycles a frame: capture %u, input %u, run %u; %u pictures to the PC, %u answers dropped\n",
           (unsigned)cycles.capture / frames, (unsigned)cycles.input / frames, (unsigned)cycles.run / frames, pictures,
           answers_dropped);
    if (board_hertz() > 0 && all > 0 && frames > 1) {
        unsigned rate = (unsigned)((uint64_t)(frames - 1) * 100 * board_hertz() / all);
        printf("%u.%02u frames a second\n", rate / 100, rate % 100);
    }
}

static int watch(void)
{
    const struct cpx_memory memory = {.frames = cpx_frames, .send_count = SENDS, .receive_count = RECEIVES, .is_deaf = 1};
    const struct board_camera camera = {CAMERA_MIRRORS, CAMERA_FLIPS, CAMERA_EXPOSURE_LINES, CAMERA_GAIN};
    int status = cpx_open(&memory);
    status = status ? status : board_open(&camera);
    status = status ? status : look();
    int sent = cpx_close();
    int closed = board_close();
    report();
    return status ? status : sent ? sent : closed;
}

int main(void) { return app_main(watch); }
