/* What the drivers of camera and UART refuse, and how they end where no sensor answers or none sends: gvsoc's GAPuino has a
 * sensor at I2C 1 that shows no pictures, and none at I2C 0. Pictures: tests/camera. */
#include "dory/gap8_camera.h"
#include "dory/gap8_uart.h"
#include "dory/hal.h"
#include "expect.h"

static uint8_t frame[GAP8_CAMERA_BYTES + 1] DORY_L2;
static char text[] __attribute__((aligned(4))) = "sent by the UART\n";

static void test_sensor(void)
{
    uint8_t value = 0;
    EXPECT_EQUAL(gap8_camera_open((enum gap8_camera_board)2), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_camera_open(GAP8_CAMERA_GAPUINO), DORY_OK);
    EXPECT_THAT(gap8_camera_read(0x0001, &value) == DORY_OK && value == 0xB0);
    EXPECT_THAT(gap8_camera_read(0x0000, &value) == DORY_OK && value == 0x01);
}

static void test_captures(void)
{
    EXPECT_EQUAL(gap8_camera_captures(), 0);
    EXPECT_EQUAL(gap8_camera_wait(), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_camera_start(NULL), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_camera_start(frame + 1), DORY_ERROR_ALIGNMENT);
    EXPECT_EQUAL(gap8_camera_start(frame), DORY_OK);
    EXPECT_EQUAL(gap8_camera_start(frame), DORY_OK);
    EXPECT_EQUAL(gap8_camera_start(frame), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_camera_captures(), 2);
    uint32_t cycles = hal_cycles();
    EXPECT_EQUAL(gap8_camera_wait(), DORY_ERROR_DEVICE); /* no frame comes */
    cycles = hal_cycles() - cycles;
    EXPECT_THAT(cycles > 50000000 && cycles < 300000000); /* of 100 MHz */
    EXPECT_EQUAL(gap8_camera_close(), DORY_OK);
    EXPECT_EQUAL(gap8_camera_captures(), 0);
    EXPECT_EQUAL(gap8_camera_wait(), DORY_ERROR_ARGUMENT);
}

static void test_uart(void)
{
    EXPECT_EQUAL(gap8_uart_open(0), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_uart_open(1), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_uart_open(100000000), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_uart_open(115200), DORY_OK);
    EXPECT_EQUAL(gap8_uart_send(NULL, 1), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_uart_send(text, 0), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_uart_send(text, 0x20000), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_uart_send(text + 1, 1), DORY_ERROR_ALIGNMENT);
    uint32_t cycles = hal_cycles();
    EXPECT_EQUAL(gap8_uart_send(text, sizeof text - 1), DORY_OK);
    EXPECT_THAT(hal_cycles() - cycles < 2000); /* it goes on by itself */
    gap8_uart_wait();
    cycles = hal_cycles() - cycles;
    EXPECT_THAT(cycles > 9 * 868 * (sizeof text - 1) && cycles < 11 * 868 * (sizeof text - 1)); /* ten bits a character */
}

int main(void)
{
    EXPECT_EQUAL(hal_cluster_open(1), DORY_OK); /* its timer */
    test_sensor();
    test_captures();
    EXPECT_EQUAL(gap8_camera_open(GAP8_CAMERA_AI_DECK), DORY_ERROR_DEVICE);
    test_uart();
    EXPECT_EQUAL(hal_cluster_close(), DORY_OK);
    return expect_result("GAP8: camera");
}
