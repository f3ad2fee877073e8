/* Injects faults into runs of six networks, every kind at several places, and looks whether each is reported with the code
 * that belongs to it, whichever of a core and the fabric controller drives the tile loop, whether the machine is as good as
 * new afterwards, and whether delays change nothing. What hangs is stopped by an alarm, and named. */
#include <signal.h>
#include <unistd.h>

#include "../hal/fault_status.h"
#include "expect.h"
#include "subjects.h"

#define SECONDS_TO_HANG 20
#define KINDS           64 /* room in the table */
/* How many places of a kind of call, in one network. Races are in the ways that a run takes, which have no more with more.
 */
#ifdef __SANITIZE_THREAD__
#define PLACES 2
#else
#define PLACES 5
#endif

static char injection[200]; /* what is being injected */

static struct tally {
    char kind[64];
    int expected; /* status */
    int injected, reported;
} tallies[KINDS];
static int kinds;

static enum hal_host_driver driver; /* of the tile loop, in the runs at hand */
static struct outcome sound;        /* of the network at hand: what it should compute, and how many calls it makes */

/* ---- one injection ---------------------------------------------------------------------------------------------- */

static void hangs(int signal_number)
{
    static const char message[] = ": hangs\n";
    (void)signal_number;
    if (write(STDERR_FILENO, injection, strlen(injection)) > 0 && write(STDERR_FILENO, message, sizeof message - 1) > 0)
        _exit(3);
    _exit(4);
}

static struct tally *tally_of(const char *kind, int expected)
{
    for (int i = 0; i < kinds; i++)
        if (!strcmp(tallies[i].kind, kind))
            return &tallies[i];
    struct tally *tally = &tallies[kinds++];
    snprintf(tally->kind, sizeof tally->kind, "%s", kind);
    tally->expected = expected;
    return tally;
}

static bool has_text(int status)
{
    return strcmp(dory_strerror(status), "an unknown status code") != 0 &&
           strcmp(dory_strerror(status), dory_strerror(DORY_OK)) != 0;
}

static bool is_exact(const struct outcome *outcome)
{
    return outcome->status == DORY_OK && outcome->output_bytes == sound.output_bytes &&
           memcmp(outcome->outputs, sound.outputs, sound.output_bytes) == 0;
}

static void expect(bool is_so, const char *otherwise, const struct outcome *outcome)
{
    EXPECT(is_so, "%s: %s: %s", injection, otherwise, dory_strerror(outcome->status));
}

/* What a fault leaves behind must not reach the next run. */
static void check_recovery(const struct subject *subject)
{
    struct outcome outcome;
    use_subject(subject, &(struct mistakes){.machine = {.seed = 3}}, &outcome);
    expect(is_exact(&outcome) && !outcome.counters.violations, "the next run is not exact", &outcome);
}

/* `expected` DORY_OK: a fault that delays only, after which the result must be exact. */
static void inject(const struct subject *subject, const char *kind, struct mistakes mistakes, int expected)
{
    struct outcome outcome;
    struct tally *tally = tally_of(kind, expected);
    snprintf(injection, sizeof injection, "%s, %s, place %llu, driver %d", subject->name, kind,
             (unsigned long long)mistakes.nth, driver);
    mistakes.machine.driver = driver;
    mistakes.machine.quiet = 1;
    mistakes.machine.seed = 5;
    mistakes.machine.patience_milliseconds = 6;
    alarm(SECONDS_TO_HANG);
    tally->injected++;
    use_subject(subject, &mistakes, &outcome);
    bool reported = expected == DORY_OK ? is_exact(&outcome) : outcome.status == expected && has_text(outcome.status);
    tally->reported += reported;
    expect(reported, outcome.status ? "reported as something else" : "not reported", &outcome);
    expect(!mistakes.nth || outcome.counters.faults == 1, "was not met", &outcome);
    if (mistakes.nth <= 1)
        check_recovery(subject);
    alarm(0);
}

/* ---- the machine ------------------------------------------------------------------------------------------------ */

/* The first, the last, and some in between. */
static void fail_calls(const struct subject *subject)
{
    for (int call = 0; call < HAL_HOST_CALLS; call++) {
        uint64_t count = sound.counters.calls[call], places = count < PLACES ? count : PLACES;
        for (uint64_t place = 0; place < places; place++) {
            uint64_t nth = places == 1 ? 1 : 1 + place * (count - 1) / (places - 1);
            struct mistakes mistakes = {.failing = (enum hal_host_call)call, .nth = nth};
            inject(subject, hal_host_call_name((enum hal_host_call)call), mistakes, fault_status[call]);
        }
    }
}

static void spoil_memories(const struct subject *subject)
{
    const struct dory_network *network = subject->network;
    inject(subject, "L1 smaller than planned", (struct mistakes){.machine.l1_bytes = network->l1_bytes - 8},
           DORY_ERROR_MEMORY);
    inject(subject, "L2 smaller than planned", (struct mistakes){.machine.l2_bytes = network->l2_bytes - 8},
           DORY_ERROR_MEMORY);
    if (network->ram_bytes)
        inject(subject, "RAM smaller than planned", (struct mistakes){.machine.ram_bytes = network->ram_bytes / 2},
               DORY_ERROR_L3);
}

static void spoil_flash(const struct subject *subject)
{
    static uint8_t image[64 * 1024];
    size_t bytes = subject->network->flash_bytes;
    const struct subject *other = &subjects[(subject - subjects + 1) % SUBJECTS];
    memcpy(image, subject->weights, bytes);
    inject(subject, "flash cut off in its header", (struct mistakes){.flash = image, .flash_bytes = 16}, DORY_ERROR_L3);
    inject(subject, "flash cut off", (struct mistakes){.flash = image, .flash_bytes = bytes / 2}, DORY_ERROR_L3);
    inject(subject, "flash of another network",
           (struct mistakes){.flash = other->weights, .flash_bytes = other->network->flash_bytes}, DORY_ERROR_FLASH_IMAGE);
    image[12] ^= 1; /* of another training of the same network */
    inject(subject, "flash of another version", (struct mistakes){.flash = image, .flash_bytes = bytes},
           DORY_ERROR_FLASH_IMAGE);
    memset(image, 0xFF, bytes);
    inject(subject, "flash that was never written", (struct mistakes){.flash = image, .flash_bytes = bytes},
           DORY_ERROR_FLASH_IMAGE);
}

/* ---- the application -------------------------------------------------------------------------------------------- */

static void no_l1(struct dory_buffers *buffers) { buffers->l1 = NULL; }
static void no_l2(struct dory_buffers *buffers) { buffers->l2 = NULL; }
static void odd_l1(struct dory_buffers *buffers) { buffers->l1 = (uint8_t *)buffers->l1 + 4; }
static void odd_l2(struct dory_buffers *buffers) { buffers->l2 = (uint8_t *)buffers->l2 + 1; }
static void short_l1(struct dory_buffers *buffers) { buffers->l1_bytes--; }
static void short_l2(struct dory_buffers *buffers) { buffers->l2_bytes--; }
static void empty_l1(struct dory_buffers *buffers) { buffers->l1_bytes = 0; }
static void empty_l2(struct dory_buffers *buffers) { buffers->l2_bytes = 0; }
static void no_flash(struct dory_buffers *buffers) { buffers->flash_address = HAL_NOT_IN_FLASH; }

static void spoil_buffers(const struct subject *subject)
{
    static const struct {
        const char *kind;
        void (*spoil)(struct dory_buffers *buffers);
        int status;
    } cases[] = {
        {"null pointer to L1", no_l1, DORY_ERROR_ARGUMENT},
        {"null pointer to L2", no_l2, DORY_ERROR_ARGUMENT},
        {"L1 buffer not aligned", odd_l1, DORY_ERROR_ALIGNMENT},
        {"L2 buffer not aligned", odd_l2, DORY_ERROR_ALIGNMENT},
        {"L1 buffer too small", short_l1, DORY_ERROR_L1_TOO_SMALL},
        {"L2 buffer too small", short_l2, DORY_ERROR_L2_TOO_SMALL},
        {"L1 buffer of no bytes", empty_l1, DORY_ERROR_L1_TOO_SMALL},
        {"L2 buffer of no bytes", empty_l2, DORY_ERROR_L2_TOO_SMALL},
        {"weights not in flash", no_flash, DORY_ERROR_FLASH_IMAGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        inject(subject, cases[i].kind, (struct mistakes){.spoil = cases[i].spoil}, cases[i].status);
}

static void forget_to_open(const struct subject *subject)
{
    inject(subject, "L3 not open", (struct mistakes){.without_l3 = true, .without_check = true}, DORY_ERROR_L3);
    inject(subject, "cluster not open", (struct mistakes){.without_cluster = true}, DORY_ERROR_CLUSTER);
}

static void fill_l2(const struct subject *subject, struct dory_buffers *buffers)
{
    memset(buffers->l2, 0xA5, subject->network->l2_bytes);
}

/* Of weights that stay in L2. */
static void forget_to_load(const struct subject *subject)
{
    if (subject->network->resident_bytes == 0)
        return;
    inject(subject, "weights not loaded", (struct mistakes){.without_load = true}, DORY_ERROR_NOT_LOADED);
    inject(subject, "weights overwritten", (struct mistakes){.overwrite = fill_l2}, DORY_ERROR_NOT_LOADED);
}

static void pass_null(const struct subject *subject)
{
    struct dory_buffers buffers = {.l1 = NULL};
    struct tally *tally = tally_of("null pointers for network and buffers", DORY_ERROR_ARGUMENT);
    tally->injected += 6;
    tally->reported += dory_network_run_all(NULL, &buffers, NULL, NULL) == DORY_ERROR_ARGUMENT;
    tally->reported += dory_network_run_all(subject->network, NULL, NULL, NULL) == DORY_ERROR_ARGUMENT;
    tally->reported += dory_network_load(NULL, &buffers) == DORY_ERROR_ARGUMENT;
    tally->reported += dory_network_load(subject->network, NULL) == DORY_ERROR_ARGUMENT;
    tally->reported += dory_network_check_flash(NULL, &buffers) == DORY_ERROR_ARGUMENT;
    tally->reported += dory_network_check_flash(subject->network, NULL) == DORY_ERROR_ARGUMENT;
}

/* A real overflow, on a core, as far as the guard. The host tells a running core what it has used; others need not. */
static unsigned grow(unsigned core)
{
    struct hal_stack stack;
    volatile uint8_t frame[1024];
    frame[0] = 1;
    bool is_there = hal_stack_peak(core, &stack) != DORY_OK || stack.peak_bytes > stack.bytes;
    return frame[0] + (is_there ? 0 : grow(core));
}

static int overflow(void *user, const struct dory_buffers *buffers, unsigned layer)
{
    (void)user, (void)buffers, (void)layer;
    return grow(hal_core_id()) ? DORY_OK : DORY_ERROR_ARGUMENT;
}

static int refuse(void *user, const struct dory_buffers *buffers, unsigned layer)
{
    (void)user, (void)buffers, (void)layer;
    return DORY_ERROR_MISMATCH;
}

static void spoil_observers(const struct subject *subject)
{
    /* The observer runs on the driver, and the fabric controller's stack is that of this process. */
    if (driver == HAL_HOST_DRIVER_LAST_CORE)
        inject(subject, "stack overflow", (struct mistakes){.observe = overflow}, DORY_ERROR_STACK);
    inject(subject, "observer that ends the run", (struct mistakes){.observe = refuse}, DORY_ERROR_MISMATCH);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static void test_subject(const struct subject *subject)
{
    use_subject(subject, &(struct mistakes){.machine = {.seed = 1, .driver = driver}}, &sound);
    snprintf(injection, sizeof injection, "%s, nothing", subject->name);
    expect(sound.status == DORY_OK && !sound.counters.violations && sound.output_bytes > 0, "without any fault", &sound);
    fail_calls(subject);
    spoil_memories(subject);
    spoil_flash(subject);
    spoil_buffers(subject);
    forget_to_open(subject);
    forget_to_load(subject);
    pass_null(subject);
    spoil_observers(subject);
}

/* A line for each kind of fault, and all of them together. */
static void print_tallies(void)
{
    int injected = 0, reported = 0;
    for (int i = 0; i < kinds; i++) {
        const struct tally *tally = &tallies[i];
        printf("%-38s %4d of %4d: %s\n", tally->kind, tally->reported, tally->injected,
               tally->expected ? dory_strerror(tally->expected) : "the result is exact");
        EXPECT(tally->reported == tally->injected, "%s", tally->kind);
        injected += tally->injected;
        reported += tally->reported;
    }
    printf("%d faults injected into %d networks, %d reported or harmless as they should be\n", injected, SUBJECTS, reported);
    EXPECT(injected >= 200, "that few faults: %d", injected);
}

int main(void)
{
    signal(SIGALRM, hangs);
    for (driver = HAL_HOST_DRIVER_LAST_CORE; driver <= HAL_HOST_DRIVER_FABRIC_CONTROLLER; driver++)
        for (int i = 0; i < SUBJECTS; i++)
            test_subject(&subjects[i]);
    print_tallies();
    return expect_result("faults");
}
