/* Orders of elements as loops: whatever is found says the lists, and what is a permutation of dimensions is found. */
#include "expect.h"

#include "base/nest.h"

#define LISTS         3
#define LONGEST       4096
#define MOST_SIZES    6
#define RANDOM_ORDERS 3000
#define LARGEST_SIZE  5

static int32_t numbers[LISTS][LONGEST];
static const int32_t *const lists[LISTS] = {numbers[0], numbers[1], numbers[2]};
static int counts[LISTS];

static void set_lists(int first, int second, int third)
{
    counts[0] = first;
    counts[1] = second;
    counts[2] = third;
}

/* So many positions that go up by a step. */
static void fill(int list, int count, int32_t step)
{
    for (int i = 0; i < count; i++)
        numbers[list][i] = i * step;
    counts[list] = count;
}

/* One more loop inside those of a list. */
static void add_inner(int list, int size, int32_t step)
{
    for (int i = counts[list] * size - 1; i >= 0; i--)
        numbers[list][i] = numbers[list][i / size] + i % size * step;
    counts[list] *= size;
}

static int64_t elements(void) { return (int64_t)counts[0] * counts[1] * counts[2]; }

static int64_t listed(int64_t index)
{
    int64_t last = index % counts[2], middle = index / counts[2] % counts[1], first = index / counts[2] / counts[1];
    return (int64_t)numbers[0][first] + numbers[1][middle] + numbers[2][last];
}

static int64_t looped(const struct nest *nest, int64_t index)
{
    int64_t position = 0;
    for (int i = 0; i < nest->count; i++) {
        position += index % nest->loops[i].size * nest->loops[i].step;
        index /= nest->loops[i].size;
    }
    return index == 0 ? position : -1;
}

static bool says_the_lists(const struct nest *nest)
{
    for (int64_t i = 0; i < elements(); i++)
        if (looped(nest, i) != listed(i))
            return false;
    return true;
}

static bool find(struct nest *nest) { return nest_of_lists(nest, lists, counts, LISTS); }

static void joins_loops_that_go_on(void)
{
    struct nest nest;
    fill(0, 4, 30);
    fill(1, 5, 6);
    fill(2, 6, 1);
    EXPECT_THAT(find(&nest) && nest.count == 1 && nest.loops[0].size == 120 && nest.loops[0].step == 1);
    fill(1, 1, 0);
    EXPECT_THAT(find(&nest) && nest.count == 2 && nest.loops[0].size == 6 && nest.loops[1].step == 30);
}

static void keeps_sizes_within_16_bits(void)
{
    struct nest nest;
    fill(0, 300, 300);
    fill(1, 300, 1);
    fill(2, 1, 0);
    EXPECT_THAT(find(&nest) && nest.count == 2 && nest.loops[0].size == 300 && nest.loops[1].size == 300);
}

static void refuses_what_is_no_loop(void)
{
    struct nest nest;
    set_lists(1, 1, 4);
    memset(numbers, 0, sizeof numbers);
    fill(2, 4, 1);
    numbers[2][0] = 1; /* does not begin at 0 */
    EXPECT_THAT(!find(&nest));
    fill(2, 4, 1);
    numbers[2][3] = 5;
    EXPECT_THAT(!find(&nest));
    fill(2, 6, 1);
    numbers[2][5] = 6; /* a run of 5 does not divide 6 */
    EXPECT_THAT(!find(&nest));
}

static void refuses_too_many_loops(void)
{
    struct nest nest;
    fill(0, 2, 1);
    for (int i = 1; i < 3; i++)
        add_inner(0, 2, 1 << (2 * i));
    fill(1, 2, 1 << 6);
    for (int i = 1; i < 3; i++)
        add_inner(1, 2, 1 << (6 + 2 * i));
    fill(2, 2, 1 << 12);
    add_inner(2, 2, 1 << 14);
    EXPECT_THAT(find(&nest) && nest.count == NEST_MAXIMUM_LOOPS && says_the_lists(&nest));
    add_inner(2, 2, 1 << 16);
    EXPECT_THAT(!find(&nest));
}

static void refuses_places_of_missing_or_repeated_elements(void)
{
    int places[NEST_MAXIMUM_LOOPS];
    struct nest nest = {.loops = {{3, 4}, {4, 1}}, .count = 2};
    EXPECT_THAT(nest_places(&nest, 12, places) && places[0] == 1 && places[1] == 0);
    EXPECT_THAT(!nest_places(&nest, 24, places));
    nest.loops[0].step = 5; /* the fifth element is left out */
    EXPECT_THAT(!nest_places(&nest, 12, places));
    nest.loops[0].step = 0; /* each is there three times */
    EXPECT_THAT(!nest_places(&nest, 12, places));
}

static int random_below(int limit) { return rand() % limit; }

/* The loops of dimensions in any order, those of a list side by side. */
static void lay_random_order(void)
{
    int sizes[MOST_SIZES], order[MOST_SIZES];
    int32_t steps[MOST_SIZES], step = 1;
    for (int i = 0; i < MOST_SIZES; i++) {
        sizes[i] = 1 + random_below(LARGEST_SIZE);
        steps[i] = step;
        step *= sizes[i];
        int place = random_below(i + 1);
        order[i] = order[place];
        order[place] = i;
    }
    memset(numbers, 0, sizeof numbers);
    set_lists(1, 1, 1);
    for (int i = 0; i < MOST_SIZES; i++)
        add_inner(i * LISTS / MOST_SIZES, sizes[order[i]], steps[order[i]]);
}

static void finds_any_order_of_dimensions(void)
{
    for (int i = 0; i < RANDOM_ORDERS; i++) {
        struct nest nest;
        int places[NEST_MAXIMUM_LOOPS];
        lay_random_order();
        EXPECT(find(&nest) && says_the_lists(&nest) && nest_places(&nest, (size_t)elements(), places), "order %d", i);
        int64_t step = 1;
        for (int k = 0; k < nest.count; step *= nest.loops[places[k++]].size)
            EXPECT(nest.loops[places[k]].step == step, "order %d, dimension %d", i, k);
        numbers[2][counts[2] - 1] += 1 + random_below(3);
        EXPECT(!find(&nest) || says_the_lists(&nest), "order %d with an element elsewhere", i);
    }
}

int main(void)
{
    static const struct test tests[] = {
        TEST(joins_loops_that_go_on),
        TEST(keeps_sizes_within_16_bits),
        TEST(refuses_what_is_no_loop),
        TEST(refuses_too_many_loops),
        TEST(refuses_places_of_missing_or_repeated_elements),
        TEST(finds_any_order_of_dimensions),
    };
    return RUN_TESTS("nest", tests, NULL);
}
