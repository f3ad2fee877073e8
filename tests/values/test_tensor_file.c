/* Files of values: .bin and .npy in the model's own order and type, and what is refused. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "values/tensor_file.h"

struct fixture {
    struct arena arena;
    struct diagnostics diagnostics;
    struct tensor tensor;
    struct network network;
    char path[64];
};

/* 1 row, 2 columns, 3 channels of int8 in the model: elements are 128 more. */
static void start(struct fixture *f, bool channels_last, const char *ending)
{
    *f = (struct fixture){0};
    f->diagnostics.arena = &f->arena;
    f->tensor = tensor_plain("x", 1, 2, 3);
    f->tensor.model_offset = -128;
    f->tensor.scale = 0.5;
    f->tensor.zero_point = 130;
    f->network = (struct network){.tensors = &f->tensor, .tensor_count = 1, .channels_last = channels_last};
    snprintf(f->path, sizeof f->path, "tensor_file_%d%s", (int)getpid(), ending);
}

static void end(struct fixture *f)
{
    remove(f->path);
    arena_free(&f->arena);
}

static void write_bytes(const struct fixture *f, const void *bytes, size_t count)
{
    FILE *file = fopen(f->path, "wb");
    REQUIRE(file);
    EXPECT_EQUAL(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

static int64_t *read_file(struct fixture *f)
{
    return tensor_file_read(f->path, &f->network, 0, &f->arena, &f->diagnostics);
}

static void expect_values(const int64_t *values, const int64_t *expected)
{
    REQUIRE(values);
    for (int i = 0; i < 6; i++)
        EXPECT_EQUAL(values[i], expected[i]);
}

static void raw_bytes_are_in_the_models_order_and_type(void)
{
    static const int8_t bytes[6] = {-128, 1, 2, 3, 4, 127};
    static const int64_t as_nhwc[6] = {0, 129, 130, 131, 132, 255}, as_nchw[6] = {0, 130, 132, 129, 131, 255};
    for (int last = 0; last < 3; last++) {
        struct fixture f;
        start(&f, last, ".bin");
        f.tensor.is_turned = last == 2;
        write_bytes(&f, bytes, sizeof bytes);
        expect_values(read_file(&f), last == 1 ? as_nhwc : as_nchw);
        end(&f);
    }
}

static void what_is_written_is_read_again(void)
{
    static const char *const endings[] = {".bin", ".npy", ".txt"};
    static const int64_t values[6] = {0, 7, 255, 128, 127, 1};
    for (int i = 0; i < 6; i++) {
        struct fixture f;
        start(&f, i % 2, endings[i / 2]);
        EXPECT_THAT(tensor_file_write(f.path, &f.network, 0, values, &f.diagnostics));
        expect_values(read_file(&f), values);
        end(&f);
    }
}

/* A header as NumPy writes it, and numbers. */
static void write_npy(const struct fixture *f, const char *header, const void *numbers, size_t bytes)
{
    unsigned char file[512] = "\x93NUMPY\x01\x00";
    size_t length = strlen(header);
    file[8] = (unsigned char)length;
    memcpy(file + 10, header, length);
    memcpy(file + 10 + length, numbers, bytes);
    write_bytes(f, file, 10 + length + bytes);
}

static void real_numbers_are_quantised_as_the_model_does(void)
{
    static const float numbers[6] = {0.0F, 0.25F, 0.75F, -0.25F, 1000.0F, -1000.0F};
    static const int64_t tflite[6] = {130, 131, 132, 129, 255, 0}, onnx[6] = {130, 132, 255, 130, 130, 0};
    for (int last = 0; last < 2; last++) {
        struct fixture f;
        start(&f, last, ".npy");
        write_npy(&f, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }\n", numbers, sizeof numbers);
        expect_values(read_file(&f), last ? tflite : onnx);
        end(&f);
    }
}

static void faults_are_reported(void)
{
    static const struct {
        const char *header, *message;
    } faults[] = {
        {"{'descr': '|i1', 'fortran_order': True, 'shape': (6,), }\n", "Fortran"},
        {"{'descr': '>i4', 'fortran_order': False, 'shape': (6,), }\n", "type that is not supported"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (7,), }\n", "fewer numbers"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (5,), }\n", "'x' has 1 x 2 x 3 = 6"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (99999999999,), }\n", "shape that cannot be read"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (4000000000, 4000000000, 4000000000), }\n", "cannot be read"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (6,), }\n", "value 2 is 200; 'x' can be -128 to 127"},
    };
    static const uint8_t numbers[6] = {0, 0, 200, 0, 0, 0};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct fixture f;
        start(&f, true, ".npy");
        write_npy(&f, faults[i].header, numbers, sizeof numbers);
        EXPECT_THAT(!read_file(&f));
        EXPECT_EQUAL(f.diagnostics.error_count, 1);
        REQUIRE(strstr(f.diagnostics.list[0].text, faults[i].message));
        end(&f);
    }
}

static void no_truncation_of_a_file_is_read_as_whole(void)
{
    static const int64_t values[6] = {0};
    struct fixture f;
    unsigned char bytes[256];
    start(&f, true, ".npy");
    EXPECT_THAT(tensor_file_write(f.path, &f.network, 0, values, &f.diagnostics));
    FILE *file = fopen(f.path, "rb");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    for (size_t length = 0; length < count; length++) {
        write_bytes(&f, bytes, length);
        EXPECT_THAT(!read_file(&f));
    }
    end(&f);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(raw_bytes_are_in_the_models_order_and_type),   TEST(what_is_written_is_read_again),
        TEST(real_numbers_are_quantised_as_the_model_does), TEST(faults_are_reported),
        TEST(no_truncation_of_a_file_is_read_as_whole),
    };
    return RUN_TESTS("tensor_file", tests, NULL);
}
