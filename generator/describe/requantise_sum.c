/* Additions as one plane: (m0 * x0 + m1 * x1 + a) >> shift, which must lie between the steps of the model's function of both
 * inputs. All pairs of inputs are looked at, so that what is found here is proven. */
#include <glpk.h>
#include <math.h>
#include <string.h>

#include "describe/requantise_scalar.h"
#include "describe/step_function.h"
#include "network/stage.h"

#define VALUES 256 /* of an input */

struct surface {
    const struct requantise_sum *sum;
    int count[2]; /* of the inputs' values */
    int32_t *y;   /* by x0 - first, x1 - first */
};

/* Numbers of the plane. Terms are multiplier * x >> finer, all for x from 0, not from the first value, as the firmware has
 * them; `finer` is 0 where that is enough. */
struct plane {
    int64_t multiplier[2], addend;
    int shift, finer;
};

struct pair {
    int x[2];
    int32_t y;
};

/* ---- the model's function ---- */

static wide term_of(const struct stage *stage, int64_t x) { return stage->count ? stage_apply(stage, 0, x) : x; }

static bool fill_surface(struct surface *surface)
{
    const struct requantise_sum *sum = surface->sum;
    wide terms[2][VALUES];
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < surface->count[i]; x++)
            terms[i][x] = term_of(&sum->terms[i], sum->first[i] + x);
    for (int i = 0; i < surface->count[0]; i++)
        for (int j = 0; j < surface->count[1]; j++) {
            wide x = terms[0][i] + terms[1][j];
            int64_t y;
            if (x < INT64_MIN || x > INT64_MAX)
                return false;
            if (!stage_apply_narrowly(&sum->sum, 0, (int64_t)x, &y))
                y = (int64_t)stage_apply(&sum->sum, 0, (int64_t)x);
            if (y < INT16_MIN || y > INT16_MAX)
                return false;
            surface->y[i * VALUES + j] = (int32_t)y;
        }
    return true;
}

/* ---- planes ---- */

struct room {
    int64_t first, last; /* of the addend */
};

static bool is_free(const struct surface *surface, int32_t y, bool upwards)
{
    const struct stage *stage = &surface->sum->sum;
    return stage->has_clip && (upwards ? y >= stage->maximum : y <= stage->minimum);
}

static int64_t plane_term(const struct surface *surface, const struct plane *plane, int input, int x)
{
    return plane->multiplier[input] * (surface->sum->first[input] + x) >> plane->finer;
}

static struct room room_of(const struct surface *surface, const struct plane *plane)
{
    int64_t terms[2][VALUES];
    for (int i = 0; i < 2; i++)
        for (int x = 0; x < surface->count[i]; x++)
            terms[i][x] = plane_term(surface, plane, i, x);
    struct room room = {INT64_MIN / 4, INT64_MAX / 4};
    for (int i = 0; i < surface->count[0]; i++)
        for (int j = 0; j < surface->count[1]; j++) {
            int32_t y = surface->y[i * VALUES + j];
            int64_t first = y * ((int64_t)1 << plane->shift) - terms[0][i] - terms[1][j];
            int64_t last = first + ((int64_t)1 << plane->shift) - 1;
            if (first > room.first && !is_free(surface, y, false))
                room.first = first;
            if (last < room.last && !is_free(surface, y, true))
                room.last = last;
        }
    return room;
}

static bool take_middle(const struct surface *surface, struct plane *plane)
{
    struct room room = room_of(surface, plane);
    plane->addend = room.first + (room.last - room.first) / 2;
    return room.first <= room.last;
}

/* ---- the best plane, as a linear programme ---- */

/* A plane in real numbers, and its distance to the nearest pair on the wrong side or the right one. */
struct real_plane {
    double slope[2], offset, margin;
};

/* In units of this many levels, so that all of the programme's numbers are of similar size. */
#define UNIT 0x1p-14

#define MAXIMUM_PIVOTS 10000 /* of a programme of so few columns; a hundred are usual */

enum { SLOPE_0 = 1, SLOPE_1, OFFSET, MARGIN };

/* The plane near `base` lies above (below) the pair's level (the next one) by the margin at least. */
static void add_row(glp_prob *programme, const struct real_plane *base, const struct pair *pair, bool is_upper)
{
    int row = glp_add_rows(programme, 1);
    int columns[] = {0, SLOPE_0, SLOPE_1, OFFSET, MARGIN};
    double height = base->slope[0] * pair->x[0] + base->slope[1] * pair->x[1] + base->offset;
    double factors[] = {0, pair->x[0], pair->x[1], 1, is_upper ? 1 : -1};
    double bound = (pair->y + is_upper - height) / UNIT;
    glp_set_mat_row(programme, row, 4, columns, factors);
    glp_set_row_bnds(programme, row, is_upper ? GLP_UP : GLP_LO, bound, bound);
}

static glp_prob *start_programme(void)
{
    glp_prob *programme = glp_create_prob();
    glp_add_cols(programme, 4);
    for (int column = SLOPE_0; column <= OFFSET; column++)
        glp_set_col_bnds(programme, column, GLP_DB, -1000, 1000);
    glp_set_col_bnds(programme, MARGIN, GLP_DB, -100000, 100000);
    glp_set_obj_dir(programme, GLP_MAX);
    glp_set_obj_coef(programme, MARGIN, 1);
    return programme;
}

static bool solve_programme(glp_prob *programme, const struct real_plane *base, struct real_plane *found)
{
    glp_smcp parameters;
    glp_init_smcp(&parameters);
    parameters.msg_lev = GLP_MSG_OFF;
    parameters.it_lim = MAXIMUM_PIVOTS;
    if (glp_simplex(programme, &parameters) != 0 || glp_get_status(programme) != GLP_OPT)
        return false;
    for (int i = 0; i < 2; i++)
        found->slope[i] = base->slope[i] + UNIT * glp_get_col_prim(programme, SLOPE_0 + i);
    found->offset = base->offset + UNIT * glp_get_col_prim(programme, OFFSET);
    found->margin = UNIT * glp_get_col_prim(programme, MARGIN);
    return true;
}

/* The pairs for which a plane is worst: most too low, and most too high. */
static void worst_pairs(const struct surface *surface, const struct real_plane *plane, struct pair worst[2], double by[2])
{
    by[0] = by[1] = -HUGE_VAL;
    for (int i = 0; i < surface->count[0]; i++)
        for (int j = 0; j < surface->count[1]; j++) {
            int32_t y = surface->y[i * VALUES + j];
            double over = plane->slope[0] * i + plane->slope[1] * j + plane->offset - y;
            if (-over > by[0] && !is_free(surface, y, false)) {
                by[0] = -over;
                worst[0] = (struct pair){{i, j}, y};
            }
            if (over - 1 > by[1] && !is_free(surface, y, true)) {
                by[1] = over - 1;
                worst[1] = (struct pair){{i, j}, y};
            }
        }
}

#define MAXIMUM_ROUNDS 60

/* Rows are added for the pairs that are worst, until none is worse than the margin says. True where the margin is positive.
 */
static bool improve(const struct surface *surface, struct real_plane *plane)
{
    struct real_plane base = *plane;
    glp_prob *programme = start_programme();
    bool good = true, done = false;
    for (int round = 0; round < MAXIMUM_ROUNDS && good && !done; round++) {
        struct pair worst[2];
        double by[2];
        worst_pairs(surface, plane, worst, by);
        done = round > 0 && by[0] <= 1e-9 - plane->margin && by[1] <= 1e-9 - plane->margin;
        for (int i = 0; i < 2 && !done; i++)
            if (isfinite(by[i]))
                add_row(programme, &base, &worst[i], i == 1);
        good = done || (solve_programme(programme, &base, plane) && plane->margin > 0);
    }
    glp_delete_prob(programme);
    return good && done;
}

/* ---- integers ---- */

static struct real_plane natural_plane(const struct surface *surface)
{
    const struct requantise_sum *sum = surface->sum;
    double factor = (double)step_function_slope(&sum->sum, 0);
    struct real_plane plane = {{0, 0}, 0, 0};
    for (int i = 0; i < 2; i++)
        plane.slope[i] = factor * (sum->terms[i].count ? (double)step_function_slope(&sum->terms[i], 0) : 1);
    /* the offset that is in the middle of what the pairs allow */
    struct pair worst[2];
    double by[2];
    worst_pairs(surface, &plane, worst, by);
    plane.offset = isfinite(by[0] - by[1]) ? (by[0] - by[1]) / 2 : surface->y[0];
    return plane;
}

/* The most places that sums of products may have in 32 bits; whether they do, is looked at afterwards. Negative: products
 * alone have more. */
static int narrow_shift(const struct surface *surface, const struct real_plane *plane)
{
    double most = 1;
    for (int i = 0; i < 2; i++)
        most = fmax(most, fabs(plane->slope[i]) *
                              fmax(1, fmax(fabs((double)surface->sum->first[i]), (double)surface->sum->last[i])));
    int shift = (int)floor(log2(INT32_MAX / most));
    return shift > 30 ? 30 : shift;
}

static bool is_32_bits(int64_t number) { return number >= INT32_MIN && number <= INT32_MAX; }

/* Terms are clipped to 32 bits in the firmware, so they must not need it; nor may their sum, the addend in the first term.
 */
static bool fits(const struct surface *surface, const struct plane *plane)
{
    int64_t ends[2][2];
    for (int i = 0; i < 2; i++)
        for (int end = 0; end < 2; end++) {
            ends[i][end] = plane_term(surface, plane, i, end ? surface->count[i] - 1 : 0) + (i ? 0 : plane->addend);
            if (!is_32_bits(ends[i][end]))
                return false;
        }
    return is_32_bits(ends[0][0] + ends[1][0]) && is_32_bits(ends[0][1] + ends[1][1]) &&
           is_32_bits(ends[0][0] + ends[1][1]) && is_32_bits(ends[0][1] + ends[1][0]);
}

static bool is_right(const struct surface *surface, struct plane *plane)
{
    return take_middle(surface, plane) && fits(surface, plane);
}

#define MAXIMUM_TURN 2 /* units that a multiplier may be beside the real one */

/* Whole multipliers near the real ones. */
static bool round_plane(const struct surface *surface, const struct real_plane *real, int shift, struct plane *plane)
{
    for (int turn = 0; turn < (2 * MAXIMUM_TURN + 1) * (2 * MAXIMUM_TURN + 1); turn++) {
        int turns[2] = {turn % (2 * MAXIMUM_TURN + 1), turn / (2 * MAXIMUM_TURN + 1)};
        *plane = (struct plane){.shift = shift};
        for (int i = 0; i < 2; i++) /* 0, 1, -1, 2, -2 */
            plane->multiplier[i] =
                llround(ldexp(real->slope[i], shift)) + (turns[i] % 2 ? (turns[i] + 1) / 2 : -turns[i] / 2);
        if (is_right(surface, plane))
            return true;
    }
    return false;
}

#define FINER 18

/* Each term rounded by itself, from a finer product. */
static bool round_terms(const struct surface *surface, const struct real_plane *real, int shift, struct plane *plane)
{
    *plane = (struct plane){.shift = shift, .finer = FINER};
    for (int i = 0; i < 2; i++)
        plane->multiplier[i] = llround(ldexp(real->slope[i], shift + FINER));
    return is_right(surface, plane);
}

static void write_plane(struct requantise_sum *sum, const struct plane *plane, struct arena *arena)
{
    int64_t unit = (int64_t)1 << plane->finer;
    sum->terms[0] = requantise_floor_stage(plane->multiplier[0], plane->addend * unit, plane->finer, NULL, arena);
    sum->terms[1] = requantise_floor_stage(plane->multiplier[1], 0, plane->finer, NULL, arena);
    sum->sum = requantise_floor_stage(1, 0, plane->shift, &sum->sum, arena);
}

#define SHIFTS_TRIED 3

static bool find_plane(const struct surface *surface, struct plane *plane)
{
    struct real_plane natural = natural_plane(surface), better = natural;
    int shift = narrow_shift(surface, &natural);
    if (shift < 0)
        return false;
    for (int less = 0; less < SHIFTS_TRIED && less <= shift; less++)
        if (round_plane(surface, &natural, shift - less, plane))
            return true;
    if (!improve(surface, &better))
        return false;
    for (int less = 0; less < SHIFTS_TRIED && less <= shift; less++)
        if (round_plane(surface, &better, shift - less, plane))
            return true;
    for (int less = 0; less < SHIFTS_TRIED && less <= shift; less++)
        if (round_terms(surface, &better, shift - less, plane))
            return true;
    return false;
}

/* ---- term by term ---- */

static bool sum_of_floors(struct requantise_sum *sum, struct arena *arena)
{
    wide least = 0, most = 0;
    const struct stage *floors[3];
    for (int i = 0; i < 2; i++) {
        wide a = term_of(&sum->terms[i], sum->first[i]), b = term_of(&sum->terms[i], sum->last[i]);
        least += a < b ? a : b;
        most += a < b ? b : a;
        if (a < INT32_MIN || a > INT32_MAX || b < INT32_MIN || b > INT32_MAX)
            return false;
        floors[i] =
            sum->terms[i].count ? requantise_as_floor(&sum->terms[i], sum->first[i], sum->last[i], arena) : &sum->terms[i];
    }
    if (least < INT32_MIN || most > INT32_MAX)
        return false;
    floors[2] = requantise_as_floor(&sum->sum, (int64_t)least, (int64_t)most, arena);
    if (!floors[0] || !floors[1] || !floors[2])
        return false;
    *sum = (struct requantise_sum){
        {*floors[0], *floors[1]}, *floors[2], {sum->first[0], sum->first[1]}, {sum->last[0], sum->last[1]}};
    return true;
}

bool requantise_sum(struct requantise_sum *sum, struct arena *arena)
{
    struct arena scratch = {0};
    struct surface surface = {.sum = sum};
    struct plane plane;
    bool is_small = sum->terms[0].count <= 1 && sum->terms[1].count <= 1 && sum->sum.count == 1;
    for (int i = 0; i < 2; i++) {
        surface.count[i] = (int)(sum->last[i] - sum->first[i] + 1);
        is_small = is_small && sum->last[i] - sum->first[i] < VALUES;
    }
    surface.y = arena_array(&scratch, int32_t, VALUES * VALUES);
    bool found = is_small && fill_surface(&surface) && find_plane(&surface, &plane);
    if (found)
        write_plane(sum, &plane, arena);
    arena_free(&scratch);
    return found || sum_of_floors(sum, arena);
}
