#include "command/dump_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "values/expected.h"

#define START          "@dory "
#define SHOWN_WARNINGS 10

struct reader {
    const struct network *network;
    uint32_t model_hash;
    struct dump_log *log;
    struct dumped_run *run; /* null: none has begun, or its end was there */
    size_t line;
    struct arena *arena;
    struct diagnostics *diagnostics;
};

static void damaged(struct reader *reader, const char *what)
{
    if (reader->log->damaged++ < SHOWN_WARNINGS)
        diagnose(reader->diagnostics, SEVERITY_WARNING, NULL, NULL, "line %zu %s", reader->line, what);
}

/* ---- one line ---- */

static unsigned checksum(const char *text, size_t length)
{
    unsigned sum = 0xFFFF;
    for (size_t i = 0; i < length; i++) {
        sum ^= (unsigned)(unsigned char)text[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            sum = (sum << 1 ^ (sum & 0x8000 ? 0x1021u : 0u)) & 0xFFFF;
    }
    return sum;
}

static int digit_value(char digit)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = digit ? strchr(digits, digit) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Cuts `body` off before " *1234". Null, or what is wrong. */
static const char *verify(char *body)
{
    char *star = strrchr(body, '*');
    unsigned written = 0;
    if (!star || star == body || star[-1] != ' ')
        return "is cut off: it has no checksum";
    for (int i = 1; i <= 4; i++) {
        if (digit_value(star[i]) < 0)
            return "is cut off in its checksum";
        written = written << 4 | (unsigned)digit_value(star[i]);
    }
    star[-1] = 0;
    return checksum(body, strlen(body)) == written ? NULL : "is damaged: its checksum is that of another text";
}

/* A number in `base` that a blank or the end follows; moves on behind it. -1: there is none up to `most`. */
static long long take_number(const char **text, int base, long long most)
{
    char *end;
    if (digit_value(**text) < 0)
        return -1;
    errno = 0;
    long long number = strtoll(*text, &end, base);
    if (end == *text || errno || number < 0 || number > most || (*end && *end != ' '))
        return -1;
    *text = *end ? end + 1 : end;
    return number;
}

/* ---- runs ---- */

static struct dumped_tensor *make_tensors(const struct reader *reader, int count, const int *indices)
{
    struct dumped_tensor *tensors = arena_array(reader->arena, struct dumped_tensor, (size_t)count);
    for (int i = 0; i < count; i++) {
        int index = indices ? indices[i] : tensor_home(reader->network, reader->network->layers[i].output);
        size_t size = expected_tensor_bytes(&reader->network->tensors[index]);
        tensors[i] = (struct dumped_tensor){.bytes = arena_allocate(reader->arena, size),
                                            .has = arena_array(reader->arena, bool, size),
                                            .size = size,
                                            .missing = size};
    }
    return tensors;
}

static struct dumped_run *next_run(struct reader *reader)
{
    struct dump_log *log = reader->log;
    arena_grow(reader->arena, log->runs, log->run_count);
    return &log->runs[log->run_count++];
}

/* "9b1c44d0 6 digits" */
static bool take_run(struct reader *reader, const char *text)
{
    long long hash = take_number(&text, 16, UINT32_MAX);
    long long announced = hash < 0 ? -1 : take_number(&text, 10, 1 << 20);
    if (announced < 0)
        return false;
    reader->run = next_run(reader);
    *reader->run = (struct dumped_run){.line = reader->line,
                                       .name = arena_format(reader->arena, "%s", text),
                                       .model_hash = (uint32_t)hash,
                                       .is_of_model = hash == (long long)reader->model_hash,
                                       .announced = (int)announced};
    if (reader->run->is_of_model) {
        reader->run->inputs = make_tensors(reader, reader->network->input_count, reader->network->inputs);
        reader->run->layers = make_tensors(reader, reader->network->layer_count, NULL);
    }
    return true;
}

static bool take_end(struct reader *reader, const char *text)
{
    bool negative = *text == '-';
    text += negative;
    long long status = take_number(&text, 10, 1 << 20);
    if (status < 0)
        return false;
    reader->run->has_end = true;
    reader->run->status = negative ? (int)-status : (int)status;
    reader->run = NULL;
    return true;
}

/* ---- tensors ---- */

static bool take_bytes(struct dumped_tensor *tensor, size_t offset, const char *digits)
{
    size_t count = strlen(digits) / 2;
    if (count == 0 || strlen(digits) % 2 || strspn(digits, "0123456789abcdef") != 2 * count || offset > tensor->size ||
        count > tensor->size - offset)
        return false;
    tensor->occurs = true;
    for (size_t i = 0; i < count; i++) {
        tensor->bytes[offset + i] = (uint8_t)(digit_value(digits[2 * i]) << 4 | digit_value(digits[2 * i + 1]));
        tensor->missing -= !tensor->has[offset + i];
        tensor->has[offset + i] = true;
    }
    return true;
}

/* "3 20 0a0b..." */
static bool take_tensor(struct dumped_tensor *tensors, int count, const char *text)
{
    long long number = take_number(&text, 10, count - 1);
    long long offset = number < 0 ? -1 : take_number(&text, 16, UINT32_MAX);
    return offset >= 0 && take_bytes(&tensors[number], (size_t)offset, text);
}

/* ---- the file ---- */

static bool take_body(struct reader *reader, const char *body)
{
    if (!strncmp(body, "run ", 4))
        return take_run(reader, body + 4);
    if (!reader->run) {
        damaged(reader, "belongs to a run whose beginning is not in the log");
        return true;
    }
    if (!strncmp(body, "end ", 4))
        return take_end(reader, body + 4);
    if (!reader->run->is_of_model)
        return true;
    if (!strncmp(body, "in", 2))
        return take_tensor(reader->run->inputs, reader->network->input_count, body + 2);
    return *body == 'L' && take_tensor(reader->run->layers, reader->network->layer_count, body + 1);
}

/* Two starts in one line: the first line was cut off, and its line break with it. */
static void take_line(struct reader *reader, char *line)
{
    char *start = strstr(line, START);
    while (start) {
        char *body = start + strlen(START), *next = strstr(body, START);
        if (next)
            *next = 0;
        const char *fault = verify(body);
        if (fault)
            damaged(reader, fault);
        else if (!take_body(reader, body))
            damaged(reader, "says what fits no tensor of the model");
        if (next)
            memcpy(next, START, 1);
        start = next;
    }
}

static void read_lines(struct reader *reader, FILE *file)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = getline(&line, &capacity, file)) >= 0) {
        reader->line++;
        for (ssize_t i = 0; i < length; i++)
            line[i] = line[i] ? line[i] : '?'; /* a UART that was switched on too late sees zeros */
        take_line(reader, line);
    }
    free(line);
}

bool dump_log_read(const char *path, const struct network *network, uint32_t model_hash, struct dump_log *log,
                   struct arena *arena, struct diagnostics *diagnostics)
{
    struct reader reader = {
        .network = network, .model_hash = model_hash, .log = log, .arena = arena, .diagnostics = diagnostics};
    FILE *file = fopen(path, "r");
    *log = (struct dump_log){0};
    if (file)
        read_lines(&reader, file);
    if (!file || ferror(file))
        diagnose(diagnostics, SEVERITY_ERROR, NULL, NULL, "cannot read the log: %s", strerror(errno));
    if (log->damaged > SHOWN_WARNINGS)
        diagnose(diagnostics, SEVERITY_WARNING, NULL, NULL, "%zu more lines are damaged", log->damaged - SHOWN_WARNINGS);
    bool good = file && !ferror(file);
    if (file)
        fclose(file);
    return good;
}
