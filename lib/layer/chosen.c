#include "layer/chosen.h"

#include <string.h>

bool cx_layers_parse(const char *text, cx_layers_chosen *out_chosen)
{
    *out_chosen = (cx_layers_chosen){.check = false};
    while (text != NULL) {
        size_t length = strcspn(text, ",");
        if (length != 5 || strncmp(text, "check", length) != 0)
            return false;
        out_chosen->check = true;
        text = text[length] != '\0' ? text + length + 1 : NULL;
    }
    return true;
}
