/* Texts as JSON. */
#ifndef CX_TOOLS_JSON_TEXT_H
#define CX_TOOLS_JSON_TEXT_H

#include <jansson.h>

/* A path, an argument or a name may have any bytes, and JSON takes only UTF-8: others become
 * question marks. NULL: no memory. */
json_t *json_text(const char *text);

#endif
