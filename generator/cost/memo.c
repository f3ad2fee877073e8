#include "cost/memo.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM      1024u
#define MAXIMUM_ANSWERS (1u << 20) /* half a gigabyte; then it forgets all of them */

_Static_assert(sizeof(struct cost_key) == sizeof(uint32_t) * 26, "a key has no padding: equal layers have equal bytes");

struct entry {
    struct cost_key key;
    struct cost_answer *answer; /* null: free */
};

struct cost_memo {
    pthread_mutex_t lock;
    struct entry *entries;
    uint32_t room, count; /* room is a power of two, less than half of which is used */
};

struct cost_memo *cost_memo_make(void)
{
    struct cost_memo *memo = calloc(1, sizeof *memo);
    if (memo)
        memo->entries = calloc(FIRST_ROOM, sizeof *memo->entries);
    if (!memo || !memo->entries) {
        free(memo);
        return NULL;
    }
    pthread_mutex_init(&memo->lock, NULL);
    memo->room = FIRST_ROOM;
    return memo;
}

static void forget(struct cost_memo *memo)
{
    for (uint32_t i = 0; i < memo->room; i++) {
        free(memo->entries[i].answer);
        memo->entries[i].answer = NULL;
    }
    memo->count = 0;
}

void cost_memo_free(struct cost_memo *memo)
{
    if (!memo)
        return;
    forget(memo);
    pthread_mutex_destroy(&memo->lock);
    free(memo->entries);
    free(memo);
}

static uint32_t hash(const struct cost_key *key)
{
    uint32_t words[sizeof *key / sizeof(uint32_t)], sum = 2166136261u;
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        sum = (sum ^ words[i]) * 16777619u;
        sum ^= sum >> 15;
    }
    return sum;
}

/* Where the key is, or would be. */
static struct entry *find(struct entry *entries, uint32_t room, const struct cost_key *key)
{
    uint32_t i = hash(key) & (room - 1);
    while (entries[i].answer && memcmp(&entries[i].key, key, sizeof *key) != 0)
        i = (i + 1) & (room - 1);
    return &entries[i];
}

bool cost_memo_find(struct cost_memo *memo, const struct cost_key *key, struct cost_answer *answer)
{
    pthread_mutex_lock(&memo->lock);
    const struct entry *entry = find(memo->entries, memo->room, key);
    bool found = entry->answer != NULL;
    if (found)
        *answer = *entry->answer;
    pthread_mutex_unlock(&memo->lock);
    return found;
}

/* Without memory for more it stays as it is, or forgets. */
static void make_room(struct cost_memo *memo)
{
    struct entry *larger = memo->count < MAXIMUM_ANSWERS ? calloc((size_t)memo->room * 2, sizeof *larger) : NULL;
    if (!larger) {
        forget(memo);
        return;
    }
    for (uint32_t i = 0; i < memo->room; i++)
        if (memo->entries[i].answer)
            *find(larger, memo->room * 2, &memo->entries[i].key) = memo->entries[i];
    free(memo->entries);
    memo->entries = larger;
    memo->room *= 2;
}

void cost_memo_add(struct cost_memo *memo, const struct cost_key *key, const struct cost_answer *answer)
{
    struct cost_answer *copy = malloc(sizeof *copy);
    if (!copy)
        return;
    *copy = *answer;
    pthread_mutex_lock(&memo->lock);
    if (memo->count >= memo->room / 2)
        make_room(memo);
    struct entry *entry = find(memo->entries, memo->room, key);
    memo->count += entry->answer == NULL;
    free(entry->answer); /* of another thread that was as quick */
    *entry = (struct entry){*key, copy};
    pthread_mutex_unlock(&memo->lock);
}
