/* Writes a network of known shape and seeded weights as an ONNX file, in NEMO's manner.
 * Usage: write_network NAME SIZE FILE.onnx     NAME: one of those below; SIZE: of the image; of deep: number of layers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../random/network_to_onnx.h"
#include "networks.h"

static const struct network *make(const char *name, int size, struct arena *arena)
{
    if (!strcmp(name, "mobilenet_v1"))
        return mobilenet_v1(arena, size, 100);
    if (!strcmp(name, "mobilenet_v2"))
        return mobilenet_v2(arena, size, 100);
    if (!strcmp(name, "mobilenet_v2_0.35"))
        return mobilenet_v2(arena, size, 35);
    if (!strcmp(name, "mcunet_imagenet"))
        return mcunet_imagenet(arena, size);
    if (!strcmp(name, "mcunet_wake_words"))
        return mcunet_wake_words(arena, size);
    return strcmp(name, "deep") ? NULL : deep_network(arena, size);
}

int main(int argc, char **argv)
{
    struct arena arena = {0};
    const struct network *made = argc == 4 && atoi(argv[2]) > 2 ? make(argv[1], atoi(argv[2]), &arena) : NULL;
    if (!made) {
        fputs("usage: write_network mobilenet_v1|mobilenet_v2|mobilenet_v2_0.35|mcunet_imagenet|mcunet_wake_words|deep SIZE "
              "FILE.onnx\n",
              stderr);
        return 2;
    }
    struct network network = *made;
    struct onnx_builder *model = network_to_onnx(&network, &arena);
    bool written = onnx_builder_write(model, argv[3]);
    onnx_builder_free(model);
    arena_free(&arena);
    return !written;
}
