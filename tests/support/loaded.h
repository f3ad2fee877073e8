/* What most tests do: pack a model, load it, look at network and messages. */
#ifndef DORY_TESTS_LOADED_H
#define DORY_TESTS_LOADED_H

#include <string.h>

#include "import/load.h"
#include "onnx_builder.h"
#include "plan/plan.h"

struct loaded {
    struct arena arena;
    struct diagnostics diagnostics;
    struct network *network; /* null after errors */
};

/* Loads the model and frees the builder. */
static inline void load_built(struct loaded *loaded, struct onnx_builder *builder)
{
    size_t length;
    *loaded = (struct loaded){0};
    loaded->diagnostics.arena = &loaded->arena;
    uint8_t *bytes = onnx_builder_pack(builder, &length);
    loaded->network = network_load_memory(bytes, length, "test.onnx", NULL, &loaded->arena, &loaded->diagnostics);
    onnx_builder_free(builder);
}

static inline bool has_message(const struct diagnostics *diagnostics, enum severity severity, const char *node,
                               const char *text)
{
    for (int i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *entry = &diagnostics->list[i];
        bool of_node = !node || (entry->node && !strcmp(entry->node, node));
        if (entry->severity == severity && of_node && strstr(entry->text, text))
            return true;
    }
    return false;
}

#endif
