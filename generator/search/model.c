/* The mixed integer program of a network. For layer l, with times in cycles:
 *
 *     z(l,c)  1 where candidate c is picked          sum over c = 1
 *     h(t)    1 where tensor t lives in RAM          = sum of z(l,c) over the candidates that have it there
 *     d(l)    duration, waits included               the sum over l is least
 *     p(l)    lead: cycles of the channel to L3 spent on layers from l on before l starts
 *     q(l)    commands to L3 of the layers from l on
 *
 * A layer takes its cycles, and what it reads must come from L3 before it is used:
 *     d(l) >= sum cycles z            d(l) + p(l) + late writes >= sum cycles_from_reads z
 * The channel moves as much as there is time for:
 *     p(l+1) + sum (reads + writes) z <= p(l) + d(l)
 * At every step, what lives and what came too early fit L2:
 *     live(l) + sum most_bytes z <= L2
 *     live(l) + bytes of p(l) <= L2   and likewise at a layer's last step, and where L2 is full while it runs
 * where live(l) is the sum over tensors t that live at l of bytes (1 - h(t)), and p less a set-up for each command is bytes.
 */
#include "search/model.h"

#include <glpk.h>
#include <math.h>

#define SCALE 0.001 /* units of the model: thousands of cycles */

/* Of the simplex in a branch, for each column of the model. It can go round in circles for ever, as it does for NAS_Frontnet
 * in 64,000 bytes of L2; where it does not, it has taken 1.3 at most: for plans.csv, the shared models, 520 random networks
 * and 200 layers, none of which ends without an answer. All branches of a search, at the limit from both of their bases,
 * would take 69 s for the largest of them: 4, of 7,000 columns, at 124 us an iteration. */
#define ITERATIONS_OF_COLUMN 10

struct column_range {
    const struct candidate *candidate;
    int column;
};

struct model_layer {
    struct column_range *picks;
    int count;
    int farthest; /* layer of which weights can be in L2 before this one starts */
    double least_cycles;
};

/* A part of the search tree: what its parent has, and a column that is fixed. */
struct branch {
    int parent, column;
    double value;   /* of the column: 0 or 1 */
    uint64_t bound; /* no pick in it takes fewer cycles; UINT64_MAX: there is none, or others are parts of it */
};

struct model {
    const struct decision *decision; /* its layouts */
    const struct problem *problem;
    const enum spill *spill;
    struct arena *arena;
    int layer_count;
    struct model_layer *layers;
    int *level_column;            /* by tensor; 0: none */
    int duration, lead, commands; /* first columns of d, p, q */
    double cycles_per_byte;
    glp_prob *program;
    struct branch *branches; /* the first one is all of the tree */
    int branch_count;
    /* the row under construction */
    int *indices;
    double *values, *dense;
    int entries;
};

/* ---- rows ---- */

static void add(struct model *m, int column, double value)
{
    if (m->dense[column] == 0)
        m->indices[++m->entries] = column;
    m->dense[column] += value;
}

/* Ends the row: of no effect where it has no entries. */
static void end_row(struct model *m, int type, double bound)
{
    int row = glp_add_rows(m->program, 1), used = 0;
    for (int i = 1; i <= m->entries; i++) {
        int column = m->indices[i];
        double value = m->dense[column];
        m->dense[column] = 0;
        if (fabs(value) < 1e-9)
            continue;
        m->indices[++used] = column;
        m->values[used] = value;
    }
    m->entries = 0;
    glp_set_row_bnds(m->program, row, type, bound, bound);
    glp_set_mat_row(m->program, row, used, m->indices, m->values);
}

typedef double candidate_value(const struct candidate *candidate);

static void add_picks(struct model *m, int layer, candidate_value *value, double factor)
{
    const struct model_layer *of = &m->layers[layer];
    for (int i = 0; i < of->count; i++)
        add(m, of->picks[i].column, factor * value(of->picks[i].candidate));
}

static double one(const struct candidate *c) { return c != NULL; }
static double cycles(const struct candidate *c) { return SCALE * (double)c->cycles; }
static double first_start(const struct candidate *c) { return SCALE * (double)c->first_start_cycles; }
static double traffic(const struct candidate *c) { return SCALE * (double)(c->read_cycles + c->write_cycles); }
static double last_write(const struct candidate *c) { return SCALE * (double)c->last_write_cycles; }
static double cycles_from_reads(const struct candidate *c) { return SCALE * (double)c->cycles_from_reads; }
static double gain_less_reads(const struct candidate *c) { return SCALE * (double)(c->lead_gain - (int64_t)c->read_cycles); }
static double until_written(const struct candidate *c) { return SCALE * (double)(c->write_start_cycles + c->write_cycles); }
static double since_read(const struct candidate *c) { return SCALE * (double)(c->input_cycles + c->rest_cycles); }
static double until_first_written(const struct candidate *c)
{
    return SCALE * (double)(c->write_start_cycles + c->first_write_cycles);
}
static double since_first_read(const struct candidate *c) { return SCALE * (double)(c->first_input_cycles + c->cycles); }
static double read_commands(const struct candidate *c) { return (double)c->read_commands; }
static double first_bytes(const struct candidate *c) { return SCALE * c->first_bytes; }
static double last_bytes(const struct candidate *c) { return SCALE * c->last_bytes; }
static double most_bytes(const struct candidate *c) { return SCALE * c->most_bytes; }
static double carried_bytes(const struct candidate *c) { return SCALE * c->carried_bytes; }

/* ---- L2 ---- */

/* Adds the bytes of tensors that live at a layer, times `factor`; returns those that no level changes. */
static double add_live(struct model *m, int layer, double factor)
{
    const struct tensor_life *lives = m->problem->lives;
    double fixed = 0;
    for (int tensor = 0; tensor < m->problem->network->tensor_count; tensor++) {
        double bytes = SCALE * m->problem->tensor_bytes[tensor];
        if (m->spill[tensor] == SPILL_ALWAYS || layer < lives[tensor].first || layer > lives[tensor].last)
            continue;
        fixed += factor * bytes;
        if (m->level_column[tensor])
            add(m, m->level_column[tensor], -factor * bytes);
    }
    return fixed;
}

/* Ends a row for L2 at a layer in which the bytes of others stand, times `factor`. */
static void end_l2_row(struct model *m, int layer, double factor)
{
    double live = add_live(m, layer, factor);
    end_row(m, GLP_UP, factor * SCALE * m->problem->l2_bytes - live);
}

/* The same for rows in cycles of the channel. Commands of layers from `first` on to the farthest take time, but no bytes. */
static void end_lead_row(struct model *m, int layer, int first)
{
    double setup = SCALE * m->problem->target->l3_setup_cycles;
    add(m, m->commands + first, -setup);
    add(m, m->commands + m->layers[layer].farthest + 1, setup);
    end_l2_row(m, layer, m->cycles_per_byte);
}

static void add_l2_rows(struct model *m, int layer)
{
    if (layer > 0) {
        add_picks(m, layer - 1, carried_bytes, 1);
        add_picks(m, layer, first_bytes, 1);
        end_l2_row(m, layer, 1);
        add(m, m->lead + layer, 1);
        add_picks(m, layer - 1, carried_bytes, m->cycles_per_byte);
        end_lead_row(m, layer, layer);
    }
    add_picks(m, layer, most_bytes, 1);
    end_l2_row(m, layer, 1);
    if (layer + 1 == m->layer_count)
        return;
    add(m, m->lead + layer + 1, 1);
    add_picks(m, layer, last_bytes, m->cycles_per_byte);
    end_lead_row(m, layer, layer + 1);
    add(m, m->lead + layer + 1, 1);
    add(m, m->duration + layer, -1);
    add_picks(m, layer, gain_less_reads, -1);
    end_lead_row(m, layer, layer);
}

/* ---- time ---- */

static bool feeds(const struct model *m, int producer, int reader)
{
    const struct layer *layers = m->problem->network->layers;
    return reader < m->layer_count && layers[reader].inputs[0] == layers[producer].output;
}

/* Writes of layers before may still be under way: at most the last ones of two layers. */
static void add_late_writes(struct model *m, int layer)
{
    if (layer > 0)
        add_picks(m, layer - 1, last_write, 1);
    if (layer > 1 && !feeds(m, layer - 2, layer - 1))
        add_picks(m, layer - 2, last_write, 1);
}

/* What goes to RAM comes back for the next layer: all of it, and its first part, before the first step. */
static void add_return_rows(struct model *m, int layer)
{
    if (!feeds(m, layer, layer + 1))
        return;
    for (int all = 0; all < 2; all++) {
        add(m, m->duration + layer, 1);
        add(m, m->duration + layer + 1, 1);
        add_picks(m, layer, all ? until_written : until_first_written, -1);
        add_picks(m, layer + 1, all ? since_read : since_first_read, -1);
        end_row(m, GLP_LO, 0);
    }
}

static void add_time_rows(struct model *m, int layer)
{
    add(m, m->duration + layer, 1);
    add_picks(m, layer, cycles, -1);
    end_row(m, GLP_LO, 0);

    add(m, m->duration + layer, 1);
    add(m, m->lead + layer, 1);
    add_late_writes(m, layer);
    add_picks(m, layer, cycles_from_reads, -1);
    end_row(m, GLP_LO, 0);

    add(m, m->lead + layer + 1, 1);
    add(m, m->lead + layer, -1);
    add(m, m->duration + layer, -1);
    add_picks(m, layer, traffic, 1);
    if (layer == 0) /* nothing is prefetched before the first step computes */
        add_picks(m, layer, first_start, 1);
    end_row(m, GLP_UP, 0);

    add(m, m->lead + layer + 1, 1);
    add_late_writes(m, layer + 1);
    end_row(m, GLP_LO, 0);

    add(m, m->commands + layer, 1);
    add(m, m->commands + layer + 1, -1);
    add_picks(m, layer, read_commands, -1);
    end_row(m, GLP_FX, 0);
}

/* ---- picks and levels ---- */

static int operand_tensor(const struct model *m, int layer, int operand)
{
    return layer_operand(&m->problem->network->layers[layer], operand);
}

static void add_choice_rows(struct model *m, int layer)
{
    const struct model_layer *of = &m->layers[layer];
    add_picks(m, layer, one, 1);
    end_row(m, GLP_FX, 1);
    for (int operand = 0; operand < 3; operand++) {
        int tensor = operand_tensor(m, layer, operand);
        if (tensor < 0 || !m->level_column[tensor])
            continue;
        for (int i = 0; i < of->count; i++)
            if (of->picks[i].candidate->choice.cut->ram & 1 << operand)
                add(m, of->picks[i].column, 1);
        add(m, m->level_column[tensor], -1);
        end_row(m, GLP_FX, 0);
    }
}

/* True where levels that are possible lead to this set of operands in RAM. */
static bool is_possible(const struct model *m, int layer, uint8_t ram)
{
    for (int i = 0; i < 3; i++) {
        int tensor = operand_tensor(m, layer, i);
        bool in_ram = (ram >> i & 1) != 0;
        if (tensor < 0 ? in_ram : m->spill[tensor] == (in_ram ? SPILL_NEVER : SPILL_ALWAYS))
            return false;
        for (int j = 0; j < i; j++)
            if (tensor >= 0 && operand_tensor(m, layer, j) == tensor && ((ram >> j & 1) != 0) != in_ram)
                return false;
    }
    return true;
}

/* False where the layer cannot run at all. */
static bool collect_picks(struct model *m, int layer)
{
    struct model_layer *of = &m->layers[layer];
    const struct candidate *front;
    of->least_cycles = INFINITY;
    for (uint8_t ram = 0; ram < 8; ram++) {
        int count = is_possible(m, layer, ram) ? candidate_front(layer_of(m->decision, layer), ram, &front) : 0;
        for (int i = 0; i < count; i++) {
            arena_grow(m->arena, of->picks, of->count);
            of->picks[of->count++] = (struct column_range){.candidate = &front[i]};
            of->least_cycles = fmin(of->least_cycles, cycles(&front[i]));
        }
    }
    return of->count > 0;
}

/* ---- columns ---- */

static void add_pick_columns(struct model *m)
{
    for (int l = 0; l < m->layer_count; l++)
        for (int i = 0; i < m->layers[l].count; i++)
            m->layers[l].picks[i].column = glp_add_cols(m->program, 1);
    for (int t = 0; t < m->problem->network->tensor_count; t++)
        if (m->spill[t] == SPILL_FREE)
            m->level_column[t] = glp_add_cols(m->program, 1);
}

static void add_time_columns(struct model *m)
{
    m->duration = glp_add_cols(m->program, m->layer_count);
    m->lead = glp_add_cols(m->program, m->layer_count + 1);
    m->commands = glp_add_cols(m->program, m->layer_count + 1);
    for (int l = 0; l < m->layer_count; l++) {
        glp_set_col_bnds(m->program, m->duration + l, GLP_LO, m->layers[l].least_cycles, 0);
        glp_set_obj_coef(m->program, m->duration + l, 1);
        glp_set_col_bnds(m->program, m->lead + l, l ? GLP_FR : GLP_FX, 0, 0);
        glp_set_col_bnds(m->program, m->commands + l, GLP_LO, 0, 0);
    }
    glp_set_col_bnds(m->program, m->lead + m->layer_count, GLP_FR, 0, 0);
    glp_set_col_bnds(m->program, m->commands + m->layer_count, GLP_FX, 0, 0);
}

/* ---- the network ---- */

/* Weights are queued in the order of need: those of a layer can be early only when all of layers before it fit L2. */
static void find_farthest(struct model *m)
{
    for (int l = 0; l < m->layer_count; l++) {
        uint64_t bytes = 0;
        int layer = l;
        for (; layer + 1 < m->layer_count && bytes <= m->problem->l2_bytes; layer++)
            bytes += layer_brought_bytes(m->problem, layer);
        m->layers[l].farthest = layer;
    }
}

/* The linear program, without any of the branches that fix a choice. */
static void build_program(struct model *m)
{
    glp_term_out(GLP_OFF);
    m->program = glp_create_prob();
    add_pick_columns(m);
    add_time_columns(m);
    size_t columns = (size_t)glp_get_num_cols(m->program) + 1;
    m->indices = arena_array(m->arena, int, columns);
    m->values = arena_array(m->arena, double, columns);
    m->dense = arena_array(m->arena, double, columns);
    for (int l = 0; l < m->layer_count; l++) {
        add_choice_rows(m, l);
        add_time_rows(m, l);
        add_return_rows(m, l);
        add_l2_rows(m, l);
    }
    glp_scale_prob(m->program, GLP_SF_AUTO);
}

struct model *model_make(const struct decision *decision, const enum spill *spill, struct arena *arena)
{
    const struct network *network = decision->problem->network;
    struct model *m = arena_allocate(arena, sizeof *m);
    *m = (struct model){
        .decision = decision,
        .problem = decision->problem,
        .spill = spill,
        .arena = arena,
        .layer_count = network->layer_count,
        .layers = arena_array(arena, struct model_layer, (size_t)network->layer_count),
        .level_column = arena_array(arena, int, (size_t)network->tensor_count),
        .cycles_per_byte = 1000.0 / decision->problem->target->l3_bytes_per_1000_cycles,
    };
    for (int l = 0; l < m->layer_count; l++)
        if (!collect_picks(m, l))
            return NULL;
    find_farthest(m);
    build_program(m);
    arena_grow(arena, m->branches, 0);
    m->branch_count = 1; /* nothing is fixed in it */
    return m;
}

void model_free(struct model *model)
{
    glp_delete_prob(model->program);
    glp_free_env();
}

int model_columns(const struct model *model) { return glp_get_num_cols(model->program); }

/* ---- picks that have been played ---- */

static int column_of(const struct model *m, int layer, const struct candidate *candidate)
{
    for (int i = 0; i < m->layers[layer].count; i++)
        if (m->layers[layer].picks[i].candidate == candidate)
            return m->layers[layer].picks[i].column;
    return 0;
}

void model_exclude(struct model *m, const struct candidate *const *pick)
{
    for (int l = 0; l < m->layer_count; l++)
        add(m, column_of(m, l, pick[l]), 1);
    end_row(m, GLP_UP, m->layer_count - 1);
}

/* ---- solving ---- */

/* Of the least bound: of like ones the last, which is deepest. */
static int best_branch(const struct model *m)
{
    int best = 0;
    for (int i = 1; i < m->branch_count; i++)
        best = m->branches[i].bound <= m->branches[best].bound ? i : best;
    return best;
}

static void fix_columns(struct model *m, int branch)
{
    for (int column = 1; column < m->duration; column++)
        glp_set_col_bnds(m->program, column, GLP_DB, 0, 1);
    for (int b = branch; b > 0; b = m->branches[b].parent)
        glp_set_col_bnds(m->program, m->branches[b].column, GLP_FX, m->branches[b].value, 0);
}

/* A little is taken off, so that what the solver's arithmetic loses makes no bound wrong. */
static uint64_t whole_cycles(double value)
{
    double whole = floor(value / SCALE * (1 - 1e-7));
    return whole > 0 ? (uint64_t)whole : 0;
}

/* The bound of a branch, in which picks may be parted. False where the simplex goes round in circles, from the basis of the
 * branch before and from the first one, too. */
static bool solve_branch(struct model *m, int branch)
{
    int most = m->problem->options->simplex_iterations;
    glp_smcp how;
    glp_init_smcp(&how);
    how.meth = GLP_DUALP;
    how.it_lim = most ? most : ITERATIONS_OF_COLUMN * model_columns(m);
    fix_columns(m, branch);
    int status = glp_simplex(m->program, &how);
    if (status != 0) {
        glp_std_basis(m->program);
        status = glp_simplex(m->program, &how);
    }
    if (status == 0)
        m->branches[branch].bound =
            glp_get_status(m->program) == GLP_OPT ? whole_cycles(glp_get_obj_val(m->program)) : UINT64_MAX;
    return status == 0;
}

/* The last pick or level that is neither 0 nor 1: levels say more. 0: there is none. */
static int parted_column(const struct model *m)
{
    int column = m->duration - 1;
    while (column > 0 && fabs(glp_get_col_prim(m->program, column) - 0.5) > 0.5 - 1e-5)
        column--;
    return column;
}

static void split_branch(struct model *m, int branch, int column)
{
    for (int value = 0; value < 2; value++) {
        arena_grow(m->arena, m->branches, m->branch_count);
        m->branches[m->branch_count++] = (struct branch){branch, column, value, m->branches[branch].bound};
    }
    m->branches[branch].bound = UINT64_MAX;
}

static void read_pick(const struct model *m, const struct candidate **pick)
{
    for (int l = 0; l < m->layer_count; l++)
        for (int i = 0; i < m->layers[l].count; i++)
            if (glp_get_col_prim(m->program, m->layers[l].picks[i].column) > 0.5)
                pick[l] = m->layers[l].picks[i].candidate;
}

enum model_answer model_solve(struct model *m, uint64_t below, const struct candidate **pick, uint64_t *bound, int *nodes)
{
    for (int at; m->branches[at = best_branch(m)].bound < below;) {
        *bound = m->branches[at].bound;
        if (*nodes <= 0 || !solve_branch(m, at))
            return MODEL_OPEN;
        --*nodes;
        if (m->branches[at].bound >= below)
            continue;
        int column = parted_column(m);
        if (!column) {
            read_pick(m, pick);
            return MODEL_PICKED;
        }
        split_branch(m, at, column);
    }
    return MODEL_NONE;
}
