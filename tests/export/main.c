/* Runs an exported network on the inputs of a test, each in an arena that is filled with other bytes first, and compares
 * every element of its outputs. On a PC two threads do so at the same time. CASES: a file of common.sh. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct port {
    unsigned bits;
    int is_signed;
    uint32_t channels, elements, bytes;
    const int32_t *values; /* of all runs, one behind the other */
};

#include CASES

struct worker {
    uint8_t arena[ARENA_BYTES] __attribute__((aligned(8)));
    uint8_t input[INPUTS][MOST_BYTES];
    uint8_t output[OUTPUTS][MOST_BYTES];
    unsigned first; /* run */
    int status;
    unsigned differences;
};

/* Elements of less than 8 bits are packed; a pixel starts on a byte. */
static uint8_t *place(const struct port *port, uint8_t *bytes, uint32_t element)
{
    uint32_t pixel = element / port->channels, channel = element % port->channels;
    return bytes + pixel * ((port->channels * port->bits + 7) / 8) + channel * port->bits / 8;
}

static unsigned low_bit(const struct port *port, uint32_t element) { return element % port->channels * port->bits % 8; }

static void put(const struct port *port, uint8_t *bytes, uint32_t element, int32_t value)
{
    uint8_t *to = place(port, bytes, element);
    if (port->bits < 8)
        *to = (uint8_t)(*to | ((uint32_t)value & ((1u << port->bits) - 1)) << low_bit(port, element));
    else
        memcpy(to, &value, port->bits / 8);
}

static int32_t get(const struct port *port, uint8_t *bytes, uint32_t element)
{
    uint32_t value = 0, sign = 1u << (port->bits - 1);
    memcpy(&value, place(port, bytes, element), port->bits < 8 ? 1 : port->bits / 8);
    if (port->bits < 8)
        value >>= low_bit(port, element);
    value &= 2 * sign - 1;
    return (int32_t)(port->is_signed ? (value ^ sign) - sign : value);
}

static void run_once(struct worker *worker, unsigned run)
{
    const void *in[INPUTS];
    void *out[OUTPUTS];
    memset(worker->arena, 0x5A + (int)run, sizeof worker->arena);
    memset(worker->input, 0, sizeof worker->input);
    for (unsigned i = 0; i < INPUTS; i++) {
        in[i] = worker->input[i];
        for (uint32_t e = 0; e < inputs[i].elements; e++)
            put(&inputs[i], worker->input[i], e, inputs[i].values[run * inputs[i].elements + e]);
    }
    for (unsigned i = 0; i < OUTPUTS; i++)
        out[i] = worker->output[i];
    int status = RUN(worker->arena, in, out);
    worker->status = worker->status ? worker->status : status;
    for (unsigned i = 0; i < OUTPUTS; i++)
        for (uint32_t e = 0; e < outputs[i].elements; e++)
            worker->differences +=
                get(&outputs[i], worker->output[i], e) != outputs[i].values[run * outputs[i].elements + e];
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (unsigned run = 0; run < RUNS; run++)
        run_once(worker, (run + worker->first) % RUNS);
    return NULL;
}

static int report(const struct worker *worker)
{
    printf("%d runs: status %d, %u differences\n", RUNS, worker->status, worker->differences);
    return worker->status != 0 || worker->differences != 0;
}

static int refuses(void)
{
    static struct worker other;
    const void *in[INPUTS];
    void *out[OUTPUTS];
    for (unsigned i = 0; i < INPUTS; i++)
        in[i] = other.input[i];
    for (unsigned i = 0; i < OUTPUTS; i++)
        out[i] = other.output[i];
    return RUN(NULL, in, out) == -1 && RUN(other.arena + 4, in, out) == -4;
}

static struct worker workers[2];

#ifdef THREADS
#include <pthread.h>

int main(void)
{
    pthread_t threads[2];
    workers[1].first = 1;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
            return 2;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return report(&workers[0]) | report(&workers[1]) | !refuses();
}
#else
int main(void)
{
    work(&workers[0]);
    return report(&workers[0]) | !refuses();
}
#endif
