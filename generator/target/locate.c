#include "target/locate.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char *skip_space(const char *at) { return at + strspn(at, " \t\r\n"); }

/* Behind the string that starts here. */
static const char *skip_string(const char *at)
{
    for (at++; *at && *at != '"'; at++)
        at += *at == '\\' && at[1];
    return *at ? at + 1 : at;
}

/* Behind the value that starts here. */
static const char *skip_value(const char *at)
{
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    } while (*at && (depth > 0 || !strchr(",}]", *at)));
    return at;
}

/* The key of an object, with its quote; null: it has none of that name. */
static const char *find_key(const char *object, const char *key)
{
    size_t length = strlen(key);
    const char *at = skip_space(object + 1);
    while (*at == '"') {
        const char *behind = skip_string(at);
        if (behind == at + length + 2 && !memcmp(at + 1, key, length))
            return at;
        at = skip_space(skip_value(skip_space(skip_space(behind) + 1)));
        at = *at == ',' ? skip_space(at + 1) : at;
    }
    return NULL;
}

/* The object of a name, here or in an object of this one. */
static const char *find_object(const char *object, const char *name)
{
    const char *at = skip_space(object + 1);
    size_t length = strlen(name);
    while (*at == '"') {
        const char *behind = skip_string(at), *value = skip_space(skip_space(behind) + 1);
        bool is_named = behind == at + length + 2 && !memcmp(at + 1, name, length);
        const char *found = *value != '{' ? NULL : is_named ? value : find_object(value, name);
        if (found)
            return found;
        at = skip_space(skip_value(value));
        at = *at == ',' ? skip_space(at + 1) : at;
    }
    return NULL;
}

unsigned json_line(const char *text, const char *object, const char *key)
{
    const char *at = skip_space(text);
    const char *inner = object ? find_object(at, object) : at;
    at = inner ? inner : at;
    const char *found = find_key(at, key);
    unsigned line = 1;
    for (const char *end = found ? found : at; text < end; text++)
        line += *text == '\n';
    return line;
}
