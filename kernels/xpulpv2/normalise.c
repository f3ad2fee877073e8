/* Requantisation of sums in memory: every form, with up to 64 bits and divisions, for some sums of one channel at a time.
 * The forms that are computed between registers are in product_block.h, finish.h and narrow.h. */
#include "normalise.h"

static inline int32_t clip(int32_t value, int32_t minimum, int32_t maximum) { return p_min(p_max(value, minimum), maximum); }

/* floor(scaled / 2^shift), of which bits 32 and up only say on which side of all bounds it is. */
static inline int32_t shift_and_clip(const struct dory_normaliser *normaliser, int64_t scaled)
{
    int64_t value = scaled >> normaliser->shift;
    if ((int32_t)value != value) {
        return value < 0 ? normaliser->minimum : normaliser->maximum;
    }
    return clip((int32_t)value, normaliser->minimum, normaliser->maximum);
}

static inline int64_t load_64(const uint8_t *address)
{
    return (int64_t)((uint64_t)dory_load_word(address + 4) << 32 | dory_load_word(address));
}

/* Bounds and a shift by 2 to 31 with which a value that does not fit 32 bits may be any one beyond the bounds. */
static bool bounds_are_narrow(const struct dory_normaliser *normaliser)
{
    return normaliser->minimum >= -(1 << 30) && normaliser->maximum <= 1 << 30;
}

/* scaled >> shift, or beyond narrow bounds. In words, for the compiler's 64-bit shift takes any amount. */
static inline int32_t shift_narrowly(int64_t scaled, int32_t shift)
{
    int32_t most = (1 << (shift - 1)) - 1, high = clip((int32_t)(scaled >> 32), -most - 1, most);
    return (int32_t)((uint32_t)scaled >> shift | (uint32_t)high << (32 - shift));
}

/* DORY_NORMALISE_64 with a multiplier of 15 bits, by halves of the sum, for a shift of 16 at least (a smaller one is made
 * 16): floor((factor * sum + 65536 * high + low) / 65536) = factor * high half + high + (factor * low half + low) >> 16, 8
 * instructions and cycles an element with its load and store, where a 64-bit product takes 15 and 19. */
struct halves {
    uint32_t low, factors; /* the same in both halves */
    int32_t high, shift;   /* behind the 16 bits */
};

/* DORY_NORMALISE_DIVIDE by a quotient from the sum itself, one too large, with three places behind the point:
 *     q = (high 32 bits of sum * factor + offset) >> 3, factor about 2^35 * multiplier / divisor,
 * which is off by one at most; then the rest of the division, modulo 2^32, says what it is. 13 instructions, 17 cycles,
 * where the 64-bit dividend takes some 50 (see divide_narrowly). */
#define QUOTIENT_PLACES 3
struct quotient {
    int32_t factor, multiplier;
    uint32_t addend;
    int32_t offset, divisor;
};

#if defined(DORY_XPULPV2)

/* What becomes of t0 in so many instructions, for `count` sums so many bytes apart; t1 and t2 are free. */
#define EACH_SUM(instructions, text, ...)                                                                                   \
    __asm__ volatile(".option push\n"                                                                                       \
                     ".balign 4\n"                                                                                          \
                     ".option norvc\n" LP_SETUP("x0", "%[count]", 2 + instructions,                                         \
                                                "1") "lw t0, 0(%[sum])\n" text                                              \
                                                     "1: " P_SW_STEP("t0", "%[step]", "%[sum]") ".option pop\n"             \
                     : [sum] "+r"(sum)                                                                                      \
                     : [count] "r"(count), [step] "r"(4 * stride), [minimum] "r"(normaliser->minimum),                      \
                       [maximum] "r"(normaliser->maximum), __VA_ARGS__                                                      \
                     : "t0", "t1", "t2", "memory")

/* A multiplier of 32 bits, as layers have that overflow 32 bits only in the product; mulh takes 5 cycles. */
static void normalise_64_narrowly(const struct dory_normaliser *normaliser, int32_t multiplier, int64_t addend, int32_t *sum,
                                  uint32_t stride, uint32_t count)
{
    int32_t shift = normaliser->shift, most = (1 << (shift - 1)) - 1;
    EACH_SUM(13,
             "mulh t2, t0, %[multiplier]\n"
             "mul t1, t0, %[multiplier]\n"
             "add t1, t1, %[low]\n"
             "sltu t0, t1, %[low]\n"
             "add t2, t2, %[high]\n"
             "add t2, t2, t0\n"
             "srl t1, t1, %[shift]\n" P_MAX("t2", "t2", "%[least]")
                 P_MIN("t2", "t2", "%[most]") "sll t2, t2, %[left]\n"
                                              "or t0, t1, t2\n" P_MAX("t0", "t0", "%[minimum]")
                                                  P_MIN("t0", "t0", "%[maximum]"),
             [multiplier] "r"(multiplier), [low] "r"((uint32_t)addend), [high] "r"((int32_t)(addend >> 32)),
             [shift] "r"(shift), [left] "r"(32 - shift), [least] "r"(-most - 1), [most] "r"(most));
}

static void normalise_by_halves(const struct dory_normaliser *normaliser, const struct halves *halves, int32_t *sum,
                                uint32_t stride, uint32_t count)
{
    EACH_SUM(6,
             "mv t1, %[low]\n" P_MACU_16("t1", "t0", "%[factors]") P_MACHHS("t1", "t0", "%[factors]")
                 P_ADDNR("t1", "%[high]", "%[shift]") P_MAX("t1", "t1", "%[minimum]") P_MIN("t0", "t1", "%[maximum]"),
             [factors] "r"(halves->factors), [low] "r"(halves->low), [high] "r"(halves->high), [shift] "r"(halves->shift));
}

static void normalise_by_quotient(const struct dory_normaliser *normaliser, const struct quotient *quick, int32_t *sum,
                                  uint32_t stride, uint32_t count)
{
    EACH_SUM(11,
             "mulh t1, t0, %[factor]\n"
             "mul t2, t0, %[multiplier]\n" P_ADDNR("t1", "%[offset]", "%[places]") "add t2, t2, %[addend]\n" P_MSU(
                 "t2", "t1", "%[divisor]") "slt t0, t2, %[least]\n"
                                           "srai t2, t2, 31\n"
                                           "sub t1, t1, t0\n"
                                           "add t1, t1, t2\n" P_MAX("t1", "t1", "%[minimum]")
                                               P_MIN("t0", "t1", "%[maximum]"),
             [factor] "r"(quick->factor), [multiplier] "r"(quick->multiplier), [offset] "r"(quick->offset),
             [places] "r"(QUOTIENT_PLACES), [addend] "r"(quick->addend), [divisor] "r"(quick->divisor),
             [least] "r"(-quick->divisor));
}

static void normalise_clamped(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum,
                              uint32_t stride, uint32_t count)
{
    int32_t low = (int32_t)dory_load_word(constants), high = (int32_t)dory_load_word(constants + 4);
    uint32_t multiplier = dory_load_word(constants + 8), addend = dory_load_word(constants + 12);
    if (normaliser->reciprocal == 0) {
        EACH_SUM(4,
                 P_MAX("t0", "t0", "%[low]")
                     P_MIN("t0", "t0", "%[high]") "mul t0, t0, %[multiplier]\n" P_ADDUNR("t0", "%[addend]", "%[shift]"),
                 [low] "r"(low), [high] "r"(high), [multiplier] "r"(multiplier), [addend] "r"(addend),
                 [shift] "r"(normaliser->shift));
        return;
    }
    EACH_SUM(6,
             P_MAX("t0", "t0", "%[low]") P_MIN("t0", "t0", "%[high]") "mul t0, t0, %[multiplier]\n"
                                                                      "add t0, t0, %[addend]\n"
                                                                      "mulhu t0, t0, %[reciprocal]\n"
                                                                      "srl t0, t0, %[shift]\n",
             [low] "r"(low), [high] "r"(high), [multiplier] "r"(multiplier), [addend] "r"(addend),
             [shift] "r"(normaliser->shift), [reciprocal] "r"(normaliser->reciprocal));
}

/* Any rounding: 14 instructions, 18 cycles with load and store. */
static __attribute__((noinline)) void normalise_high(const struct dory_normaliser *normaliser, const uint8_t *constants,
                                                     int32_t *sum, uint32_t stride, uint32_t count)
{
    EACH_SUM(12,
             "add t0, t0, %[bias]\n"
             "srai t2, t0, 31\n"
             "sll t0, t0, %[left]\n"
             "mulh t0, t0, %[multiplier]\n"
             "and t2, t2, %[away]\n"
             "sra t1, t0, %[shift]\n"
             "and t1, t1, %[even]\n"
             "sub t1, t1, t2\n"
             "add t0, t0, t1\n" P_ADDNR("t0", "%[addend]", "%[shift]") P_MAX("t0", "t0", "%[minimum]")
                 P_MIN("t0", "t0", "%[maximum]"),
             [bias] "r"(dory_load_word(constants)), [multiplier] "r"(dory_load_word(constants + 4)),
             [addend] "r"(dory_load_word(constants + 8)), [shift] "r"(dory_load_word(constants + 12)),
             [left] "r"(normaliser->direct_shift), [away] "r"(normaliser->away), [even] "r"((uint32_t)normaliser->even));
}

static void normalise_32(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum, uint32_t stride,
                         uint32_t count)
{
    EACH_SUM(4,
             "mul t0, t0, %[multiplier]\n" P_ADDNR("t0", "%[addend]", "%[shift]") P_MAX("t0", "t0", "%[minimum]")
                 P_MIN("t0", "t0", "%[maximum]"),
             [multiplier] "r"(dory_load_word(constants)), [addend] "r"(dory_load_word(constants + 4)),
             [shift] "r"(normaliser->shift));
}

#else

static void normalise_64_narrowly(const struct dory_normaliser *normaliser, int32_t multiplier, int64_t addend, int32_t *sum,
                                  uint32_t stride, uint32_t count)
{
    for (; count > 0; count--, sum += stride) {
        int32_t value = shift_narrowly((int64_t)multiplier * *sum + addend, normaliser->shift);
        *sum = clip(value, normaliser->minimum, normaliser->maximum);
    }
}

static void normalise_by_halves(const struct dory_normaliser *normaliser, const struct halves *halves, int32_t *sum,
                                uint32_t stride, uint32_t count)
{
    uint32_t factor = halves->factors & 0xFFFF;
    for (; count > 0; count--, sum += stride) {
        uint32_t low = (halves->low + ((uint32_t)*sum & 0xFFFF) * factor) >> 16;
        int32_t value = p_addnr(p_mac((int32_t)low, *sum >> 16, (int32_t)factor), halves->high, halves->shift);
        *sum = clip(value, normaliser->minimum, normaliser->maximum);
    }
}

static void normalise_by_quotient(const struct dory_normaliser *normaliser, const struct quotient *quick, int32_t *sum,
                                  uint32_t stride, uint32_t count)
{
    for (; count > 0; count--, sum += stride) {
        int32_t quotient = p_addnr((int32_t)((int64_t)*sum * quick->factor >> 32), quick->offset, QUOTIENT_PLACES);
        uint32_t scaled = (uint32_t)*sum * (uint32_t)quick->multiplier + quick->addend;
        int32_t rest = (int32_t)(scaled - (uint32_t)quotient * (uint32_t)quick->divisor);
        quotient += (rest >> 31) - (rest < -quick->divisor);
        *sum = clip(quotient, normaliser->minimum, normaliser->maximum);
    }
}

static void normalise_clamped(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum,
                              uint32_t stride, uint32_t count)
{
    int32_t low = (int32_t)dory_load_word(constants), high = (int32_t)dory_load_word(constants + 4);
    uint32_t multiplier = dory_load_word(constants + 8), addend = dory_load_word(constants + 12);
    for (; count > 0; count--, sum += stride) {
        uint32_t value = (uint32_t)clip(*sum, low, high) * multiplier + addend;
        if (normaliser->reciprocal != 0) {
            value = (uint32_t)((uint64_t)value * normaliser->reciprocal >> 32);
        }
        *sum = (int32_t)(value >> normaliser->shift);
    }
}

static __attribute__((noinline)) void normalise_high(const struct dory_normaliser *normaliser, const uint8_t *constants,
                                                     int32_t *sum, uint32_t stride, uint32_t count)
{
    for (; count > 0; count--, sum += stride) {
        dory_normalise_highly(normaliser, sum, 1, 1, constants);
    }
}

static void normalise_32(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum, uint32_t stride,
                         uint32_t count)
{
    uint32_t multiplier = dory_load_word(constants);
    int32_t addend = (int32_t)dory_load_word(constants + 4);
    for (; count > 0; count--, sum += stride) {
        int32_t value = p_addnr((int32_t)((uint32_t)*sum * multiplier), addend, normaliser->shift);
        *sum = clip(value, normaliser->minimum, normaliser->maximum);
    }
}

#endif

/* No number exceeds its type: the multiplier has 15 bits, the product 46, and so has the addend. In words, for the
 * compiler's 64-bit shifts take any amount; a shift of less than 3 is left to the long way. */
static bool halves_of(const struct dory_normaliser *normaliser, const uint8_t *constants, struct halves *halves)
{
    uint32_t multiplier = dory_load_word(constants), low = dory_load_word(constants + 8);
    int32_t addend = (int32_t)dory_load_word(constants + 12), shift = normaliser->shift;
    int32_t more = shift < 16 ? 16 - shift : 0, beyond = 13 - more;
    if (beyond < 0 || shift > 47 || dory_load_word(constants + 4) != 0 || multiplier >> (15 - more) != 0 ||
        addend >> beyond != addend >> 31) {
        return false;
    }
    multiplier <<= more;
    halves->shift = shift < 16 ? 0 : shift - 16;
    halves->factors = multiplier | multiplier << 16;
    halves->low = low << more & 0xFFFF;
    halves->high = (int32_t)(low >> (16 - more) | (uint32_t)addend << (16 + more));
    return true;
}

/* Flat: a call to what others call, too, would be a tenth of a short series. */
static __attribute__((noinline, flatten)) void normalise_64(const struct dory_normaliser *normaliser,
                                                            const uint8_t *constants, int32_t *sum, uint32_t stride,
                                                            uint32_t count)
{
    struct halves halves;
    if (count > 4 && halves_of(normaliser, constants, &halves)) {
        normalise_by_halves(normaliser, &halves, sum, stride, count);
        return;
    }
    int64_t multiplier = load_64(constants), addend = load_64(constants + 8);
    if ((int32_t)multiplier == multiplier && normaliser->shift > 1 && normaliser->shift < 32 &&
        bounds_are_narrow(normaliser)) {
        normalise_64_narrowly(normaliser, (int32_t)multiplier, addend, sum, stride, count);
        return;
    }
    for (; count > 0; count--, sum += stride) {
        *sum = shift_and_clip(normaliser, multiplier * *sum + addend);
    }
}

static void normalise_split(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum,
                            uint32_t stride, const int32_t *end)
{
    uint32_t bias = dory_load_word(constants), low = dory_load_word(constants + 8), addend = dory_load_word(constants + 12);
    int32_t limit = (int32_t)dory_load_word(constants + 4), high = (int32_t)dory_load_word(constants + 16), zero = 0;
    uint32_t step = 0;
    if (normaliser->layer->rounding == DORY_ROUND_AWAY) {
        zero = (int32_t)dory_load_word(constants + 20);
        step = dory_load_word(constants + 24);
    }
    for (; sum < end; sum += stride) {
        int32_t x = p_clipur((int32_t)((uint32_t)*sum + bias), limit);
        uint32_t fine = p_addunr((uint32_t)x * low, addend, addend);
        uint32_t both = (uint32_t)p_mac((int32_t)fine, x, high) - (x < zero ? step : 0);
        *sum = (int32_t)(both >> 24);
    }
}

static void normalise_by_one_scale(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum,
                                   uint32_t stride, const int32_t *end)
{
    for (; sum < end; sum += stride) {
        *sum = dory_normalise_by_one_scale(normaliser, *sum, constants);
    }
}

/* ---- division ---- */

/* The reciprocal of a divisor up to 2^30 in 32 bits: (2^(32 + places) - 1) / divisor, 2^places being the greatest power of
 * two in it; and the shift that leaves less than 2^14 of it. */
static void prepare_division(struct dory_normaliser *normaliser, uint32_t divisor)
{
    int32_t places = 0;
    uint32_t reciprocal = UINT32_MAX / divisor, rest = UINT32_MAX - reciprocal * divisor;
    for (; divisor >> places > 1; places++) {
        rest = rest << 1 | 1;
        reciprocal = reciprocal << 1 | (rest >= divisor);
        rest -= rest >= divisor ? divisor : 0;
    }
    normaliser->shift = places < 14 ? 0 : places - 13;
    normaliser->direct_shift = places;
    normaliser->reciprocal = reciprocal;
}

void dory_prepare_normaliser(struct dory_normaliser *normaliser, const struct dory_layer *layer)
{
    if (layer->normalisation == DORY_NORMALISE_DIVIDE) {
        normaliser->direct_shift = 0; /* no division is quick */
        if (dory_divides_narrowly(layer)) {
            prepare_division(normaliser, (uint32_t)layer->divisor);
        }
        return;
    }
    normaliser->direct = (int8_t)dory_direct_of(layer);
    normaliser->direct_shift = layer->left_shift;
    normaliser->away = layer->rounding == DORY_ROUND_AWAY ? 1 << layer->left_shift >> 1 : 0;
    normaliser->even = layer->rounding == DORY_ROUND_EVEN;
}

/* The same for shifts from 0 on; signed words multiply as one instruction where the compiler does not know where they are
 * from. */
static inline int32_t estimate_quotient(int64_t scaled, int32_t shift, int32_t factor)
{
    int32_t dividend;
    if (shift > 1) {
        dividend = shift_narrowly(scaled, shift);
    } else {
        int32_t high = (int32_t)(scaled >> 32), low = (int32_t)scaled;
        int32_t value = shift ? (int32_t)((uint32_t)low >> 1 | (uint32_t)high << 31) : low;
        dividend = high >> shift == value >> 31 ? value : high < 0 ? INT32_MIN : INT32_MAX;
    }
    __asm__("" : "+r"(dividend));
    return (int32_t)((int64_t)dividend * factor >> 32);
}

/* floor(scaled / divisor), clipped to bounds of at most 16 bits, for divisors from 2 to 2^30: an estimate, then one step of
 * correction. The estimate's dividend, of 30 bits, lacks less than 1, which is less than 2^-13 of a quotient; the reciprocal
 * is too small by 1 at most, a quarter of a quotient; and floor. Then the rest has 32 bits; if it has not because the
 * estimate was clipped, a step either way does not leave the bound. */
static void normalise_divide_narrowly(const struct dory_normaliser *normaliser, int32_t multiplier, int64_t addend,
                                      int32_t *sum, uint32_t stride, const int32_t *end)
{
    int32_t shift = normaliser->shift, factor = (int32_t)(normaliser->reciprocal >> (normaliser->direct_shift - shift));
    int32_t divisor = (int32_t)normaliser->layer->divisor, minimum = normaliser->minimum, maximum = normaliser->maximum;
    for (; sum < end; sum += stride) {
        int64_t scaled = (int64_t)multiplier * *sum + addend;
        int32_t quotient = clip(estimate_quotient(scaled, shift, factor), minimum - 1, maximum + 1);
        int32_t rest = (int32_t)((uint32_t)scaled - (uint32_t)quotient * (uint32_t)divisor);
        quotient += (rest >= divisor) + (rest >> 31);
        *sum = clip(quotient, minimum, maximum);
    }
}

/* The same for any bounds and divisors, bit by bit; ~x / d and x / d lie on either side of a floor. */
static int32_t divide_by_bits(const struct dory_normaliser *normaliser, int64_t scaled)
{
    uint64_t divisor = (uint64_t)normaliser->layer->divisor;
    uint64_t magnitude = (uint64_t)(scaled < 0 ? ~scaled : scaled), rest = magnitude >> 31;
    uint32_t quotient = 0;
    if (rest >= divisor) {
        return scaled < 0 ? normaliser->minimum : normaliser->maximum;
    }
    for (uint32_t bit = 31; bit-- > 0;) {
        rest = rest << 1 | (magnitude >> bit & 1);
        quotient <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            quotient |= 1;
        }
    }
    return clip((int32_t)(scaled < 0 ? ~quotient : quotient), normaliser->minimum, normaliser->maximum);
}

/* The low word of value >> shift, for shifts from 1 to 31: the compiler's takes any amount. */
static inline int32_t shift_words(int64_t value, int32_t shift)
{
    return (int32_t)((uint32_t)value >> shift | (uint32_t)(value >> 32) << (32 - shift));
}

/* For quotients of less than a 16th of the sum. The factor is too small or large by less than 2, which is an eighth of a
 * quotient for any sum of 32 bits; the offset by less than 3 eighths, and what is cut off is another eighth: q is off by
 * less than 1 before it is rounded down, and the rest, between twice the divisor below zero and the divisor, says by what.
 */
static bool quotient_of(const struct dory_normaliser *normaliser, const uint8_t *constants, struct quotient *quick)
{
    int64_t multiplier = load_64(constants), addend = load_64(constants + 8);
    int32_t places = normaliser->direct_shift - QUOTIENT_PLACES, factor = (int32_t)multiplier,
            high = (int32_t)(addend >> 32);
    if (places < 3 || factor != multiplier || factor >> (places - 1) != factor >> 31 || high >> (places - 3) != high >> 31) {
        return false;
    }
    int64_t product = (int64_t)factor * normaliser->reciprocal;
    quick->factor = shift_words(product, places);
    quick->offset = (int32_t)((int64_t)shift_words(addend, places) * normaliser->reciprocal >> 32) + (1 << QUOTIENT_PLACES);
    quick->multiplier = factor;
    quick->divisor = (int32_t)normaliser->layer->divisor;
    quick->addend = (uint32_t)addend;
    return true;
}

static __attribute__((noinline, flatten)) void normalise_divide(const struct dory_normaliser *normaliser,
                                                                const uint8_t *constants, int32_t *sum, uint32_t stride,
                                                                uint32_t count)
{
    struct quotient quick;
    if (quotient_of(normaliser, constants, &quick)) {
        normalise_by_quotient(normaliser, &quick, sum, stride, count);
        return;
    }
    int64_t multiplier = load_64(constants), addend = load_64(constants + 8);
    const int32_t *end = sum + stride * count;
    if ((int32_t)multiplier == multiplier && dory_divides_narrowly(normaliser->layer)) {
        normalise_divide_narrowly(normaliser, (int32_t)multiplier, addend, sum, stride, end);
        return;
    }
    for (; sum < end; sum += stride) {
        *sum = divide_by_bits(normaliser, multiplier * *sum + addend);
    }
}

static void add_and_clip(const struct dory_normaliser *normaliser, const uint8_t *constants, int32_t *sum, uint32_t stride,
                         const int32_t *end)
{
    uint32_t addend = dory_load_word(constants);
    int32_t minimum = normaliser->minimum, maximum = normaliser->maximum;
    for (; sum < end; sum += stride) {
        *sum = clip((int32_t)((uint32_t)*sum + addend), minimum, maximum);
    }
}

void dory_normalise_lane_clamped(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                                 int32_t *sum, uint32_t stride, uint32_t count)
{
    normalise_clamped(normaliser, constants + 16 * lane, sum, stride, count);
}

void dory_normalise_lane_split(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                               int32_t *sum, uint32_t stride, uint32_t count)
{
    normalise_split(normaliser, constants + dory_channel_constants_bytes(normaliser->layer) * lane, sum, stride,
                    sum + stride * count);
}

void dory_normalise_lane_high(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                              int32_t *sum, uint32_t stride, uint32_t count)
{
    normalise_high(normaliser, constants + 16 * lane, sum, stride, count);
}

void dory_normalise_lane_shared(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane,
                                int32_t *sum, uint32_t stride, uint32_t count)
{
    normalise_by_one_scale(normaliser, constants + 4 * lane, sum, stride, sum + stride * count);
}

void dory_normalise_lane(const struct dory_normaliser *normaliser, const uint8_t *constants, uint32_t lane, int32_t *sum,
                         uint32_t stride, uint32_t count)
{
    const int32_t *end = sum + stride * count;
    switch (normaliser->kind) {
    case DORY_NORMALISE_NONE: add_and_clip(normaliser, constants + 4 * lane, sum, stride, end); break;
    case DORY_NORMALISE_32: normalise_32(normaliser, constants + 8 * lane, sum, stride, count); break;
    case DORY_NORMALISE_CLAMPED: dory_normalise_lane_clamped(normaliser, constants, lane, sum, stride, count); break;
    case DORY_NORMALISE_SPLIT: dory_normalise_lane_split(normaliser, constants, lane, sum, stride, count); break;
    case DORY_NORMALISE_HIGH: dory_normalise_lane_high(normaliser, constants, lane, sum, stride, count); break;
    case DORY_NORMALISE_SHARED: dory_normalise_lane_shared(normaliser, constants, lane, sum, stride, count); break;
    case DORY_NORMALISE_DIVIDE: normalise_divide(normaliser, constants + 16 * lane, sum, stride, count); break;
    default: normalise_64(normaliser, constants + 16 * lane, sum, stride, count); break;
    }
}

void dory_store_elements(uint8_t *output, const int32_t element[4], uint32_t lanes, uint32_t element_bytes)
{
    if (element_bytes == 4) {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            dory_store_word(output + 4 * lane, (uint32_t)element[lane]);
        }
    } else if (lanes == 4) {
        dory_store_word(output, dory_pack_bytes(element));
    } else {
        for (uint32_t lane = 0; lane < lanes; lane++) {
            output[lane] = (uint8_t)element[lane];
        }
    }
}
