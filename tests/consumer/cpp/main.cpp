// What a C++ firmware uses of dory: all its headers, objects with constructors, an observer that is a lambda, and functions and
// variables of the HAL that it replaces by its own. Its text is compared with `dory run`.
#include <stdint.h>

#include "digits.h"
#include "dory/check.h"
#include "dory/dump.h"
#include "dory/hal.h"
#include "dory/status.h"

#if __has_include("dory/pulp_log.h")
#include "dory/gap8_clocks.h"
#include "dory/pulp_counters.h"
#include "dory/pulp_interrupts.h"
#include "dory/pulp_log.h"
#include "dory/gap8_registers.h"
#endif
#if __has_include("dory/hal_virt.h")
#include "dory/hal_virt.h"
uint32_t hal_virt_seed = 17;
#endif

namespace {

alignas(DORY_ALIGNMENT) uint8_t l1[DIGITS_L1_BYTES] DORY_L1;
alignas(DORY_ALIGNMENT) uint8_t l2[DIGITS_L2_BYTES] DORY_L2;
uint8_t image[DIGITS_INPUT_BYTES];
int32_t logits[DIGITS_OUTPUT_BYTES / 4];

// An object whose constructor must have run before main: the image, made at run time.
class Input {
public:
    Input()
    {
        for (uint32_t i = 0; i < sizeof image; i++)
            image[i] = static_cast<uint8_t>(i * 37 + 11);
        made = true;
    }
    bool made = false;
};
Input input;

struct Writer {
    virtual void write(const char *text) const = 0;
    void write(int32_t number) const;
};
struct Log final : Writer {
    void write(const char *text) const override { hal_log(text); }
};

void Writer::write(int32_t number) const
{
    char text[12] = {};
    char *first = text + sizeof text - 1;
    uint32_t rest = number < 0 ? 0u - static_cast<uint32_t>(number) : static_cast<uint32_t>(number);
    do
        *--first = static_cast<char>('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--first = '-';
    write(first);
}

template <typename... Calls> int first_failure(Calls... calls)
{
    int status = DORY_OK;
    (void)((status = calls(), status == DORY_OK) && ...);
    return status;
}

} // namespace

#if __has_include("dory/pulp_log.h")
static uint32_t own_characters; // that went through this program's pulp_log_character
const struct gap8_clocks gap8_clocks = {120000000, 120000000};

void pulp_log_character(char character)
{
    own_characters++;
    *reinterpret_cast<volatile uint32_t *>(GAP8_STDOUT_ADDRESS + (PULP_FC_CLUSTER_NUMBER << 7)) = static_cast<uint8_t>(character);
}
#endif

int main()
{
    static const Log log; // a local object, made at its first use
    const Writer &writer = log;
    unsigned layers = 0;
    dory_buffers buffers{};
    buffers.l1 = l1;
    buffers.l1_bytes = sizeof l1;
    buffers.l2 = l2;
    buffers.l2_bytes = sizeof l2;
    buffers.flash_address = hal_flash_address(digits_weights);
    buffers.user = &layers;
    buffers.observe = [](void *user, const dory_buffers *, unsigned) { return ++*static_cast<unsigned *>(user), 0; };
    int status = first_failure([] { return hal_l3_open(nullptr, nullptr); }, [] { return hal_cluster_open(DIGITS_CORES); },
                               [&] { return dory_network_check_flash(&digits_network, &buffers); },
                               [&] { return digits_run(&buffers, image, logits); });
    writer.write("digits:");
    for (int32_t logit : logits) {
        writer.write(" ");
        writer.write(logit);
    }
    writer.write("\n");
    hal_cluster_close();
    hal_l3_close();
    bool good = status == DORY_OK && input.made && layers == digits_network.layer_count;
#if __has_include("dory/pulp_log.h")
    good = good && own_characters > 0;
#endif
    writer.write(good ? "C++: all as it should be\n" : "C++: something was not called\n");
    return good ? 0 : 1;
}
