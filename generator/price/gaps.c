/* Places found while a decision is played. Where all that lives fits L2 in bytes but not in places, something has to give:
 * what must live gets places first, as if nothing were prefetched; a prefetch then starts as soon as there is a gap that is
 * free until its data have been used. So what is lost in gaps is lost where they are, and no more. */
#include "price/draft.h"

#include "dory/hal.h"

struct gaps {
    struct place_item *items; /* the tensors in L2, then the buffers of the draft */
    int tensors, count;
    struct gaps_variant variant;
    uint32_t limit;
    int last_layer; /* of those that something has been prefetched for */
    struct range *ranges;
};

struct range {
    uint32_t start, end;
};

static void add_tensors(struct gaps *gaps, const struct draft *draft)
{
    const struct problem *p = draft->problem;
    for (int t = 0; t < p->network->tensor_count; t++) {
        struct place_item *item = &gaps->items[gaps->tensors];
        if (draft->decision->levels[t] != IN_L2 || p->network->tensors[t].view)
            continue;
        item->bytes = p->tensor_bytes[t];
        draft_tensor_steps(draft, t, &item->first, &item->last);
        gaps->tensors++;
    }
}

static void add_buffers(struct gaps *gaps, const struct draft *draft)
{
    int steps = draft_steps(draft);
    gaps->count = gaps->tensors;
    for (int l = 0; l < draft->problem->network->layer_count; l++)
        for (int i = 0; i < draft->profiles[l]->buffer_count; i++) {
            const struct profile_buffer *buffer = &draft->profiles[l]->buffers[i];
            int first = draft->first_step[l] + buffer->first_step, last = draft->first_step[l] + buffer->last_step;
            gaps->items[gaps->count++] =
                (struct place_item){.bytes = buffer->bytes, .first = first, .last = last < steps ? last : steps - 1};
        }
}

static struct gaps *list_items(const struct draft *draft, struct gaps_variant variant)
{
    int layers = draft->problem->network->layer_count;
    size_t most = (size_t)(draft->problem->network->tensor_count + draft->first_buffer[layers]) + 1;
    struct gaps *gaps = arena_allocate(draft->arena, sizeof *gaps);
    *gaps = (struct gaps){.items = arena_array(draft->arena, struct place_item, most),
                          .variant = variant,
                          .limit = draft->l2_bytes,
                          .ranges = arena_array(draft->arena, struct range, most)};
    add_tensors(gaps, draft);
    add_buffers(gaps, draft);
    return gaps;
}

struct gaps *gaps_start(const struct draft *draft, struct gaps_variant variant)
{
    struct gaps *gaps = list_items(draft, variant);
    uint32_t peak = place_again(draft->problem->placements, gaps->items, gaps->count, DORY_ALIGNMENT, gaps->limit,
                                variant.care, draft->arena);
    return peak <= gaps->limit ? gaps : NULL;
}

uint32_t gaps_least_bytes(const struct draft *draft, enum place_care care)
{
    const struct gaps *gaps = list_items(draft, (struct gaps_variant){0});
    return place(gaps->items, gaps->count, DORY_ALIGNMENT, 0, care, draft->arena);
}

/* ---- a gap ---- */

static int add_range(struct gaps *gaps, int count, const struct place_item *item, const struct place_item *meets)
{
    if (item == meets || item->last < meets->first || meets->last < item->first)
        return count;
    gaps->ranges[count] = (struct range){item->offset, item->offset + item->bytes};
    return count + 1;
}

/* What lives beside an item: of buffers, those of layers from the one before that at work on can. */
static int collect(struct gaps *gaps, const struct draft *draft, const struct place_item *item)
{
    int first = draft->layer > 0 ? block_start(draft->decision, draft->layer - 1) : 0, count = 0;
    for (int i = 0; i < gaps->tensors; i++)
        count = add_range(gaps, count, &gaps->items[i], item);
    for (int i = draft->first_buffer[first]; i < draft->first_buffer[gaps->last_layer + 1]; i++)
        count = add_range(gaps, count, &gaps->items[gaps->tensors + i], item);
    return count;
}

/* The first of the ranges that is in the way of so many bytes from an offset on; null: none is. */
static const struct range *in_the_way(const struct gaps *gaps, int count, uint64_t offset, uint32_t bytes)
{
    for (const struct range *range = gaps->ranges; range < gaps->ranges + count; range++)
        if (range->start < offset + bytes && range->end > offset)
            return range;
    return NULL;
}

/* The lowest gap, or the highest: behind, or in front of, whatever is in the way. False where there is none. */
static bool find_gap(const struct gaps *gaps, int count, struct place_item *item)
{
    bool is_above = gaps->variant.from_above, fits = item->bytes <= gaps->limit;
    uint32_t most = fits ? gaps->limit - item->bytes : 0, offset = is_above ? most : 0;
    for (const struct range *range; fits && (range = in_the_way(gaps, count, offset, item->bytes)) != NULL;) {
        fits = is_above ? range->start >= item->bytes : range->end <= most;
        offset = is_above ? range->start - item->bytes : range->end;
    }
    item->offset = fits ? offset : item->offset;
    return fits;
}

bool gaps_take(struct gaps *gaps, const struct draft *draft, const struct item *item, int step)
{
    struct place_item *own = &gaps->items[gaps->tensors + item->buffer];
    int before = own->first;
    if (step >= before)
        return true;
    gaps->last_layer = item->layer > gaps->last_layer ? item->layer : gaps->last_layer;
    own->first = step;
    if (find_gap(gaps, collect(gaps, draft, own), own))
        return true;
    own->first = before;
    return false;
}

uint32_t gaps_write(const struct gaps *gaps, struct plan_buffer *buffers)
{
    uint32_t peak = 0;
    for (int i = 0; i < gaps->count; i++) {
        uint32_t end = gaps->items[i].offset + gaps->items[i].bytes;
        buffers[i].offset = gaps->items[i].offset;
        peak = end > peak ? end : peak;
    }
    return peak;
}
