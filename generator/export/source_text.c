#include "export/source_text.h"

#include <ctype.h>
#include <string.h>

/* ---- tokens ---- */

static bool is_letter(char character) { return isalnum((unsigned char)character) || character == '_'; }

static size_t word_length(const char *at)
{
    size_t length = 0;
    while (is_letter(at[length]))
        length++;
    return length;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(at, word, length);
}

static bool is_name_of_firmware(const char *at) { return !strncmp(at, "dory_", 5) || !strncmp(at, "hal_", 4); }

static const char *behind_string(const char *at)
{
    const char *end = at + 1;
    for (; *end && *end != *at; end++)
        end += *end == '\\' && end[1];
    return *end ? end + 1 : end;
}

/* Behind the comment, string or character that begins here; else where it is. */
static const char *behind_quoted(const char *at)
{
    const char *end = at[0] == '/' && at[1] == '*' ? strstr(at, "*/") : NULL;
    if (end)
        return end + 2;
    if (at[0] == '/' && (at[1] == '*' || at[1] == '/'))
        return at + strcspn(at, at[1] == '*' ? "" : "\n");
    return *at == '"' || *at == '\'' ? behind_string(at) : at;
}

/* At a # : the text between the quotes of an include, and where it ends; else null. */
static const char *find_include(const char *at, const char **end)
{
    const char *word = at + 1 + strspn(at + 1, " ");
    if (strncmp(word, "include \"", 9) != 0)
        return NULL;
    *end = word + 9 + strcspn(word + 9, "\"\n");
    return **end == '"' ? word + 9 : NULL;
}

/* ---- names ---- */

static void add_name(struct names *names, const char *at, size_t length, struct arena *arena)
{
    for (int i = 0; i < names->count; i++)
        if (is_word(at, length, names->list[i]))
            return;
    arena_grow(arena, names->list, names->count);
    names->list[names->count++] = arena_format(arena, "%.*s", (int)length, at);
}

/* Where the reader is in the file. */
struct reader {
    struct source *source;
    struct arena *arena;
    int braces, parentheses;
    bool is_static;       /* the declaration outside all braces */
    bool is_tag;          /* the word before was struct, enum or union */
    bool is_behind_text;  /* extern "C", whose brace is none */
    const char *declared; /* of the declaration: what it defines if it goes on with a brace; null: nothing of the firmware */
    size_t declared_length;
};

static void end_declaration(struct reader *reader)
{
    reader->is_static = false;
    reader->declared = NULL;
}

static void read_word(struct reader *reader, const char *at, size_t length)
{
    bool of_firmware = is_name_of_firmware(at), was_tag = reader->is_tag;
    reader->is_tag = is_word(at, length, "struct") || is_word(at, length, "enum") || is_word(at, length, "union");
    if (reader->braces > 0 && of_firmware)
        add_name(&reader->source->uses, at, length, reader->arena);
    if (reader->braces > 0)
        return;
    reader->is_static = reader->is_static || is_word(at, length, "static");
    const char *next = at + length + strspn(at + length, " ");
    if (of_firmware && !was_tag && !reader->declared && reader->parentheses == 0 && strchr("([=", *next)) {
        reader->declared = at;
        reader->declared_length = length;
    }
}

static void open_brace(struct reader *reader)
{
    if (reader->braces == 0 && reader->is_behind_text)
        return;
    if (reader->braces == 0 && reader->declared && !reader->is_static)
        add_name(&reader->source->defines, reader->declared, reader->declared_length, reader->arena);
    reader->braces++;
}

static void close_brace(struct reader *reader)
{
    if (reader->braces > 0 && --reader->braces == 0)
        end_declaration(reader);
}

static void read_character(struct reader *reader, char character)
{
    switch (character) {
    case '{': open_brace(reader); break;
    case '}': close_brace(reader); break;
    case '(': reader->parentheses++; break;
    case ')': reader->parentheses--; break;
    case ';':
        if (reader->braces == 0 && reader->parentheses == 0)
            end_declaration(reader);
        break;
    default: break;
    }
    if (!isspace((unsigned char)character))
        reader->is_behind_text = false;
}

/* A line of the preprocessor, with those that it goes on with. What a macro names may be used. */
static const char *read_directive(struct reader *reader, const char *at)
{
    const char *end, *include = find_include(at, &end);
    if (include)
        add_name(&reader->source->includes, include, (size_t)(end - include), reader->arena);
    while (*at && *at != '\n') {
        const char *behind = behind_quoted(at);
        size_t length = word_length(at);
        if (behind == at && length && is_name_of_firmware(at))
            add_name(&reader->source->uses, at, length, reader->arena);
        at = behind != at ? behind : at + (length ? length : at[0] == '\\' && at[1] ? 2 : 1);
    }
    return at;
}

void source_read(struct source *source, struct arena *arena)
{
    struct reader reader = {.source = source, .arena = arena};
    for (const char *at = source->text; *at;) {
        const char *behind = behind_quoted(at);
        size_t length = word_length(at);
        if (behind != at) {
            reader.is_behind_text = *at == '"' || (reader.is_behind_text && *at == '/');
            at = behind;
        } else if (length) {
            read_word(&reader, at, length);
            at += length;
        } else if (*at == '#') {
            at = read_directive(&reader, at);
        } else {
            read_character(&reader, *at++);
        }
    }
}

/* ---- other names ---- */

static bool has_other_name(const char *at)
{
    return is_name_of_firmware(at) || !strncmp(at, "DORY_", 5) || !strncmp(at, "HAL_", 4);
}

static void add_renamed_word(struct text *text, const char *at, size_t length, const char *name)
{
    for (const char *letter = name; *letter; letter++)
        text_add(text, "%c", isupper((unsigned char)*at) ? toupper((unsigned char)*letter) : *letter);
    text_add(text, "_%.*s", (int)length, at);
}

void source_rename(struct text *text, const struct source *source, const char *name,
                   const char *(*place)(const void *context, const struct source *source, const char *include),
                   const void *context)
{
    const char *kept = source->text; /* from here on as it is */
    for (const char *at = source->text; *at;) {
        const char *end, *include = *at == '#' ? find_include(at, &end) : NULL;
        size_t length = include ? (size_t)(end - at) : word_length(at);
        bool changes = include || (length && has_other_name(at));
        if (changes)
            text_add(text, "%.*s", (int)(at - kept), kept);
        if (include)
            text_add(text, "#include \"%s",
                     place(context, source, arena_format(text->arena, "%.*s", (int)(end - include), include)));
        else if (changes)
            add_renamed_word(text, at, length, name);
        at += length ? length : 1;
        kept = changes ? at : kept;
    }
    text_add_string(text, kept);
}
