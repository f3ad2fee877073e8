/* Floors that stand for stages of other roundings, against these, for every sum of a pool and every pair of an addition. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/support.h"
#include "describe/addition_terms.h"
#include "describe/requantise_scalar.h"
#include "dory/normalise.h"
#include "expect.h"
#include "network/stage.h"

static uint64_t state = 7;

static int64_t random_number(int64_t least, int64_t most)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (int64_t)((state >> 16) % (uint64_t)(most - least + 1));
}

static double random_scale(double least, double most)
{
    return least + (most - least) * (double)random_number(0, 1 << 20) / (1 << 20);
}

struct numbers {
    int64_t multiplier, addend;
    int exponent;
};

/* A factor as TensorFlow Lite has it, or as a float32's significand. */
static struct stage stage_of(struct numbers *numbers, enum rounding rounding, double factor, int64_t addend)
{
    int exponent, bits = rounding == ROUND_TWICE ? 31 : 24;
    int64_t multiplier = llround(ldexp(frexp(factor, &exponent), bits));
    if (multiplier == INT64_C(1) << bits) {
        multiplier /= 2;
        exponent++;
    }
    *numbers = (struct numbers){multiplier, addend, rounding == ROUND_TWICE ? exponent : exponent - bits};
    return (struct stage){.count = 1,
                          .rounding = rounding,
                          .multiplier = &numbers->multiplier,
                          .addend = &numbers->addend,
                          .exponent = &numbers->exponent,
                          .divisor = 1};
}

static void set_clip(struct stage *stage, int64_t zero_point)
{
    stage->zero_point = zero_point;
    stage->has_clip = true;
    stage->maximum = 255;
}

/* ---- one stage ---- */

static int found_floors[4];

static void expect_floor(const struct stage *stage, int64_t most, bool must, const char *what)
{
    struct arena arena = {0};
    const struct stage *found = requantise_as_floor(stage, 0, most, &arena);
    EXPECT(found || !must, "%s: no floor", what);
    found_floors[stage->rounding] += found != NULL;
    for (int64_t x = 0; found && x <= most; x++)
        if (stage_apply(found, 0, x) != stage_apply(stage, 0, x)) {
            EXPECT(false, "%s: at %" PRId64, what, x);
            break;
        }
    arena_free(&arena);
}

/* TensorFlow Lite Micro's average: whole numbers, halves away from zero, of elements that dory holds without a sign. */
static void test_averages(void)
{
    for (int area = 1; area <= 64; area++) {
        struct numbers numbers = {1, -128 * area, 0};
        struct stage stage = {.count = 1,
                              .rounding = ROUND_HALF_AWAY,
                              .multiplier = &numbers.multiplier,
                              .addend = &numbers.addend,
                              .divisor = area};
        set_clip(&stage, 128);
        expect_floor(&stage, 255 * area, true, "average");
    }
}

static void test_scales(void)
{
    for (int i = 0; i < 100; i++) {
        struct numbers numbers;
        int64_t area = random_number(4, 100), zero = random_number(0, 255);
        struct stage stage = stage_of(&numbers, ROUND_HALF_EVEN, random_scale(0.3, 1.5) / (double)area, -zero * area);
        set_clip(&stage, random_number(0, 255));
        expect_floor(&stage, 255 * area, true, "mean");
        stage = stage_of(&numbers, ROUND_TWICE, random_scale(0.5, 0.99), 0); /* of sums without a sign */
        set_clip(&stage, 0);
        expect_floor(&stage, 255, true, "rounded twice");
    }
}

/* A quarter has halves, which no floor sends to even numbers; nor does one round twice and be symmetrical. */
static void test_halves(void)
{
    struct numbers numbers;
    struct arena arena = {0};
    struct stage stage = stage_of(&numbers, ROUND_HALF_EVEN, 0.25, 0);
    set_clip(&stage, 0);
    EXPECT(!requantise_as_floor(&stage, 0, 1020, &arena), "halves to even are no floor");
    stage.rounding = ROUND_HALF_AWAY;
    EXPECT(requantise_as_floor(&stage, 0, 1020, &arena), "halves up are");
    arena_free(&arena);
}

/* ---- additions ---- */

static int found_sums[2], made_sums[2], narrow_sums;

/* As the firmware has terms: in 32 bits, saturated. */
static int64_t term_of(const struct stage *stage, int64_t x)
{
    const struct dory_stage term = {stage->multiplier[0], stage->addend[0], stage->divisor, INT32_MIN, INT32_MAX};
    return dory_stage_apply(&term, x);
}

static bool is_equal(const struct requantise_sum *model, const struct requantise_sum *found)
{
    for (int64_t a = model->first[0]; a <= model->last[0]; a++)
        for (int64_t b = model->first[1]; b <= model->last[1]; b++) {
            int64_t x = (int64_t)(stage_apply(&model->terms[0], 0, a) + stage_apply(&model->terms[1], 0, b));
            int64_t y = term_of(&found->terms[0], a) + term_of(&found->terms[1], b);
            if (stage_apply(&model->sum, 0, x) != stage_apply(&found->sum, 0, y))
                return false;
        }
    return true;
}

static bool is_narrow(const struct requantise_sum *found)
{
    int64_t most = 0;
    for (int i = 0; i < 2; i++)
        most += llabs(found->terms[i].multiplier[0]) * 255 + llabs(found->terms[i].addend[0]);
    return found->sum.multiplier[0] == 1 && most <= 3 * (int64_t)INT32_MAX && found->terms[0].divisor == 1;
}

static void expect_sum(const struct requantise_sum *model, bool is_twice)
{
    struct arena arena = {0};
    struct requantise_sum found = *model;
    made_sums[is_twice]++;
    if (requantise_sum(&found, &arena)) {
        bool all_floors = found.sum.rounding == ROUND_FLOOR && found.terms[0].rounding == ROUND_FLOOR &&
                          found.terms[1].rounding == ROUND_FLOOR;
        EXPECT(all_floors && is_equal(model, &found), "an addition is not the model's");
        found_sums[is_twice]++;
        narrow_sums += is_narrow(&found);
    }
    arena_free(&arena);
}

/* By tables, which there are for every sum: few have no floors, but a network has many sums. */
static void expect_tables(const struct requantise_sum *model)
{
    struct arena arena = {0};
    struct layer layer = layer_plain("sum", LAYER_ADDITION, 0);
    struct dory_layer record = {.maximum = UINT8_MAX};
    struct dory_stages stages;
    layer.input_stages[0] = model->terms[0];
    layer.input_stages[1] = model->terms[1];
    layer.stages[0] = model->sum;
    layer.stage_count = 1;
    bool found = addition_terms(&layer, &record, &stages, &arena);
    EXPECT(found, "an addition without tables");
    for (int pair = 0; found && pair < 256 * 256; pair++) {
        int a = pair / 256, b = pair % 256;
        int64_t x = (int64_t)(stage_apply(&model->terms[0], 0, a) + stage_apply(&model->terms[1], 0, b));
        int32_t y = dory_normalise_high_stages(&record, record.constants.terms[a] + record.constants.terms[256 + b]);
        found = y == stage_apply(&model->sum, 0, x);
        EXPECT(found, "tables are not the model's at %d, %d", a, b);
    }
    arena_free(&arena);
}

static struct requantise_sum all_pairs(void) { return (struct requantise_sum){.last = {255, 255}}; }

/* As TensorFlow Lite Micro has it: both terms in units of a 2^20th of twice the larger scale. */
static struct requantise_sum addition_rounded_twice(struct numbers numbers[3], double output_scale, int64_t zero_point)
{
    struct requantise_sum sum = all_pairs();
    double scales[2] = {random_scale(0.01, 0.1), random_scale(0.01, 0.1)}, unit = 2 * fmax(scales[0], scales[1]);
    for (int i = 0; i < 2; i++) {
        sum.terms[i] = stage_of(&numbers[i], ROUND_TWICE, scales[i] / unit, -random_number(0, 255));
        sum.terms[i].left_shift = 20;
    }
    double scale = output_scale > 0 ? output_scale : unit * random_scale(3, 7.9);
    sum.sum = stage_of(&numbers[2], ROUND_TWICE, unit / ((1 << 20) * scale), 0);
    set_clip(&sum.sum, zero_point);
    return sum;
}

static void test_addition_rounded_twice(void)
{
    struct numbers numbers[3];
    struct requantise_sum sum = addition_rounded_twice(numbers, random_scale(0.05, 0.15), random_number(0, 255));
    expect_sum(&sum, true);
    expect_tables(&sum);
}

/* Of small operands in a coarse output, whose zero point is large beside them: NASNet has such. */
static void test_coarse_addition(void)
{
    struct numbers numbers[3];
    struct requantise_sum sum = addition_rounded_twice(numbers, 0, random_number(128, 200));
    expect_tables(&sum);
}

/* As ONNX has it: exact products, rounded once. */
static void test_addition_rounded_once(void)
{
    struct numbers numbers[3];
    struct requantise_sum sum = all_pairs();
    for (int i = 0; i < 2; i++) {
        int64_t multiplier = random_number(1 << 23, (1 << 24) - 1), zero = random_number(0, 255);
        numbers[i] = (struct numbers){multiplier, -multiplier * zero, 0};
        sum.terms[i] =
            (struct stage){.count = 1, .multiplier = &numbers[i].multiplier, .addend = &numbers[i].addend, .divisor = 1};
    }
    numbers[2] = (struct numbers){1, 0, 0};
    sum.sum = (struct stage){.count = 1,
                             .rounding = ROUND_HALF_EVEN,
                             .multiplier = &numbers[2].multiplier,
                             .addend = &numbers[2].addend,
                             .divisor = random_number(1 << 24, 1 << 25)};
    set_clip(&sum.sum, random_number(0, 255));
    expect_sum(&sum, false);
}

/* Products that leave 32 bits, and 64 with a few places, have no plane: nothing overflows on the way there. */
static void test_steep_addition(void)
{
    struct arena arena = {0};
    int64_t multiplier = -((int64_t)1 << 46), one = 1, zero = 0;
    struct requantise_sum sum = all_pairs();
    for (int i = 0; i < 2; i++)
        sum.terms[i] = (struct stage){.count = 1, .multiplier = &multiplier, .addend = &zero, .divisor = 1};
    sum.sum = (struct stage){.count = 1, .multiplier = &multiplier, .addend = &one, .divisor = 1};
    set_clip(&sum.sum, 0);
    EXPECT(!requantise_sum(&sum, &arena), "a plane of products that firmware cannot have");
    arena_free(&arena);
}

int main(void)
{
    test_averages();
    test_scales();
    test_halves();
    test_steep_addition();
    for (int i = 0; i < 15; i++) {
        test_addition_rounded_twice();
        test_coarse_addition();
        test_addition_rounded_once();
    }
    printf("floors: of %d stages rounded twice, %d to even, %d away from zero\n", found_floors[ROUND_TWICE],
           found_floors[ROUND_HALF_EVEN], found_floors[ROUND_HALF_AWAY]);
    printf("additions: %d of %d rounded twice, %d of %d rounded once; %d in 32 bits\n", found_sums[1], made_sums[1],
           found_sums[0], made_sums[0], narrow_sums);
    EXPECT(found_sums[1] == made_sums[1] && found_sums[0] == made_sums[0], "an addition without a form");
    EXPECT(narrow_sums > 20, "%d additions in 32 bits", narrow_sums);
    EXPECT(found_floors[ROUND_TWICE] > 90, "%d means that are rounded twice", found_floors[ROUND_TWICE]);
    return expect_result("requantise_scalar");
}
