#include "emit/emit_scale.h"

#include <inttypes.h>

/* Below 8 bits elements are packed, so that there is none to convert by itself. */
static bool has_helper(const struct tensor *tensor) { return tensor->scale > 0 && tensor->bits >= 8; }

/* dory holds int8 as uint8, 128 more: what a camera gives is what the firmware takes. */
static void add_offset(struct text *text, const struct tensor *tensor)
{
    if (tensor->model_offset == 0)
        return;
    text_add(text, "/* The model's own integers are these elements %s %d", tensor->model_offset < 0 ? "-" : "+",
             tensor->model_offset < 0 ? -tensor->model_offset : tensor->model_offset);
    if (tensor->model_offset == -128 && tensor->bits == 8 && tensor->producer == NO_LAYER)
        text_add_string(text, ": a uint8 image, whose pixels less 128 they are, goes in as it is");
    text_add_string(text, ". */\n");
}

/* What the model computes around its quantised part, which the application has to do. */
static void add_step(struct text *text, const struct real_step *step)
{
    static const char *const forms[] = {"x + ", "x - ", "n - x, n = ", "x * ", "x / ", "n / x, n = ", "x, kept to "};
    text_add_string(text, forms[step->operation]);
    if (step->operation == REAL_CLIP)
        text_add(text, "%.9g..%.9g", (double)step->numbers[0], (double)step->numbers[1]);
    else if (step->count == 1)
        text_add(text, "%.9g", (double)step->numbers[0]);
    for (int i = 0; step->operation != REAL_CLIP && step->count > 1 && i < step->count; i++)
        text_add(text, "%s%.9g%s", i ? ", " : "(", (double)step->numbers[i], i + 1 < step->count ? "" : " a channel)");
}

static void add_application(struct text *text, const struct tensor *tensor)
{
    for (int i = 0; i < tensor->step_count; i++) {
        text_add_string(
            text, i ? "; x = " : "/* The application computes in float32 of the model's input x, before it quantises: x = ");
        add_step(text, &tensor->steps[i]);
    }
    if (tensor->step_count)
        text_add_string(text, " */\n");
    if (tensor->look_up) {
        text_add(text, "/* Each pixel is a row of the model's '");
        text_add_in_comment(text, tensor->look_up->name);
        text_add(text, "' of %d x %d, quantised: the application looks them up by the model's input. */\n",
                 tensor->look_up->rows, tensor->look_up->columns);
    }
    if (tensor->log_softmax)
        text_add_string(text,
                        "/* The model has a log-softmax behind these elements, which is left to the application. */\n");
}

static void add_parts(struct text *text, const char *upper, const char *what, const struct tensor *tensor)
{
    text_add(text,
             "/* The model quantises parts by themselves: FIRST has the elements that they begin with, in memory. */\n"
             "#define %s_%s_PARTS %d\n",
             upper, what, tensor->part_count);
    text_add(text, "#define %s_%s_FIRST {", upper, what);
    for (int i = 0; i < tensor->part_count; i++)
        text_add(text, "%s%zu", i ? ", " : "", tensor->parts[i].first);
    text_add_string(text, "}\n");
    text_add(text, "#define %s_%s_SCALES {", upper, what);
    for (int i = 0; i < tensor->part_count; i++)
        text_add(text, "%s%.9ef", i ? ", " : "", tensor->parts[i].scale);
    text_add_string(text, "} /* real value = SCALES[part] * (element - ZERO_POINTS[part]) */\n");
    text_add(text, "#define %s_%s_ZERO_POINTS {", upper, what);
    for (int i = 0; i < tensor->part_count; i++)
        text_add(text, "%s%d", i ? ", " : "", tensor->parts[i].zero_point);
    text_add_string(text, "}\n");
}

void emit_scale_macros(struct text *text, const char *upper, const char *what, const struct tensor *tensor)
{
    if (tensor->channel_scales) {
        text_add(text, "#define %s_%s_SCALES /* real value = scale of its channel * element */ {", upper, what);
        for (int i = 0; i < tensor->channels; i++)
            text_add(text, "%s%.9ef", i ? ", " : "", tensor->channel_scales[i]);
        text_add_string(text, "}\n");
    }
    if (!(tensor->scale > 0))
        return;
    add_offset(text, tensor);
    add_application(text, tensor);
    if (tensor->part_count) {
        add_parts(text, upper, what, tensor);
        return;
    }
    text_add(text, "#define %s_%s_SCALE %.9ef /* real value = SCALE * (element - ZERO_POINT) */\n", upper, what,
             tensor->scale);
    text_add(text, "#define %s_%s_ZERO_POINT %d\n", upper, what, tensor->zero_point);
}

void emit_scale_helper(struct text *text, const struct port_names *names, const struct tensor *tensor, bool is_input)
{
    const char *name = names->network, *upper = names->upper_network, *what = names->upper_port, *lower = names->port;
    int64_t least = tensor->is_signed ? -((int64_t)1 << (tensor->bits - 1)) : 0;
    int64_t most = least + ((int64_t)1 << tensor->bits) - 1;
    const char *type = arena_format(text->arena, "%sint%d_t", tensor->is_signed ? "" : "u", tensor->bits);
    if (!has_helper(tensor) || tensor->bits > 16)
        return;
    if (tensor->part_count)
        text_add(text,
                 "/* The nearest element for a real value, of this part. */\n"
                 "static inline %s %s_quantise_%s(float real, int part)\n{\n"
                 "    static const float scales[] = %s_%s_SCALES;\n"
                 "    static const int zero_points[] = %s_%s_ZERO_POINTS;\n"
                 "    return (%s)dory_quantise(real, scales[part], zero_points[part], %" PRId64 ", %" PRId64 ");\n}\n\n",
                 type, name, lower, upper, what, upper, what, type, least, most);
    else if (is_input)
        text_add(text,
                 "/* The nearest element for a real value. */\n"
                 "static inline %s %s_quantise_%s(float real)\n{\n"
                 "    return (%s)dory_quantise(real, %s_%s_SCALE, %s_%s_ZERO_POINT, %" PRId64 ", %" PRId64 ");\n}\n\n",
                 type, name, lower, type, upper, what, upper, what, least, most);
    else
        text_add(text,
                 "/* The real value of an element. */\n"
                 "static inline float %s_dequantise_%s(%s element)\n{\n"
                 "    return dory_dequantise(element, %s_%s_SCALE, %s_%s_ZERO_POINT);\n}\n\n",
                 name, lower, type, upper, what, upper, what);
}
