/* What LAYER_NORM means: see struct norm. */
#include "base/arithmetic.h"
#include "network/fixed_point.h"
#include "network/interpret_moves.h"

static uint64_t high_product(uint64_t a, uint64_t b) { return a * b >> 32; }

/* 2^31 / sqrt(n / 2^30) for n from 2^30 to 2^32 - 1, in the steps of a machine of 32 bits: a line that is within 9 %, and
 * four steps of Newton's, y (3 - a y^2) / 2, which double the digits that are right. */
static uint64_t root_of(uint64_t n)
{
    uint64_t y = 2291365052u - high_product(n, 1309965025u);
    for (int i = 0; i < 4; i++) {
        uint64_t product = high_product(n, high_product(y, y));
        y = 2 * high_product(y, 4 * ((UINT64_C(3) << 28) - product));
    }
    return y > INT32_MAX ? INT32_MAX : y;
}

/* What a pixel's elements are multiplied with: multiplier * 2^shift. */
struct scaled {
    int64_t multiplier;
    int shift;
};

static struct scaled scale_of(const struct norm *norm, uint64_t variance)
{
    uint64_t w = (variance << norm->fraction_bits) + (uint64_t)norm->epsilon;
    w = w == 0 ? 1 : w; /* all elements are equal, so all d are 0 */
    int bits = 64 - __builtin_clzll(w);
    bits += bits & 1;
    uint64_t n = bits > 32 ? w >> (bits - 32) : w << (32 - bits);
    int64_t multiplier = (int64_t)(root_of(n) * (uint64_t)norm->multiplier >> 31);
    int shift = norm->left_shift - (bits - 2 - norm->fraction_bits) / 2;
    if (shift < 0)
        return (struct scaled){multiplier >> -shift, 0};
    return (struct scaled){multiplier, shift > 31 ? 31 : shift};
}

/* `root`: null, or the number of that of the pixel. */
static void norm_pixel(const struct norm *norm, int64_t pixel, int n, const int64_t *x, const int64_t *root, int64_t *y)
{
    int64_t sum = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        int64_t d = norm->is_centred ? x[i] : x[i] - norm->zero_point;
        sum += d;
        squares += d * d;
    }
    struct scaled scale = root ? (struct scaled){norm->roots[*root], norm->left_shift}
                               : scale_of(norm, (uint64_t)(norm->is_centred ? n * squares - sum * sum : squares));
    for (int i = 0; i < n; i++) {
        const struct norm_constants *own = &norm->constants[(pixel * (n / norm->run) + i / norm->run) % norm->count];
        int64_t d = norm->is_centred ? n * x[i] - sum : x[i] - norm->zero_point;
        wide high = ((wide)(d * own->factor) * ((wide)1 << scale.shift) * scale.multiplier) >> 32;
        y[i] = (int64_t)(high + own->term) >> norm->shift;
    }
}

/* ---- divided norms ---- */

/* Of numbers from 1 on. */
static int64_t whole_root(int64_t x)
{
    int64_t root = 1;
    while ((root + 1) * (root + 1) <= x)
        root++;
    return root;
}

static void divided_pixel(const struct norm *norm, int64_t pixel, int n, const int64_t *x, int64_t *y)
{
    int64_t sum = 0, squares = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] - norm->zero_point;
    const int64_t offset = norm->zero_point + (norm->is_centred ? sum / n : 0);
    for (int i = 0; i < n; i++)
        squares += (x[i] - offset) * (x[i] - offset);
    const int64_t root = whole_root(squares / n + 1);
    for (int i = 0; i < n; i++) {
        const struct norm_constants *own = &norm->constants[(pixel * (n / norm->run) + i / norm->run) % norm->count];
        y[i] = (((x[i] - offset) * own->factor / root + own->term) >> norm->shift) + 128;
        y[i] = norm->is_centred ? y[i] & 255 : y[i];
    }
}

/* ---- norms that are rounded twice ---- */

#define OUTPUT_BITS 7 /* of the scale of what TensorFlow Lite Micro gives */

static void twice_pixel(const struct norm *norm, int n, const int64_t *x, int64_t *y)
{
    int64_t squares = 0;
    int32_t multiplier;
    int exponent;
    for (int i = 0; i < n; i++)
        squares += (x[i] - norm->zero_point) * (x[i] - norm->zero_point);
    fixed_inverse_root((int32_t)squares, &multiplier, &exponent);
    for (int i = 0; i < n; i++)
        y[i] = fixed_scale((int32_t)x[i] - norm->zero_point, multiplier, exponent + OUTPUT_BITS) + 128;
}

bool interpret_norm(const struct norm *norm, const struct tensor *tensor, const int64_t *x, const int64_t *roots, int64_t *y)
{
    int64_t pixels = (int64_t)tensor->height * tensor->width;
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        const int64_t *of = x + pixel * tensor->channels;
        int64_t *to = y + pixel * tensor->channels;
        if (norm->arithmetic == NORM_DIVIDED)
            divided_pixel(norm, pixel, tensor->channels, of, to);
        else if (norm->arithmetic == NORM_TWICE)
            twice_pixel(norm, tensor->channels, of, to);
        else
            norm_pixel(norm, pixel, tensor->channels, of, norm->roots ? roots + pixel : NULL, to);
    }
    return true;
}
