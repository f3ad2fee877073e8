/* Accuracy over a data set: the same on one thread and on many, and what is refused. */
#include "expect.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "network/range.h"
#include "values/evaluate.h"
#include "values/tensor_file.h"

enum { CLASSES = 5, IMAGES = 300 };

struct fixture {
    struct arena arena;
    struct diagnostics diagnostics;
    struct network network;
    struct tensor tensors[2];
    struct layer layer;
    int index[2];
    int8_t weights[CLASSES * CLASSES];
    char folder[32];
};

/* Logits are the input's elements: the class is the place of the largest. */
static void start(struct fixture *f)
{
    *f = (struct fixture){.folder = "evaluate_XXXXXX"};
    f->diagnostics.arena = &f->arena;
    f->tensors[0] = tensor_plain("image", 1, 1, CLASSES);
    f->tensors[1] = tensor_plain("logits", 1, 1, CLASSES);
    f->tensors[1].producer = 0;
    f->layer = layer_plain("linear", LAYER_CONVOLUTION, 0);
    f->layer.output = 1;
    f->layer.weights = f->weights;
    for (int i = 0; i < CLASSES; i++)
        f->weights[i * CLASSES + i] = 1;
    f->index[1] = 1;
    f->network = (struct network){.name = "identity",
                                  .tensors = f->tensors,
                                  .tensor_count = 2,
                                  .layers = &f->layer,
                                  .layer_count = 1,
                                  .inputs = &f->index[0],
                                  .input_count = 1,
                                  .outputs = &f->index[1],
                                  .output_count = 1};
    EXPECT_THAT(range_prove(&f->network, NULL, &f->arena, &f->diagnostics));
    REQUIRE(mkdtemp(f->folder));
    EXPECT_EQUAL(chdir(f->folder), 0);
}

static void end(struct fixture *f)
{
    EXPECT_EQUAL(chdir(".."), 0);
    EXPECT_EQUAL(system(arena_format(&f->arena, "rm -r %s", f->folder)), 0);
    arena_free(&f->arena);
}

/* Image i has its largest element at i modulo 5; every third label says otherwise. */
static void write_set(const char *images, const char *labels, int label_count)
{
    FILE *file = fopen(labels, "w");
    for (int i = 0; i < label_count; i++)
        fprintf(file, "%d\n", (i + (i % 3 == 0)) % CLASSES);
    fclose(file);
    file = fopen(images, "wb");
    const char *header = "{'descr': '|u1', 'fortran_order': False, 'shape': (300, 5), }\n";
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc((int)strlen(header), file);
    fputc(0, file);
    fputs(header, file);
    for (int i = 0; i < IMAGES; i++)
        for (int c = 0; c < CLASSES; c++)
            fputc(c == i % CLASSES ? 200 : i % 200, file);
    fclose(file);
}

static void counts_right_answers_on_any_number_of_threads(void)
{
    struct fixture f;
    struct data_set set;
    start(&f);
    write_set("images.npy", "labels.txt", IMAGES);
    EXPECT_THAT(data_set_open(&set, "images.npy", "labels.txt", &f.network, &f.arena, &f.diagnostics));
    for (unsigned threads = 0; threads < 9; threads += 1) {
        struct evaluation evaluation;
        EXPECT_THAT(evaluate(&set, threads, &evaluation, &f.diagnostics));
        EXPECT_EQUAL(evaluation.images, IMAGES);
        EXPECT_EQUAL(evaluation.right, IMAGES * 2 / 3);
    }
    end(&f);
}

static void a_folder_is_read_in_the_order_of_its_names(void)
{
    struct fixture f;
    struct data_set set;
    struct evaluation evaluation;
    start(&f);
    EXPECT_EQUAL(mkdir("images", 0777), 0);
    for (int i = 0; i < 7; i++) {
        int64_t values[CLASSES] = {0};
        values[i % CLASSES] = 1;
        const char *path = arena_format(&f.arena, "images/%c.bin", "gcadfbe"[i]);
        EXPECT_THAT(tensor_file_write(path, &f.network, 0, values, &f.diagnostics));
    }
    FILE *file = fopen("labels.txt", "w"); /* of a, b, c, d, e, f, g */
    fputs("2\n0\n1\n3\n1\n4\n0\n", file);
    fclose(file);
    EXPECT_THAT(data_set_open(&set, "images", "labels.txt", &f.network, &f.arena, &f.diagnostics));
    EXPECT_THAT(evaluate(&set, 2, &evaluation, &f.diagnostics));
    EXPECT_EQUAL(evaluation.right, 7);
    end(&f);
}

static void expect_refused(struct fixture *f, const char *images, const char *labels, const char *message)
{
    struct data_set set;
    int before = f->diagnostics.count;
    EXPECT_THAT(!(data_set_open(&set, images, labels, &f->network, &f->arena, &f->diagnostics)));
    EXPECT_EQUAL(f->diagnostics.count, before + 1);
    REQUIRE(strstr(f->diagnostics.list[before].text, message));
}

static void what_does_not_fit_together_is_refused(void)
{
    struct fixture f;
    start(&f);
    write_set("images.npy", "labels.txt", IMAGES);
    write_set("images.npy", "few.txt", IMAGES - 1);
    EXPECT_EQUAL(mkdir("empty", 0777), 0);
    expect_refused(&f, "images.npy", "few.txt", "299 labels; images.npy has 300 images");
    expect_refused(&f, "images.npy", "none.txt", "cannot open none.txt");
    expect_refused(&f, "none.npy", "labels.txt", "cannot open none.npy");
    expect_refused(&f, "empty", "labels.txt", "no files in this folder");
    FILE *file = fopen("large.txt", "w");
    for (int i = 0; i < IMAGES; i++)
        fprintf(file, "%d\n", i == 17 ? CLASSES : 0);
    fclose(file);
    expect_refused(&f, "images.npy", "large.txt", "label 17 is 5; the network has the classes 0 to 4");
    f.tensors[0].channels = 4;
    expect_refused(&f, "images.npy", "labels.txt", "an image for 'image' has 1 x 1 x 4 = 4");
    end(&f);
}

static void a_fault_in_one_image_ends_it_with_one_message(void)
{
    struct fixture f;
    struct data_set set;
    struct evaluation evaluation;
    start(&f);
    write_set("images.npy", "labels.txt", IMAGES);
    f.tensors[0].maximum = 199; /* every image has a 200 */
    EXPECT_THAT(data_set_open(&set, "images.npy", "labels.txt", &f.network, &f.arena, &f.diagnostics));
    EXPECT_THAT(!(evaluate(&set, 4, &evaluation, &f.diagnostics)));
    EXPECT_EQUAL(f.diagnostics.error_count, 1);
    end(&f);
}

int main(void)
{
    static const struct test tests[] = {
        TEST(counts_right_answers_on_any_number_of_threads),
        TEST(a_folder_is_read_in_the_order_of_its_names),
        TEST(what_does_not_fit_together_is_refused),
        TEST(a_fault_in_one_image_ends_it_with_one_message),
    };
    return RUN_TESTS("evaluate", tests, NULL);
}
