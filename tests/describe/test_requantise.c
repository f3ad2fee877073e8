/* Forms of requantisation against the meaning of the stage, for every accumulator, one by one: random stages of every
 * rounding, by the very function that the portable kernels use. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/support.h"
#include "describe/requantise.h"
#include "dory/engine.h"
#include "dory/normalise.h"
#include "expect.h"
#include "network/stage.h"
#include "share.h"

static uint64_t state = 1;

static int64_t random_number(int64_t least, int64_t most)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (int64_t)((state >> 16) % (uint64_t)(most - least + 1));
}

#define CHANNELS 3
#define STAGES   ((int)share_of(400)) /* of each rounding */
#define FAST     ((int)share_of(300))

struct subject {
    struct stage stage;
    int64_t multipliers[CHANNELS], addends[CHANNELS];
    int exponents[CHANNELS];
    struct sum_range ranges[CHANNELS];
    bool negatable[CHANNELS];
    struct requantise_problem problem;
    struct dory_layer layer; /* for an engine that likes these forms: */
    bool likes_split, likes_split_away, likes_shared;
    struct requantise_engine engine;
};

/* An engine that computes all forms, those fastest that it likes. */
static uint64_t liked_cycles(const void *context, const struct dory_layer *layer)
{
    const struct subject *s = context;
    bool is_away = layer->rounding == DORY_ROUND_AWAY;
    bool is_liked = layer->normalisation == DORY_NORMALISE_SPLIT && (is_away ? s->likes_split_away : s->likes_split);
    return is_liked ? 1 : 2;
}

/* Accumulators of some 8 to 17 bits, the outputs' bounds inside or outside of what they reach. */
static void make_ranges(struct subject *s)
{
    for (int i = 0; i < CHANNELS; i++) {
        int64_t most = INT64_C(1) << random_number(8, 16);
        s->ranges[i] = (struct sum_range){-random_number(0, most), random_number(0, most)};
        s->negatable[i] = random_number(0, 3) != 0;
    }
}

static void make_clip(struct subject *s)
{
    static const int64_t maxima[] = {255, 255, 255, 15, 127, 3, 1};
    s->stage.has_clip = true;
    s->stage.minimum = random_number(0, 7) == 0 ? -128 : 0;
    s->stage.maximum = s->stage.minimum ? 127 : maxima[random_number(0, 6)];
    s->problem = (struct requantise_problem){.stage = &s->stage,
                                             .ranges = s->ranges,
                                             .channel_count = CHANNELS,
                                             .minimum = (int32_t)s->stage.minimum,
                                             .maximum = (int32_t)s->stage.maximum,
                                             .negatable = s->negatable};
    s->likes_split = random_number(0, 1);
    s->likes_split_away = random_number(0, 1);
    s->likes_shared = random_number(0, 1);
    s->layer = (struct dory_layer){.output_bits = 8, .output_height = s->likes_shared ? 1 : 2, .output_width = 1};
    s->engine = (struct requantise_engine){.layer = &s->layer, .cycles = liked_cycles, .context = s};
}

static int64_t reach(const struct subject *s, int channel)
{
    return s->ranges[channel].maximum - s->ranges[channel].minimum + 1;
}

/* floor((m * x + a) / D): powers of two, one less, anything; m of either sign. */
static void make_floor(struct subject *s)
{
    int64_t power = INT64_C(1) << random_number(8, 31), divisors[3] = {power, power - 1, random_number(200, power)};
    s->stage.divisor = divisors[random_number(0, 2)];
    for (int i = 0; i < CHANNELS; i++) {
        s->multipliers[i] = random_number(0, 600 * (s->stage.divisor / reach(s, i) + 1)) * (random_number(0, 5) ? 1 : -1);
        s->addends[i] = random_number(-50, 50) * s->stage.divisor + random_number(0, s->stage.divisor);
    }
}

static int widest(const struct subject *s)
{
    int best = 0;
    for (int i = 1; i < CHANNELS; i++)
        best = reach(s, i) > reach(s, best) ? i : best;
    return best;
}

static void make_scales(struct subject *s)
{
    bool plain = random_number(0, 1), is_twice = s->stage.rounding == ROUND_TWICE;
    s->stage.exponent = s->exponents;
    s->stage.zero_point = random_number(0, 2) ? random_number(0, 255) : 0;
    s->stage.divisor = is_twice ? 1 : plain ? random_number(1, 50) : random_number(1 << 23, (1 << 24) - 1);
    for (int i = 0; i < CHANNELS; i++) {
        int sum_bits = 64 - __builtin_clzll((uint64_t)reach(s, i));
        int64_t bits = (int)random_number(5, 9);
        s->multipliers[i] = is_twice ? random_number(1 << 30, INT32_MAX) : plain ? 1 : random_number(1 << 23, (1 << 24) - 1);
        s->exponents[i] = (int)(plain && !is_twice ? random_number(-3, 0) : bits - sum_bits);
        s->addends[i] = random_number(-(1 << 12), 1 << 12);
    }
    for (int i = 0; i < CHANNELS && s->likes_shared; i++) { /* of the channel whose sums are largest */
        s->multipliers[i] = s->multipliers[widest(s)];
        s->exponents[i] = s->exponents[widest(s)];
    }
}

static struct numbers_of_step {
    int64_t bias;
    int exponent;
} step_of(const struct subject *s, int channel)
{
    int64_t middle = s->ranges[channel].minimum + reach(s, channel) / 2;
    int exponent = (int)-random_number(18, 25);
    long double halves = (long double)random_number(-100, 100) + 0.5L; /* at the middle */
    long double factor = (long double)s->multipliers[channel] / 0x1p31L;
    return (struct numbers_of_step){llroundl(halves / factor * (long double)(INT64_C(1) << -exponent)) - middle, exponent};
}

/* TensorFlow's converter has bounds for scales and biases: of a channel that is nearly dead the bias decides, but for one
 * step.
 */
static void make_step(struct subject *s)
{
    int channel = (int)random_number(0, CHANNELS - 1);
    struct numbers_of_step numbers = step_of(s, channel);
    if (numbers.bias < -(INT64_C(1) << 30) || numbers.bias > INT64_C(1) << 30)
        return;
    s->addends[channel] = numbers.bias;
    s->exponents[channel] = numbers.exponent;
}

static void make_subject(struct subject *s, enum rounding rounding)
{
    memset(s, 0, sizeof *s);
    s->stage = (struct stage){
        .count = CHANNELS, .rounding = rounding, .multiplier = s->multipliers, .addend = s->addends, .divisor = 1};
    make_ranges(s);
    make_clip(s);
    if (rounding == ROUND_FLOOR)
        make_floor(s);
    else
        make_scales(s);
    if (rounding == ROUND_TWICE && !s->likes_shared && random_number(0, 3) == 0)
        make_step(s);
}

/* As describe and a format of weights do it. */
static void as_the_firmware_has_it(const struct requantisation *form, int channel, struct dory_layer *layer,
                                   uint8_t constants[28])
{
    memset(layer, 0, sizeof *layer);
    requantisation_describe(form, layer);
    layer->minimum = form->minimum;
    layer->maximum = form->maximum;
    EXPECT(dory_write_constants(layer, &form->channels[channel], constants), "constants that exceed their form");
}

/* The channel's weights, and with them its accumulators, may have the other sign. */
static int32_t accumulator_of(const struct requantisation *form, int channel, int64_t x)
{
    return (int32_t)(form->channels[channel].is_negated ? -x : x);
}

static bool is_right(const struct subject *s, const struct requantisation *form, int channel, int64_t *at)
{
    struct dory_layer layer;
    uint8_t constants[28];
    as_the_firmware_has_it(form, channel, &layer, constants);
    for (int64_t x = s->ranges[channel].minimum; x <= s->ranges[channel].maximum; x++) {
        int64_t value = 0;
        *at = x;
        if (!requantised_value(form, channel, x, &value) || value != stage_apply(&s->stage, channel, x) ||
            dory_normalise(&layer, constants, 0, accumulator_of(form, channel, x)) != value)
            return false;
    }
    return true;
}

/* ---- what was chosen, and what a unit more in a multiplier changes ---- */

static int chosen[DORY_NORMALISE_SHARED + 1], chosen_roundings[3], chosen_splits[3], chosen_shared[3],
    failed_proofs[DORY_NORMALISE_SHARED + 1], negated;

static int64_t *multiplier_of(struct requantisation *form, int channel)
{
    struct dory_channel_constants *constants = &form->channels[channel];
    switch (form->normalisation) {
    case DORY_NORMALISE_NONE: return NULL;
    case DORY_NORMALISE_CLAMPED: return &constants->clamped.multiplier;
    case DORY_NORMALISE_SPLIT: return &constants->split.high;
    case DORY_NORMALISE_HIGH:
    case DORY_NORMALISE_SHARED: return &constants->high.multiplier;
    default: return &constants->product.multiplier;
    }
}

static void expect_proof_of_mutant(struct subject *s, struct requantisation *form, int channel)
{
    struct arena arena = {0};
    struct step_function function = {.capacity = 1000};
    int64_t *multiplier = multiplier_of(form, channel);
    int64_t place;
    function.points = arena_array(&arena, struct step_point, 1000);
    EXPECT(step_function_of_stage(&s->stage, channel, s->ranges[channel].minimum, s->ranges[channel].maximum, &function),
           "steps");
    EXPECT(requantised_is(form, channel, &function), "what was chosen is proven");
    for (int unit = -1; unit <= 1 && multiplier; unit += 2) {
        *multiplier += unit;
        bool proven = requantised_is(form, channel, &function);
        EXPECT(proven == is_right(s, form, channel, &place), "form %d: the proof says %d", (int)form->normalisation, proven);
        failed_proofs[form->normalisation] += !proven;
        *multiplier -= unit;
    }
    arena_free(&arena);
}

static void test_rounding(enum rounding rounding, int count)
{
    for (int i = 0; i < count; i++) {
        struct arena arena = {0};
        struct subject subject;
        struct requantisation form;
        int64_t at = 0;
        make_subject(&subject, rounding);
        bool found = requantise(&subject.problem, &subject.engine, &form, &arena);
        EXPECT(found, "rounding %d, case %d: no form", rounding, i);
        for (int channel = 0; channel < CHANNELS && found; channel++) {
            EXPECT(is_right(&subject, &form, channel, &at), "rounding %d, case %d, channel %d: %s, at %" PRId64, rounding, i,
                   channel, requantisation_text(&form, &arena), at);
            EXPECT(!form.channels[channel].is_negated || subject.negatable[channel], "weights that have no other sign");
            negated += form.channels[channel].is_negated;
            if (i % 8 == 0)
                expect_proof_of_mutant(&subject, &form, channel);
        }
        if (found) {
            chosen[form.normalisation]++;
            chosen_splits[form.rounding] += form.normalisation == DORY_NORMALISE_SPLIT;
            chosen_shared[form.rounding] += form.normalisation == DORY_NORMALISE_SHARED;
            chosen_roundings[form.rounding] += form.normalisation == DORY_NORMALISE_HIGH;
        }
        arena_free(&arena);
    }
}

/* ---- fast ---- */

static int64_t count_wrong(const struct subject *s, const struct requantisation *form, int64_t *most)
{
    int64_t count = 0;
    *most = 0;
    for (int channel = 0; channel < CHANNELS; channel++)
        for (int64_t x = s->ranges[channel].minimum; x <= s->ranges[channel].maximum; x++) {
            struct dory_layer layer;
            uint8_t constants[28];
            as_the_firmware_has_it(form, channel, &layer, constants);
            int64_t apart = dory_normalise(&layer, constants, 0, accumulator_of(form, channel, x)) -
                            (int64_t)stage_apply(&s->stage, channel, x);
            apart = apart < 0 ? -apart : apart;
            count += apart != 0;
            *most = apart > *most ? apart : *most;
        }
    return count;
}

/* Whatever is taken, what it says of itself is so. */
static void test_fast(void)
{
    int fast = 0, wrong = 0;
    for (int i = 0; i < FAST; i++) {
        struct arena arena = {0};
        struct subject subject;
        struct requantisation form;
        int64_t most;
        make_subject(&subject, (enum rounding)(i % 4));
        subject.problem.allow_fast = true;
        EXPECT(requantise(&subject.problem, &subject.engine, &form, &arena), "case %d: no form", i);
        EXPECT(count_wrong(&subject, &form, &most) == form.wrong_accumulators && most == form.most_wrong,
               "case %d: %" PRId64 " wrong by %" PRId64, i, form.wrong_accumulators, form.most_wrong);
        fast += form.verdict == REQUANTISED_FAST;
        wrong += form.wrong_accumulators > 0;
        arena_free(&arena);
    }
    printf("fast: %d of %d, of which %d differ\n", fast, FAST, wrong);
    EXPECT(fast > FAST / 30 && wrong > FAST / 30 && wrong <= fast, "fast %d, wrong %d", fast, wrong);
}

/* ---- comparison of step functions ---- */

static void test_comparison(void)
{
    for (int i = 0; i < 200; i++) {
        struct arena arena = {0};
        struct subject a, b;
        struct step_function steps[2] = {{.capacity = 1000}, {.capacity = 1000}};
        make_subject(&a, (enum rounding)random_number(0, 3));
        make_subject(&b, (enum rounding)random_number(0, 3));
        steps[0].points = arena_array(&arena, struct step_point, 1000);
        steps[1].points = arena_array(&arena, struct step_point, 1000);
        EXPECT(step_function_of_stage(&a.stage, 0, a.ranges[0].minimum, a.ranges[0].maximum, &steps[0]) &&
                   step_function_of_stage(&b.stage, 0, a.ranges[0].minimum, a.ranges[0].maximum, &steps[1]),
               "steps");
        struct step_difference found = step_function_compare(&steps[0], &steps[1]), expected = {0, 0};
        for (int64_t x = a.ranges[0].minimum; x <= a.ranges[0].maximum; x++) {
            int64_t apart = (int64_t)(stage_apply(&a.stage, 0, x) - stage_apply(&b.stage, 0, x));
            apart = apart < 0 ? -apart : apart;
            expected.count += apart != 0;
            expected.most = apart > expected.most ? apart : expected.most;
        }
        EXPECT(found.count == expected.count && found.most == expected.most,
               "%" PRId64 " by %" PRId64 ", not %" PRId64 " by %" PRId64, found.count, found.most, expected.count,
               expected.most);
        arena_free(&arena);
    }
}

/* Of all cases, which the optimised build runs, each way has some. */
static void expect_every_way(void)
{
    EXPECT(negated > 0, "weights never have the other sign");
    EXPECT(chosen_shared[DORY_ROUND_AWAY] && chosen_shared[DORY_ROUND_EVEN], "one scale for all channels never shared");
    EXPECT(chosen[DORY_NORMALISE_32] && chosen[DORY_NORMALISE_CLAMPED] && chosen[DORY_NORMALISE_HIGH] && chosen_splits[0] &&
               chosen_splits[1],
           "a form never chosen");
    EXPECT(chosen_roundings[0] && chosen_roundings[1] && chosen_roundings[2], "a rounding never chosen");
    EXPECT(failed_proofs[DORY_NORMALISE_32] && failed_proofs[DORY_NORMALISE_CLAMPED] &&
               failed_proofs[DORY_NORMALISE_SPLIT] && failed_proofs[DORY_NORMALISE_HIGH] &&
               failed_proofs[DORY_NORMALISE_SHARED],
           "a unit in the multiplier makes no proof fail");
}

int main(void)
{
    test_rounding(ROUND_FLOOR, STAGES);
    test_rounding(ROUND_TWICE, STAGES);
    test_rounding(ROUND_HALF_EVEN, STAGES);
    test_rounding(ROUND_HALF_AWAY, STAGES);
    test_comparison();
    test_fast();
    for (int form = DORY_NORMALISE_32; form <= DORY_NORMALISE_SHARED; form++)
        printf("form %d: chosen %d times, %d mutants not proven\n", form, chosen[form], failed_proofs[form]);
    printf("high: floor %d, away %d, even %d\n", chosen_roundings[0], chosen_roundings[1], chosen_roundings[2]);
    printf("split: floor %d, away %d; %d channels with the other sign\n", chosen_splits[0], chosen_splits[1], negated);
    printf("shared: away %d, even %d\n", chosen_shared[DORY_ROUND_AWAY], chosen_shared[DORY_ROUND_EVEN]);
    if (share_is_all())
        expect_every_way();
    return expect_result("requantise");
}
