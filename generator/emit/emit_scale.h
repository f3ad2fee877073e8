/* What a tensor of the interface stands for, in the generated header. */
#ifndef DORYGEN_EMIT_SCALE_H
#define DORYGEN_EMIT_SCALE_H

#include "base/text.h"
#include "network/network.h"

/* NAME_INPUT_SCALE and NAME_INPUT_ZERO_POINT, where the model says them; of an input in parts NAME_INPUT_PARTS, _FIRST,
 * _SCALES and _ZERO_POINTS in their place. `upper` is NAME, `what` INPUT or OUTPUT_1. */
void emit_scale_macros(struct text *text, const char *upper, const char *what, const struct tensor *tensor);

/* How C calls a network and one of its inputs and outputs. */
struct port_names {
    const char *network, *upper_network; /* name, NAME */
    const char *port, *upper_port;       /* output_1, OUTPUT_1 */
};

/* NAME_quantise_input, of an input in parts with the part's number, and NAME_dequantise_output. */
void emit_scale_helper(struct text *text, const struct port_names *names, const struct tensor *tensor, bool is_input);

#endif
