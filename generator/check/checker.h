/* What the parts of the check pass share. Internal to them. */
#ifndef DORYGEN_CHECKER_H
#define DORYGEN_CHECKER_H

#include "plan/plan.h"

struct checker {
    const struct plan *plan;
    struct diagnostics *diagnostics;
    int faults;
};

#define CHECK_MAXIMUM_FAULTS 8

/* Reports a fault of dory, and only counts those behind the first few. */
void check_fault(struct checker *checker, const char *format, ...) __attribute__((format(printf, 2, 3)));

const char *checker_layer_name(const struct checker *checker, int layer);

/* check_layer.c: a layer on its own. Early weights: where those before it are sound. */
void check_tile(struct checker *checker, int layer);
void check_gap(struct checker *checker, int layer);
void check_shape(struct checker *checker, int layer);
void check_layout(struct checker *checker, int layer);
void check_l1(struct checker *checker, int layer);
void check_blob(struct checker *checker, int layer);
void check_early(struct checker *checker, int layer);
/* Its output overwrites nothing that the layer before uses. */
void check_output_beside(struct checker *checker, int layer);

/* check_added.c: an addition that the kernel of the layer before makes. */
void check_added(struct checker *checker, int layer);

/* check_steps.c: a step or a transfer, all steps of a layer, a buffer, a tensor, and the plan's sizes. */
void check_sizes(struct checker *checker);
void check_step(struct checker *checker, int step);
void check_steps_of_layer(struct checker *checker, int layer);
void check_buffer(struct checker *checker, int buffer);
void check_transfer(struct checker *checker, int transfer);
void check_tensor(struct checker *checker, int tensor);

/* check_window.c */
bool check_is_in_planes(const struct dory_layer *record, unsigned operand);
/* The byte of the tensor at one of its window, and how many from it on follow each other in both. `least`: the first row
 * that anybody reads; in a ring, rows in front of it are those behind the last. */
uint64_t check_window_byte(const struct dory_layer *record, unsigned operand, const struct dory_window *window, uint32_t at,
                           uint32_t least, uint32_t *together);

/* check_views.c: all tensors that are views, which have what copies would have moved, and the byte of its home that is such
 * a byte of a tensor. */
void check_views(struct checker *checker);
uint64_t check_home_byte(const struct tensor *tensor, uint64_t byte);

/* check_in_place.c: its operands that no tile copies. Where its steps are sound. */
void check_in_place(struct checker *checker, int layer);

/* check_overlap.c: a step's output may lie where its input does, if that is in L2 as the rows come and go. */
bool check_may_overwrite(const struct plan *plan, const struct plan_step *step, unsigned operand);

/* The step's layer joins its first input and another one, in one tile, to an output that begins where the first one does. */
bool check_may_extend(const struct plan *plan, const struct plan_step *step);

/* check_memory.c: plays steps and transfers against a model that knows of every byte of L2 and RAM what it holds, who is
 * still to write it and who is still reading it. Needs a plan whose addresses are within bounds. */
void check_memory(struct checker *checker);

/* check_tiles.c: the same for tiles that have been placed. */
void check_tiles(struct checker *checker);

/* check_contents.c: plays these tiles against a model that knows of every byte of L1 what it holds. Needs a table whose
 * copies are within bounds. */
void check_contents(struct checker *checker);

#endif
