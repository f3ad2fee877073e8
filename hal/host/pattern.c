/* Memory that is full of a pattern, in pages that cost nothing until they are written: private mappings of a file in memory
 * that has the pattern once. Tests set the machine up thousands of times, with megabytes that most of them never touch. */
#define _GNU_SOURCE /* memfd_create */
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"
#include "stack.h"

static bool extend(struct pattern *pattern, size_t bytes)
{
    if (pattern->bytes == 0)
        pattern->file = memfd_create("dory", MFD_CLOEXEC);
    if (pattern->file < 0 || ftruncate(pattern->file, (off_t)bytes) != 0)
        return false;
    uint8_t *all = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, pattern->file, 0);
    if (all == MAP_FAILED)
        return false;
    fill_words(all, all + bytes, pattern->word);
    munmap(all, bytes);
    pattern->bytes = bytes;
    return true;
}

uint8_t *pattern_map(struct pattern *pattern, void *at, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
    if (body > pattern->bytes && !extend(pattern, body))
        return NULL;
    uint8_t *mapped = mmap(at, body, PROT_READ | PROT_WRITE, MAP_PRIVATE | (at ? MAP_FIXED : 0), pattern->file, 0);
    return mapped == MAP_FAILED ? NULL : mapped;
}
