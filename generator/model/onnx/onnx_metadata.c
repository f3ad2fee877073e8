#include "model/onnx/onnx_metadata.h"

#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"

#define MAXIMUM_PRECISION 64

/* Behind "'key':" of a Python dictionary's text; null: it has no such key. */
static const char *entry_of(const char *text, const char *key)
{
    const char *found = strstr(text, key);
    return found ? found + strlen(key) + strspn(found + strlen(key), " ") : NULL;
}

/* {'precision': 8, 'signed': True}; False and None as well, where None says nothing. */
static bool read_precision(const char *text, int *bits, bool *is_signed)
{
    const char *precision = entry_of(text, "'precision':"), *sign = entry_of(text, "'signed':");
    if (!precision || !sign)
        return false;
    long number = strtol(precision, NULL, 10);
    bool is_true = !strncmp(sign, "True", 4), is_false = !strncmp(sign, "False", 5);
    if (number < 1 || number > MAXIMUM_PRECISION || !(is_true || is_false))
        return false;
    *bits = (int)number;
    *is_signed = is_true;
    return true;
}

void onnx_metadata_read(struct reader *reader, const Onnx__ModelProto *model)
{
    for (size_t i = 0; i < model->n_metadata_props; i++) {
        const Onnx__StringStringEntryProto *entry = model->metadata_props[i];
        int index = entry->key ? name_table_find(reader->names, entry->key) : NO_VALUE;
        if (index == NO_VALUE || !entry->value)
            continue;
        struct value *value = &reader->graph->values[index];
        read_precision(entry->value, &value->precision, &value->is_signed);
    }
}
