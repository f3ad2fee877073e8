/* Writes text: asks the network again and again which character comes next, and draws one of those that may.
 *
 * What the network has seen of the text so far are keys and values, a row for each character. It gets those of the last
 * characters and gives the same with the new one's behind. So the application moves them up by a row between two runs: where
 * the plan lets them stay in the network's own buffer, in there, and nothing is copied. */
#include <stdio.h>
#include <string.h>

#include "alphabet.h"
#include "common/app.h"
#include "dory/hal.h"
#include "writer.h"

#define CACHES      (WRITER_INPUT_COUNT - 1)
#define CACHE_BYTES WRITER_OUTPUT_1_BYTES
#define ROW_BYTES   (WRITER_OUTPUT_1_BYTES - WRITER_INPUT_1_BYTES)
#define CHARACTERS  WRITER_INPUT_0_BYTES

static uint8_t l1[WRITER_L1_BYTES] DORY_L1;
static uint8_t l2[WRITER_L2_BYTES] DORY_L2;
static uint8_t character[CHARACTERS] DORY_L2, logits[CHARACTERS] DORY_L2;

#if defined(WRITER_INPUT_1_IN_OUTPUT) && defined(WRITER_INPUT_2_IN_OUTPUT) && defined(WRITER_INPUT_3_IN_OUTPUT) &&          \
    defined(WRITER_INPUT_4_IN_OUTPUT)
static uint8_t *const caches[CACHES] = {l2 + WRITER_INPUT_1_OFFSET, l2 + WRITER_INPUT_2_OFFSET, l2 + WRITER_INPUT_3_OFFSET,
                                        l2 + WRITER_INPUT_4_OFFSET};
#else
static uint8_t caches[CACHES][CACHE_BYTES] DORY_L2;
#endif

/* Likely characters are drawn often, others seldom: by their logits, and by a generator of random numbers. */
static unsigned draw(uint32_t *random)
{
    uint32_t largest = 0, sum = 0;
    for (unsigned i = 0; i < CHARACTERS; i++) {
        largest = logits[i] > largest ? logits[i] : largest;
    }
    for (unsigned i = 0; i < CHARACTERS; i++) {
        sum += likelihoods[largest - logits[i]];
    }
    *random = *random * 1664525u + 1013904223u;
    uint32_t left = (uint32_t)((uint64_t)*random * sum >> 32);
    unsigned drawn = 0;
    while (left >= likelihoods[largest - logits[drawn]]) {
        left -= likelihoods[largest - logits[drawn++]];
    }
    return drawn;
}

/* One more character behind the one given. */
static int write_next(const struct dory_buffers *buffers, unsigned *letter, uint32_t *random)
{
    const void *inputs[WRITER_INPUT_COUNT] = {character};
    void *outputs[WRITER_OUTPUT_COUNT] = {logits};
    memset(character, 0, sizeof character);
    character[*letter] = 1;
    for (unsigned i = 0; i < CACHES; i++) {
        memmove(caches[i], caches[i] + ROW_BYTES, CACHE_BYTES - ROW_BYTES);
        inputs[i + 1] = outputs[i + 1] = caches[i];
    }
    int status = writer_run(buffers, inputs, outputs);
    *letter = draw(random);
    return status;
}

static int write_text(void)
{
    const struct dory_buffers buffers = {
        .l1 = l1,
        .l1_bytes = sizeof l1,
        .l2 = l2,
        .l2_bytes = sizeof l2,
        .flash_address = hal_flash_address(writer_weights),
    };
    unsigned letter = 0; /* the end of a line: a sentence begins */
    uint32_t random = 1;
    int status = dory_network_check_flash(&writer_network, &buffers);
    for (unsigned i = 0; i < CACHES; i++) {
        memset(caches[i], empty[i], CACHE_BYTES);
    }
    for (unsigned i = 0; i < LENGTH && status == DORY_OK; i++) {
        status = write_next(&buffers, &letter, &random);
        putchar(ALPHABET[letter]);
    }
    putchar('\n');
    return status;
}

int main(void) { return app_main(write_text); }
