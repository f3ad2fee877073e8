/* Writes a random network as an ONNX file. Usage: make_random_model SEED FILE.onnx [graph | chain] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_to_onnx.h"

#include "network_to_onnx.h"
#include "random_network.h"

int main(int argc, char **argv)
{
    struct arena arena = {0};
    bool chain = argc == 4 && !strcmp(argv[3], "chain"), graph = chain || (argc == 4 && !strcmp(argv[3], "graph"));
    if (argc != 3 && !graph)
        return 2;
    struct random random = {.state = strtoull(argv[1], NULL, 10)};
    struct network *network = chain   ? random_chain(&random, &arena)
                              : graph ? random_graph(&random, &arena)
                                      : random_network(&random, &arena);
    struct onnx_builder *model = graph ? graph_to_onnx(network, &arena) : network_to_onnx(network, &arena);
    bool written = onnx_builder_write(model, argv[2]);
    if (written)
        puts(random_network_text(network, &arena));
    onnx_builder_free(model);
    arena_free(&arena);
    return !written;
}
