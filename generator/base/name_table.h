/* Numbers names: add them all, finish, then find. Sorted rather than hashed, so that no choice of names makes it slow. */
#ifndef DORYGEN_NAME_TABLE_H
#define DORYGEN_NAME_TABLE_H

#include "base/support.h"

struct name_table;

struct name_table *name_table_make(struct arena *arena);
void name_table_add(struct name_table *table, const char *name);       /* the name must outlive the table */
int name_table_finish(struct name_table *table);                       /* the number of different names */
int name_table_find(const struct name_table *table, const char *name); /* 0 to number - 1; -1: was not added */
const char *name_table_name(const struct name_table *table, int index);

#endif
