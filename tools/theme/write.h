/* Functions that write pages. */
#ifndef CX_TOOLS_LOOK_WRITE_H
#define CX_TOOLS_LOOK_WRITE_H

#include <stdio.h>

/* The lines of a part that embed.awk made; a NULL pointer ends them. */
void look_write_lines(const char *const *lines, FILE *to);

/* A JSON string that may stand in a script of a page. A malformed byte becomes a question mark. */
void look_write_quoted(const char *text, FILE *to);

#endif
