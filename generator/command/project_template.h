/* The files of a firmware project as `dory new` writes them, with words between @ to be replaced; from the folder template.
 */
#ifndef DORYGEN_PROJECT_TEMPLATE_H
#define DORYGEN_PROJECT_TEMPLATE_H

struct project_template {
    const char *board; /* "": of every project; "plain": of those for no board */
    const char *name;  /* of the file */
    const char *text;
};

extern const struct project_template project_templates[];
extern const int project_template_count;

#endif
