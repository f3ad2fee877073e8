/* What the parts of the search share: levels.c, starts.c, moves.c, search.c, fuse.c, optimise.c. Internal to them. */
#ifndef DORYGEN_OPTIMISER_H
#define DORYGEN_OPTIMISER_H

#include "place/place.h"
#include "search/model.h"
#include "search/search.h"

struct optimiser {
    const struct problem *problem;
    const struct network *network; /* the problem's */
    struct decision now;           /* the one at hand, which moves change */
    enum spill *spill;
    bool *may_be_chw;      /* by tensor */
    uint32_t left_to_gaps; /* bytes of L2 that decisions do not use */
    bool some_spill; /* where L2 has room for all tensors and for what layers like to have beside them, none leaves it */
    bool ports_may_spill;     /* inputs and outputs of the network: only where one must, and tensors are few */
    bool tries_all_cuts;      /* the best decision: all cuts are tried */
    uint64_t effort;          /* steps and transfers that have been looked at */
    struct outcome best;      /* so far */
    struct decision realised; /* the last one for which places have been sought, and with which care */
    enum place_care realised_care;
    enum place_care care; /* with which places are sought for the prices of search_places */
};

/* With nothing decided, and nothing found. */
struct optimiser optimiser_make(const struct problem *problem);

/* ---- bounds.c ---- */

/* Of the fastest candidates in a decision's layouts, were there no L3. */
uint64_t computing_cycles(const struct decision *decision);

/* The bound of what is to come from L3 when a layer starts, in the proof of the best outcome so far. */
void find_tail(struct optimiser *optimiser);

/* ---- levels.c ---- */

/* Which tensors can be in CHW, and may by the options. */
void layouts_find(const struct problem *problem, bool *may_be_chw);

/* Where a tensor lives, in the layout that it then has first of all. */
enum dory_layout first_layout(const struct optimiser *optimiser, int tensor, enum memory_level level);
void set_level(struct optimiser *optimiser, int tensor, enum memory_level level);

/* Bytes of L2 for what lives. */
uint32_t usable_bytes(const struct optimiser *optimiser);

/* What a candidate takes, roughly. */
uint64_t candidate_guess(const struct candidate *candidate);

/* Bytes of L2 with which a layer runs at all, by the decision's levels. */
uint64_t layer_need(const struct decision *decision, int layer);

/* Tensors to RAM as long as some layer could not run otherwise, those first that free the most bytes for their traffic. */
void choose_levels(struct optimiser *optimiser);

/* False for inputs and outputs of the network that need not go to RAM. */
bool may_spill(const struct optimiser *optimiser, int tensor);

/* Which levels are left to the model; after choose_levels has said what must be in RAM. */
void choose_spills(struct optimiser *optimiser);

/* ---- guess.c ---- */

/* Bytes of L2 that the decision's tensors leave to a layer. */
uint32_t room_beside_tensors(const struct optimiser *optimiser, int layer);

/* The candidate with the best guess that needs at most so many bytes beside the tensors in L2; null: none does. */
const struct candidate *best_guess(const struct decision *decision, int layer, uint32_t bytes,
                                   uint64_t (*guess)(const struct candidate *));

/* The candidate of a layer that should do best in what the tensors leave of L2; false where there is none. */
bool guess_cut(struct optimiser *optimiser, int layer);

/* For levels that have changed: a guess of the layer's cut, or its block in so many turns, 0: as many as it has. False:
 * there is none. */
bool cut_anew(struct optimiser *optimiser, int layer, uint32_t turns);

/* ---- improve.c ---- */

#define MISFIT       (1ull << 62) /* prices from it on: bytes of L2 that are missing */
#define START_EFFORT 500000       /* steps and transfers that the way from one start looks at */

/* Predicted cycles of the decision at hand, at least where these are above the limit; of what does not fit how many bytes
 * are missing, above MISFIT. */
uint64_t price_now(struct optimiser *optimiser, uint64_t limit);

/* Of all candidates of a layer the one with the best price; `price`: of the decision at hand. */
uint64_t choose_cut(struct optimiser *optimiser, int layer, uint64_t price, uint64_t most_effort);

/* Other candidates, layer by layer, as long as the network gets faster: its price then. */
uint64_t improve_all(struct optimiser *optimiser, uint64_t price, uint64_t most_effort);
void improve(struct optimiser *optimiser);

/* Keeps the decision if it is faster than all before, with offsets for all buffers. */
void realise(struct optimiser *optimiser);

/* The same with places that are found with so much care. */
void keep_placed(struct optimiser *optimiser, enum place_care care);

/* ---- starts.c ---- */

/* To a guess to start with, its cuts improved one by one: its price; UINT64_MAX: there is none. */
uint64_t find_start(struct optimiser *optimiser);

/* ---- moves.c ---- */

#define MAXIMUM_AROUND 16 /* layers at a tensor */

/* Adds the layers that write and read a tensor to `count` of them, each of which is there once: how many there are then. */
int layers_around(const struct network *network, int tensor, int *layers, int count);

/* True where a tensor may live so. */
bool is_possible(const struct optimiser *optimiser, int tensor, enum memory_level level, enum dory_layout layout);

/* From the decision at hand, which has this price, to one that no such move makes faster, as far as the effort allows: its
 * price. */
uint64_t descend(struct optimiser *optimiser, uint64_t price, uint64_t effort);

/* ---- fuse.c ---- */

/* Forms blocks as long as that makes the decision at hand faster, or where it is to spare RAM, spares that for little time;
 * around the first tensors first, or around the last. */
void fuse(struct optimiser *optimiser, bool spares_ram, bool last_first);

/* Where no decision without blocks fits: by pixels around the layers that lack L2 with all tensors in RAM, such as the map
 * of a head's scores, and from there on. What comes of it is in the best outcome. */
void fuse_lacking(struct optimiser *optimiser);

/* ---- search.c ---- */

/* True where all ways are looked at, as moves are cheap. */
bool has_few_layers(const struct optimiser *optimiser);

/* More than half of the best decision's time goes to RAM and back. */
bool memory_is_tight(const struct optimiser *optimiser);

/* To a decision without blocks that is fast by its price, which is returned, and to the fastest such ones with places on the
 * way. UINT64_MAX: there is none. */
uint64_t search(struct optimiser *optimiser);

/* From the decision at hand, which has this price, to a faster one, which is at hand then: its price. */
uint64_t search_prices(struct optimiser *optimiser, uint64_t price);

/* From the decision at hand, or the best so far, to faster ones by their prices with places: by several walks, of which the
 * best counts. */
void search_places(struct optimiser *optimiser);

/* At the end, of networks of small layers alone: from the best decision so far to one that no single move makes faster, if
 * that has places. Elsewhere it finds nothing that is worth its time. */
void descend_among_all_cuts(struct optimiser *optimiser);

#endif
