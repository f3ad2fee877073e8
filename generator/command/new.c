/* dory new: a firmware project around a model, to be built as it is and to be changed from there. */
#include <string.h>
#include <unistd.h>

#include "base/array_file.h"
#include "base/outputs.h"
#include "base/terminal.h"
#include "base/text.h"
#include "command/commands.h"
#include "command/load_model.h"
#include "command/project_template.h"
#include "emit/emit.h"

/* Of an input's sides, at most: the part of the camera's 324 x 244 pixels that it shows has some pixels then. */
#define CAMERA_RATIO 30

/* What a project may be for. */
static const struct board {
    const char *name;
    const char *files;  /* the templates' folder */
    const char *preset; /* of CMake, of the first build that it tells its reader; null: the host's */
} boards[] = {
    {"ai-deck", "ai-deck", NULL},   {"cortex-m4", "plain", "m4"},   {"cortex-m7", "plain", "m7"},
    {"cortex-m33", "plain", "m33"}, {"cortex-m55", "plain", "m55"},
};

/* Null: there is none of that name, or none is asked for. */
static const struct board *find_board(const struct options *options)
{
    for (size_t i = 0; options->board && i < sizeof boards / sizeof *boards; i++)
        if (!strcmp(boards[i].name, options->board))
            return &boards[i];
    return NULL;
}

static const char *files_of(const struct options *options)
{
    const struct board *board = find_board(options);
    return board ? board->files : "plain";
}

static bool has_camera(const struct options *options) { return !strcmp(files_of(options), "ai-deck"); }

/* ---- what the templates' words stand for ---- */

/* The C type of a tensor's elements; several of less than 8 bits share a byte. */
static const char *element_type(const struct tensor *tensor)
{
    if (tensor->bits < 8)
        return "uint8_t";
    return tensor->bits == 32   ? "int32_t"
           : tensor->bits == 16 ? (tensor->is_signed ? "int16_t" : "uint16_t")
                                : (tensor->is_signed ? "int8_t" : "uint8_t");
}

/* "input", or of several "input_1"; and the word that macros have for it. */
static const char *port_name(const char *role, int index, int count, struct arena *arena)
{
    return count > 1 ? arena_format(arena, "%s_%d", role, index) : role;
}

static void declare_ports(struct text *text, const struct network *network, const int *tensors, int count, const char *role,
                          const char *upper)
{
    for (int i = 0; i < count; i++) {
        const char *name = port_name(role, i, count, text->arena);
        const char *type = element_type(&network->tensors[tensors[i]]);
        text_add(text, "static %s %s[%s_%s_BYTES / sizeof(%s)] DORY_L2;\n", type, name, upper,
                 emit_upper_case(name, text->arena), type);
    }
}

static const char *declarations(const struct network *network, const char *upper, struct arena *arena)
{
    struct text text = {.arena = arena};
    declare_ports(&text, network, network->inputs, network->input_count, "input", upper);
    declare_ports(&text, network, network->outputs, network->output_count, "output", upper);
    return text.bytes;
}

static void list_ports(struct text *text, const char *qualifier, const char *role, int count)
{
    text_add(text, "(%svoid *const[]){", qualifier);
    for (int i = 0; i < count; i++)
        text_add(text, "%s%s", i ? ", " : "", port_name(role, i, count, text->arena));
    text_add_string(text, "}");
}

/* What NAME_run gets behind the buffers. */
static const char *run_arguments(const struct network *network, struct arena *arena)
{
    struct text text = {.arena = arena};
    if (network->input_count == 1 && network->output_count == 1)
        return "input, output";
    list_ports(&text, "const ", "input", network->input_count);
    text_add_string(&text, ", ");
    list_ports(&text, "", "output", network->output_count);
    return text.bytes;
}

/* Options that the model was read with, for dory_add_network. */
static const char *network_arguments(const struct options *options, const char *config, struct arena *arena)
{
    struct text text = {.arena = arena};
    bool passes = options->front_end || options->input_bits || options->load.input_is_signed;
    text_add_string(&text, "");
    if (config)
        text_add(&text, " CONFIG %s", config);
    else if (options->range.exact_add)
        text_add_string(&text, " EXACT_ADD");
    if (passes && !config)
        text_add(&text, " OPTIONS%s%s%s%s%s", options->front_end ? " --frontend " : "",
                 options->front_end ? options->front_end : "", options->input_bits ? " --input-bits " : "",
                 options->input_bits ? options->input_bits : "", options->load.input_is_signed ? " --input-signed" : "");
    return text.bytes;
}

/* For dory_add_aideck. */
static const char *output_count(const struct network *network, struct arena *arena)
{
    return network->output_count > 1 ? arena_format(arena, " OUTPUTS %d", network->output_count) : "";
}

/* ---- the files ---- */

/* Nobody's work may be lost. */
static bool is_new(const char *folder, const char *name, struct arena *arena, struct diagnostics *diagnostics)
{
    const char *path = arena_format(arena, "%s/%s", folder, name);
    if (access(path, F_OK) != 0)
        return true;
    diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "%s is there already; dory new writes new projects only", path);
    return false;
}

static bool add_copy(struct outputs *outputs, const char *path, struct arena *arena, struct diagnostics *diagnostics)
{
    size_t bytes;
    const unsigned char *content = file_read(path, &bytes, arena, diagnostics);
    if (content)
        outputs_add(outputs, text_file_name(path), content, bytes);
    return content != NULL;
}

static bool check_names(const struct options *options, struct diagnostics *diagnostics)
{
    const char *file = text_file_name(options->model);
    if (!emit_is_identifier(options->name) || !strcmp(options->name, "firmware") ||
        (has_camera(options) && !strcmp(options->name, "settings")))
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "'%s' cannot be the network's name in C and CMake; choose another with --name", options->name);
    else if (options->board && !find_board(options))
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "there is no board '%s'; --board takes ai-deck, cortex-m4, cortex-m7, cortex-m33 or cortex-m55",
                 options->board);
    else if (strpbrk(file, " \t\"\\$;()#"))
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL,
                 "'%s' has characters that CMake takes for its own; rename the file", file);
    else
        return true;
    return false;
}

/* A camera gives one picture of bytes, grey or in colours. */
static bool check_board(const struct options *options, const struct network *network, struct diagnostics *diagnostics)
{
    const struct tensor *input = &network->tensors[network->inputs[0]];
    if (!has_camera(options))
        return true;
    if (network->input_count > 1)
        diagnose(diagnostics, SEVERITY_ERROR, options->model, NULL,
                 "it has %d inputs, and the camera gives one picture; without --board there is a project for it",
                 network->input_count);
    else if (input->bits != 8 || (input->channels != 1 && input->channels != 3))
        diagnose(diagnostics, SEVERITY_ERROR, options->model, NULL,
                 "its input has %d channels of %d bits; the camera gives 1 (grey) or 3 (colour) of 8 bits; without --board "
                 "there is a project for it",
                 input->channels, input->bits);
    else if (input->width > CAMERA_RATIO * input->height || input->height > CAMERA_RATIO * input->width)
        diagnose(diagnostics, SEVERITY_ERROR, options->model, NULL,
                 "its input of %d x %d pixels has the shape of no picture; without --board there is a project for it",
                 input->height, input->width);
    else
        return true;
    return false;
}

static bool add_project(const struct options *options, const struct network *network, const char *share,
                        struct outputs *outputs, struct arena *arena, struct diagnostics *diagnostics)
{
    const char *upper = emit_upper_case(options->name, arena),
               *config = options->config ? text_file_name(options->config) : NULL;
    const struct replacement replacements[] = {
        {"@name@", options->name},
        {"@NAME@", upper},
        {"@file@", text_file_name(options->model)},
        {"@series@", arena_format(arena, "%.*s", (int)(strrchr(DORY_VERSION, '.') - DORY_VERSION), DORY_VERSION)},
        {"@arguments@", network_arguments(options, config, arena)},
        {"@tensors@", declarations(network, upper, arena)},
        {"@run@", run_arguments(network, arena)},
        {"@output@", port_name("output", 0, network->output_count, arena)},
        {"@type@", element_type(&network->tensors[network->outputs[0]])},
        {"@outputs@", output_count(network, arena)},
        {"@share@", share},
        {NULL, NULL},
    };
    bool good = true;
    for (int i = 0; i < project_template_count; i++) {
        const struct project_template *file = &project_templates[i];
        if (*file->board && strcmp(file->board, files_of(options)) != 0)
            continue;
        const char *text = project_fill(file->text, replacements, arena);
        good = is_new(options->operands[0], file->name, arena, diagnostics) && good;
        outputs_add(outputs, file->name, text, strlen(text));
    }
    return good && (!config || add_copy(outputs, options->config, arena, diagnostics)) &&
           add_copy(outputs, options->model, arena, diagnostics);
}

static void print_next(const struct options *options)
{
    const struct board *board = find_board(options);
    const char *preset = board && board->preset ? board->preset : "host";
    printf("%s holds a firmware of '%s'. Next:\n\n    cd %s\n    cmake --preset %s\n    cmake --build --preset %s\n"
           "    ctest --preset %s\n\n",
           options->operands[0], options->name, options->operands[0], preset, preset, preset);
    if (board && board->preset)
        printf("QEMU runs it. The preset host does the same on this PC.\n");
    else
        printf("The presets virt (RISC-V under QEMU), m4, m7, m33 and m55 (Cortex-M under QEMU) and gap8 do the same for "
               "those machines.\n");
    if (has_camera(options))
        printf("For the deck:\n\n    cmake --preset gap8\n    cmake --build --preset gap8 --target firmware_image\n"
               "    cfloader flash build/gap8/firmware.img deck-bcAI:gap8-fw -w radio://0/80/2M/E7E7E7E7E7\n");
}

enum exit_status command_new(struct invocation *invocation)
{
    const struct options *options = &invocation->options;
    struct arena *arena = &invocation->arena;
    struct diagnostics *diagnostics = &invocation->diagnostics;
    struct outputs outputs = {0};
    const char *share = check_names(options, diagnostics) ? project_find_share("new", arena, diagnostics) : NULL;
    const struct network *network = share ? model_load(options, arena, diagnostics) : NULL;
    if (!network || !check_board(options, network, diagnostics) ||
        !add_project(options, network, share, &outputs, arena, diagnostics) ||
        !outputs_commit(&outputs, options->operands[0], arena, diagnostics))
        return EXIT_FAULT;
    if (!terminal_is_quiet())
        print_next(options);
    return EXIT_DONE;
}
