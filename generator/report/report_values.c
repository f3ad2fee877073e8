#include "report/report_values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define REAL_DIGITS 6

static void require(bool done)
{
    if (done)
        return;
    fputs("dory: error: out of memory\n", stderr);
    exit(3);
}

static json_t *required(json_t *value)
{
    require(value != NULL);
    return value;
}

json_t *value_object(void) { return required(json_object()); }
json_t *value_array(void) { return required(json_array()); }

void set_value(json_t *object, const char *key, json_t *value)
{
    require(json_object_set_new(object, key, required(value)) == 0);
}

static json_t *whole_number(uint64_t number) { return json_integer(number > INT64_MAX ? INT64_MAX : (json_int_t)number); }

void set_number(json_t *object, const char *key, uint64_t number) { set_value(object, key, whole_number(number)); }

void set_index(json_t *object, const char *key, int index)
{
    set_value(object, key, index < 0 ? json_null() : json_integer(index));
}

void set_boolean(json_t *object, const char *key, bool truth) { set_value(object, key, json_boolean(truth)); }

void set_ratio(json_t *object, const char *key, uint64_t dividend, uint64_t divisor)
{
    set_value(object, key, divisor ? json_real((double)dividend / (double)divisor) : json_null());
}

/* ---- text of unknown origin ---- */

/* Bytes of the UTF-8 character at `text`, 0 where there is none: stray or missing continuation bytes, overlong forms,
 * surrogates, beyond U+10FFFF. */
static size_t character_bytes(const unsigned char *text)
{
    static const struct {
        unsigned char first, last, second_first, second_last;
        size_t bytes;
    } forms[] = {
        {0x20, 0x7E, 0x00, 0xFF, 1}, {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (text[0] < forms[i].first || text[0] > forms[i].last)
            continue;
        if (forms[i].bytes > 1 && (text[1] < forms[i].second_first || text[1] > forms[i].second_last))
            return 0;
        for (size_t rest = 2; rest < forms[i].bytes; rest++)
            if (text[rest] < 0x80 || text[rest] > 0xBF)
                return 0;
        return forms[i].bytes;
    }
    return 0;
}

void set_text(json_t *object, const char *key, const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char *clean = malloc(strlen(text) * (sizeof replacement - 1) + 1);
    require(clean != NULL);
    size_t length = 0;
    while (*text) {
        size_t bytes = character_bytes((const unsigned char *)text);
        memcpy(clean + length, bytes ? text : replacement, bytes ? bytes : sizeof replacement - 1);
        length += bytes ? bytes : sizeof replacement - 1;
        text += bytes ? bytes : 1;
    }
    set_value(object, key, json_stringn_nocheck(clean, length));
    free(clean);
}

/* ---- arrays, printing ---- */

/* Without what all enumerators of dory begin with. */
static void set_enumerator(json_t *object, const char *key, const char *name)
{
    char word[64];
    const char *rest = strchr(name, '_');
    size_t length = 0;
    for (rest = rest ? rest + 1 : name; *rest && length + 1 < sizeof word; rest++)
        word[length++] = (char)tolower((unsigned char)*rest);
    word[length] = 0;
    set_text(object, key, word);
}

static void set_member(json_t *object, const struct field *field, const void *value)
{
    uint64_t number = field_unsigned(field, value, 0);
    switch (field->kind) {
    case FIELD_ENUM: set_enumerator(object, field->name, field->names[number]); break;
    case FIELD_FLAG: set_boolean(object, field->name, number != 0); break;
    case FIELD_SIGNED: set_value(object, field->name, json_integer(field_signed(field, value, 0))); break;
    default: set_number(object, field->name, number); break;
    }
}

void set_members(json_t *object, const struct record *record, const void *value)
{
    for (size_t i = 0; i < record->field_count; i++)
        if (record->fields[i].kind != FIELD_STRUCT && record->fields[i].count == 1)
            set_member(object, &record->fields[i], value);
}

void append_value(json_t *array, json_t *value) { require(json_array_append_new(array, required(value)) == 0); }
void append_number(json_t *array, uint64_t number) { append_value(array, whole_number(number)); }

const char *value_print(json_t *value, bool compact, struct arena *arena)
{
    size_t layout = compact ? JSON_COMPACT : JSON_INDENT(1);
    char *text = json_dumps(value, layout | JSON_REAL_PRECISION(REAL_DIGITS));
    require(text != NULL);
    const char *kept = arena_format(arena, "%s\n", text);
    free(text);
    json_decref(value);
    return kept;
}
