/* The plan: everything that is decided about a network on a target. The emitter prints it, the report explains it, the
 * check pass re-proves it, tests execute it; nobody computes anything of it a second time.
 *
 * It holds the very structs that the firmware will have (dory/network.h), and beside them what only people and checks
 * want to know. Offsets in steps and transfers are final after `place`; before, they are offsets inside their buffers.
 */
#ifndef DORYGEN_PLAN_H
#define DORYGEN_PLAN_H

#include "base/support.h"
#include "describe/describe.h"
#include "dory/contract.h"
#include "dory/network.h"
#include "network/network.h"
#include "target/target.h"

/* A range of L2 that holds one thing from step to step. */
enum plan_buffer_kind { BUFFER_TENSOR, BUFFER_WINDOW, BUFFER_WEIGHTS, BUFFER_RING };

struct plan_buffer {
    enum plan_buffer_kind kind;
    const char *name; /* for people: "conv1 weights, channels 64-127" */
    int tensor;       /* index, or -1 */
    int layer;        /* whose weights, or -1 */
    uint32_t bytes;
    int first_step,
        last_step;   /* occupied from the start of first_step (transfers into it may start) to the end of last_step */
    uint32_t offset; /* in the L2 arena, multiple of DORY_ALIGNMENT; set by place */
};

/* IN_RING: between layers of a block, which take turns: never whole, but a ring of its rows is in L2 (dory/network.h). */
enum memory_level { IN_L2, IN_RAM, IN_RING };

struct plan_tensor {
    enum memory_level level;
    int buffer;          /* IN_L2, IN_RING: index of its buffer */
    uint32_t ram_offset; /* IN_RAM */
    uint32_t bytes;
    enum dory_layout layout; /* CHW not with IN_RAM */
};

struct requantisation;

struct plan_layer {
    struct dory_layer record; /* as the firmware gets it; record.kernel is null here */
    const struct dory_engine *engine;
    const struct dory_kernel_description *kernel; /* of the engine */
    int first_step, last_step;                    /* those of other layers may lie between them */
    int step_count;                               /* its own */
    int block;                                    /* the first layer of the block that it is in; -1: it is in none */
    uint64_t macs;
    uint64_t predicted_cycles; /* kernels, L2-L1 transfers and overhead; without waits for L3 */
    uint64_t kernel_cycles, dma_cycles, exposed_cycles;
    uint32_t tile_count;
    uint32_t weights_bytes;   /* of the blob; 0 without weights */
    uint32_t weights_address; /* of the blob in the flash image */
    bool shares_weights; /* its blob is the owner's, a layer's in front of it or itself, with constants of its own ... */
    int owner;
    uint32_t constants_address; /* ... which are there in the flash image, those of its blocks behind one another */
    bool resident;              /* the blob is in memory before a run: resident_offset, or linked */
    uint32_t l1_bytes;          /* used of the arena */
    uint8_t inputs_stay;        /* bit i: input i is where the layer before computes it in L1, see finish.c */
    bool inputs_are_early;      /* all others come while the layer before works */
    bool is_left_in_l1;         /* so the next layer has all of the output, and nobody else reads it */
    bool is_added;              /* an addition whose elements the cores make with those of the layer before: add.c */
    const struct requantisation *requantisation; /* how, and how that is known to be right; null but for convolutions */
};

struct plan_step {
    struct dory_step record; /* record.layer is null here */
    int layer;
    int input_buffer[2], output_buffer, weights_buffer; /* -1: none */
    /* predicted, after the end of the last layer that was completed, as if steps of others had taken no time behind it, and
     * without waits for L3: timeline.h adds both */
    uint64_t fetch_cycles;    /* its first loads are issued: the transfers it awaits must be complete */
    uint64_t start_cycles;    /* it starts to compute: the transfers it starts are queued */
    uint64_t early_cycles;    /* of these times nothing: to load its first weights, where that is early. 0: it is not */
    uint32_t l3_busy_percent; /* of its time, L3 moves data: known when the plan is finished, else 0 */
};

struct plan_transfer {
    struct dory_transfer record;
    int buffer;
    int start_step;  /* may be queued when this step starts to compute */
    int needed_step; /* complete before this step; for a write: before its buffer is used anew */
};

/* Bytes that a run moves between two levels of memory: the energy that it takes beside computing. */
struct plan_traffic {
    uint64_t flash_bytes, ram_bytes; /* between L3 and L2 */
    uint64_t l1_bytes;               /* between L2 and L1, by DMA */
    uint64_t cycles;                 /* of the run, but its start; 0: there is no such plan */
};

/* What is known of all plans that were compared, of one candidate a layer and one level a tensor. They were compared without
 * what is done to the plan behind the search (plan_bring_early), which may bring it below the bound. */
struct plan_proof {
    uint64_t searched_cycles; /* of this plan, when it was compared */
    uint64_t bound_cycles;    /* none takes fewer */
    uint64_t compute_cycles;  /* of the fastest candidates, were there no L3 */
    uint64_t tail_cycles; /* at least: what L2 cannot hold when layer `tail_layer` starts must come from L3 from then on */
    uint64_t tail_bytes;  /* that */
    int tail_layer;
    int nodes, rounds; /* of the solver's search */
    bool is_optimal;   /* proven: searched_cycles are bound_cycles, but for a millionth */
};

struct plan {
    const struct network *network;
    const struct target *target;
    unsigned cores;
    uint32_t l1_arena_bytes, l2_arena_bytes; /* what there is */
    uint32_t l1_peak_bytes, l2_peak_bytes;   /* what is used: the sizes in the generated header */
    uint32_t l2_firmware_bytes;              /* of L2, for code and application; 0: not known */
    uint32_t l2_application_bytes;           /* of these, the application's share */
    uint32_t l2_live_bytes;                  /* lower bound of l2_peak_bytes: the most that lives at one step */
    uint64_t l2_gap_cycles; /* by which the same decision would be faster at most, if L2 were one piece at any time */

    struct plan_tensor *tensors; /* network->tensor_count */
    struct plan_layer *layers;   /* network->layer_count */
    struct plan_step *steps;
    int step_count;
    struct plan_transfer *transfers; /* in queue order */
    int transfer_count;
    const struct dory_prepared_tile *tiles; /* of all steps, placed; null: the firmware's driver places them */
    struct plan_buffer *buffers;
    int buffer_count;

    uint32_t ram_bytes;
    uint32_t flash_bytes;     /* of the weight image with its header */
    uint8_t *flash_image;     /* filled by emit/layout.c */
    bool runs_layers;         /* all operands are in place: nobody moves tiles, and L1 has only scratch */
    bool weights_are_linked;  /* the image is a part of the program, and no flash is needed */
    uint32_t resident_offset; /* in the arena, behind all else: the blobs at the start of the image, behind its header ... */
    uint32_t resident_bytes;  /* ... that stay there from run to run; 0: none, or all linked */
    uint64_t flash_cycles;    /* predicted, were all weights brought from the flash; 0: they are, or it does not fit so */
    uint64_t start_cycles;    /* predicted, of a run before its first layer */
    uint64_t predicted_cycles; /* of a run: start, layers and waits for L3 */
    bool is_finished;          /* and what depends on the layer before, which the search leaves out */
    struct plan_traffic moved,
        moved_without_blocks; /* the latter of the fastest plan without any, where this one has some */
    struct plan_proof proof;
};

#define FLASH_HEADER_BYTES DORY_FLASH_HEADER_BYTES /* of the flash image; dory/network.h says what is in it */

/* names.c: from steps and tensors. */
void plan_name_buffers(struct plan *plan, struct arena *arena);

/* ---- addresses.c ---- */

/* To DORY_ALIGNMENT, at whose multiples buffers, weights and tensors begin. */
uint32_t aligned(uint32_t bytes);

struct tensor_life; /* plan/lives.h */

/* Of a plan that is decided, whose buffers have offsets. False after an error was reported: it does not fit flash or RAM; or
 * without one, where weights that stay in L2 have no room behind all else. */
bool plan_set_addresses(struct plan *plan, const struct tensor_life *lives, struct diagnostics *diagnostics);

/* ---- blob.c ---- */

/* Is there a blob of the layer alone in the flash image? */
bool plan_has_own_blob(const struct plan *plan, int layer);

/* The layer's blob, of weights_bytes. False where they are other than the format writes, or constants exceed their form. */
bool plan_write_blob(const struct plan *plan, int layer, uint8_t *blob);

/* The constants of a block, behind its weights; those of all blocks of a layer that shares its weights, else 0. */
uint32_t plan_constants_bytes(const struct plan_layer *layer);
uint32_t plan_all_constants_bytes(const struct plan_layer *layer);

/* The proof's bound is of plans that have neither blocks of layers nor weights that several layers share. */
bool plan_has_bound(const struct plan *plan);

/* These, of a layer that shares its owner's weights. False where its blob is not the owner's with these constants. */
bool plan_write_constants(const struct plan *plan, int layer, uint8_t *constants);

/* True where that is so for all of them. */
bool plan_shares_equal_weights(const struct plan *plan);

/* stay.c: lays outputs that are an input with elements behind to where that lies, where L2 has room for it; of a plan
 * whose buffers have offsets, before it has addresses. */
void plan_stay(struct plan *plan, struct arena *arena);
/* The same of items, one a buffer, that are to be placed: those of such inputs have no bytes, and their leader is the
 * output's buffer. How many. */
struct place_item; /* place/place.h */
int plan_stay_items(const struct plan *plan, struct place_item *items, int *leader);
/* The output, a tensor, that lies where this input of the network does; -1: none. */
int plan_output_of_input(const struct plan *plan, int tensor);

/* Where steps find their operands and weights in L2, by the offsets of buffers. */
void plan_write_offsets(struct plan *plan);

/* merge.c: joins transfers of a plan that gets a table of tiles, as it was decided: in lists of its own. False where there
 * is nothing to join, or no room for it; the plan is not to be used then. */
bool plan_merge_transfers(struct plan *plan, struct arena *arena);

/* Gives a plan copies of its lists, which may be changed. */
void plan_own_lists(struct plan *plan, struct arena *arena);

/* ---- await.c ---- */

/* Of a plan that gets a table of tiles: awaits transfers at earlier steps, where nobody waits for them, so
 * that the cores need to meet the driver less often. */
void plan_await_together(struct plan *plan, struct arena *arena);

/* Predicted cycles of a plan with a table, and what meetings take beside that: to compare such plans by. */
uint64_t plan_meeting_cycles(const struct plan *plan);

/* The same of a plan as it will be behind plan_bring_early, which is forgotten. */
uint64_t plan_finished_cycles(const struct plan *plan);

/* Of such a plan, behind that: awaits the first weights of layers before the layer in front of them, where these can come
 * early then (see below) and the finished plan is predicted to be faster. */
void plan_await_early(struct plan *plan, struct arena *arena);

/* ---- join_tiles.c ---- */

/* Of a plan that gets a table of tiles: joins the tiles of layers to one where the finished plan is predicted to be faster
 * with that, as results stay in L1 then (see below). */
void plan_join_tiles(struct plan *plan, struct arena *arena);

/* ---- finish.c ---- */

/* Brings the first weights of layers beside the layer before, where L1 has room for them, has the cores of a table compute a
 * layer from where the one before has left its results in L1, and predicts anew. `has_table`: of its tiles, see below. */
void plan_bring_early(struct plan *plan, bool has_table, struct arena *arena);

/* ---- add.c ---- */

/* Whether nobody but the next layer reads the layer's output, which lives in L2 where it lives at all. */
bool plan_is_for_next_alone(const struct plan *plan, int layer);

/* Whether a layer of one tile, an addition whose input number `input` is what the layer before has left in L1, can be made
 * by that one's kernel, and is faster so; before it is laid. */
bool plan_may_add(const struct plan *plan, int layer, unsigned input);

/* Has it made so, of the input that stays, and not. */
void plan_set_added(struct plan *plan, int layer, struct arena *arena);
void plan_unset_added(struct plan *plan, int layer);

/* in_place.c: a plan of which nothing is copied runs its layers without a driver of tiles, who takes nothing of L1 then. */
void plan_run_layers(struct plan *plan);

/* overlap.c: of such a plan for one core, lays outputs over inputs that nobody reads behind them, where that takes less L2.
 */
void plan_overlap(struct plan *plan, struct arena *arena);

/* The tiles of all steps, as the firmware's driver would place them, plan_tile_count() of them. Null where
 * one of their copies is larger than what a table can say, or something is in place, of which it can say nothing. */
struct dory_prepared_tile *plan_place_tiles(const struct plan *plan, struct arena *arena);
uint32_t plan_tile_count(const struct plan *plan);

/* The last tile of a layer, as the firmware places it. */
struct dory_placed_tile;
void plan_last_tile(const struct plan *plan, int layer, struct dory_placed_tile *last);

#endif
