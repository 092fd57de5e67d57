#include "json_text.h"

#include <stdlib.h>
#include <string.h>

json_t *json_text(const char *text)
{
    json_t *string = json_string(text);
    char *ascii = string == NULL ? strdup(text) : NULL;
    for (char *byte = ascii; byte != NULL && *byte != '\0'; byte++)
        if ((unsigned char)*byte >= 0x80)
            *byte = '?';
    if (ascii != NULL)
        string = json_string(ascii);
    free(ascii);
    return string;
}
