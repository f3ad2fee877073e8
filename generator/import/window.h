/* Windows of convolutions and pools: what their nodes say of them, and the size of what comes out. */
#ifndef DORYGEN_IMPORT_WINDOW_H
#define DORYGEN_IMPORT_WINDOW_H

#include "import/import.h"

struct axis {
    int64_t kernel, stride, dilation, before, after; /* before, after: padding */
    int64_t input, output;
};

struct window {
    struct axis height, width;
};

bool window_in_range(int64_t number, int64_t least);

/* The input tensor of a layer, settled: what is pending then, acts on the layer's sums or maxima, too. */
bool import_take_input(struct importer *importer, const struct node *node, struct flow *input);

/* The attributes of a node with a window, over 1 or 2 dimensions; a 1-D window has height 1. */
bool window_read(struct importer *importer, const struct node *node, const struct flow *input, const int64_t *kernel,
                 struct window *window);

/* Attribute auto_pad in place of pads. */
bool window_pad_automatically(struct importer *importer, const struct node *node, struct window *window);

/* Padding of Pad nodes in front is added; then the size of the output follows. */
bool window_finish(struct importer *importer, const struct node *node, const struct flow *input, struct window *window);

/* Elements from the first to the last that a kernel covers. */
int64_t window_extent(const struct axis *axis);

/* Padding behind the last window is never read: what the firmware sees is what is used. */
int window_padding_after(const struct axis *axis);

/* To the layer, when all is known. */
void window_set(struct layer *layer, const struct window *window);
struct shape window_shape(const struct flow *input, int64_t channels, const struct window *window);

#endif
