/* Where something stands in a JSON text, which the parser's values do not tell. */
#ifndef DORYGEN_LOCATE_H
#define DORYGEN_LOCATE_H

/* The line, counted from 1, of a key of the object of the name `object`, at any depth; null: of the outermost one. Where
 * there is no such key, the line where its object starts. The text is valid JSON, an object. */
unsigned json_line(const char *text, const char *object, const char *key);

#endif
