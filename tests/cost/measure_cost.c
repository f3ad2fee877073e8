/* Layers a second, exact, repeated and by the closed form, and how far that is off. Usage: measure_cost LAYERS TARGET */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "random_layer.h"

#define REPEATS 200000

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* By layer; 0: it does not run. Returns layers a second. */
static double cost_all(struct dory_cost_model *model, int count, int layers, enum dory_cost_mode mode, uint64_t *cycles)
{
    double start = seconds();
    for (int i = 0; i < count; i++) {
        struct dory_cost_layer layer = random_cost_layer((uint64_t)(i % layers) + 1);
        struct dory_cost cost;
        cycles[i % layers] = dory_cost_of(model, &layer, mode, &cost) ? cost.cycles : 0;
    }
    return count / (seconds() - start);
}

int main(int argc, char **argv)
{
    char message[DORY_COST_TEXT_BYTES];
    int layers = argc == 3 ? atoi(argv[1]) : 0, count = 0;
    struct dory_cost_model *model = layers > 0 ? dory_cost_open(argv[2], message, sizeof message) : NULL;
    uint64_t *exact = calloc((size_t)layers + 1, sizeof *exact), *fast = calloc((size_t)layers + 1, sizeof *fast);
    double *errors = calloc((size_t)layers + 1, sizeof *errors);
    if (!model || !exact || !fast || !errors)
        return 2;
    printf("exact: %.0f layers a second\n", cost_all(model, layers, layers, DORY_COST_EXACT, exact));
    printf("again: %.0f layers a second\n", cost_all(model, REPEATS, layers, DORY_COST_EXACT, exact));
    printf("fast: %.0f layers a second\n", cost_all(model, layers, layers, DORY_COST_FAST, fast));
    for (int i = 0; i < layers; i++)
        if (exact[i])
            errors[count++] = 100 * ((double)fast[i] / (double)exact[i] - 1);
    qsort(errors, (size_t)count, sizeof *errors, by_value);
    if (count)
        printf("%d layers; fast is off by %.3f %% (median), %.2f %% (95th percentile), %.1f %% (most)\n", count,
               errors[count / 2], errors[count * 95 / 100], errors[count - 1]);
    free(exact);
    free(fast);
    free(errors);
    dory_cost_close(model);
    return count == 0;
}
