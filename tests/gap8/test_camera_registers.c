/* What the camera's driver writes by I2C, to a memory where the sensor should be: each register gets its value, and only
 * those. */
#include "dory/gap8_camera.h"
#include "dory/status.h"
#include "expect.h"

static const struct {
    uint16_t number;
    uint8_t value;
} expected[] = {
    {0x0100, 1},                                 /* mode: streaming */
    {0x0103, 1},                                 /* reset */
    {0x0104, 1},                                 /* take over */
    {0x0340, 0x02}, {0x0341, 0x14},              /* 532 lines a frame */
    {0x0342, 0x01}, {0x0343, 0x78},              /* 376 clocks a line */
    {0x0383, 1},    {0x0387, 1},    {0x0390, 0}, /* every pixel */
    {0x1012, 1},    {0x2100, 1},    {0x3010, 0}, {0x3011, 0x70}, {0x3059, 0x02}, {0x3068, 0x20},
};

#define FILL 0x5A

static uint8_t read(uint16_t number)
{
    uint8_t value = 0;
    EXPECT_THAT(gap8_camera_read(number, &value) == DORY_OK);
    return value;
}

static void write(uint16_t number, uint8_t value) { EXPECT_EQUAL(gap8_camera_write(number, value), DORY_OK); }

static void fill_memory(void)
{
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        write(expected[i].number, FILL);
        write((uint16_t)(expected[i].number ^ 0x8000), FILL); /* a neighbour that nobody writes */
    }
    write(0x0000, 0x01);
    write(0x0001, 0xB0); /* the sensor's model */
}

static void test_orientation(void)
{
    static const struct {
        int mirrors, flips;
    } cases[] = {{1, 0}, {0, 1}, {1, 1}, {0, 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        write(0x0104, FILL);
        EXPECT_EQUAL(gap8_camera_orient(cases[i].mirrors, cases[i].flips), DORY_OK);
        EXPECT_EQUAL(read(0x0101), cases[i].mirrors + 2 * cases[i].flips);
        EXPECT_EQUAL(read(0x0104), 1); /* taken over */
    }
}

static void test_exposure(void)
{
    static const uint8_t gains[] = {1, 2, 4, 8};
    for (uint8_t i = 0; i < sizeof gains; i++) {
        write(0x0104, FILL);
        EXPECT_EQUAL(gap8_camera_expose(300, gains[i]), DORY_OK);
        EXPECT_EQUAL(read(0x2100), 0); /* not automatic */
        EXPECT_EQUAL(read(0x0202) << 8 | read(0x0203), 300);
        EXPECT_EQUAL(read(0x0205), i << 4);
        EXPECT_EQUAL(read(0x0104), 1);
    }
    EXPECT_EQUAL(gap8_camera_expose(1, 1), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_camera_expose(531, 1), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_camera_expose(300, 0), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_camera_expose(300, 3), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(gap8_camera_expose(300, 16), DORY_ERROR_ARGUMENT);
    EXPECT_EQUAL(read(0x0202) << 8 | read(0x0203), 300);
    EXPECT_EQUAL(gap8_camera_expose(0, 1), DORY_OK);
    EXPECT_EQUAL(read(0x2100), 1);
}

int main(void)
{
    EXPECT_EQUAL(gap8_camera_open(GAP8_CAMERA_AI_DECK), DORY_ERROR_DEVICE); /* the memory is no HM01B0 yet */
    fill_memory();
    EXPECT_EQUAL(gap8_camera_open(GAP8_CAMERA_AI_DECK), DORY_OK);
    for (unsigned i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        EXPECT_EQUAL(read(expected[i].number), expected[i].value);
        EXPECT_EQUAL(read((uint16_t)(expected[i].number ^ 0x8000)), FILL);
    }
    test_orientation();
    test_exposure();
    EXPECT_EQUAL(gap8_camera_close(), DORY_OK);
    EXPECT_EQUAL(read(0x0100), 0); /* standby */
    return expect_result("GAP8: camera registers");
}
