#include "layer/chosen.h"

#include <string.h>

static bool choose(cx_layers_chosen *self, const char *name, size_t length)
{
    const struct {
        const char *name;
        bool *chosen;
    } all[] = {{"check", &self->check}, {"count", &self->count}, {"trace", &self->trace}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i].name) == length && strncmp(name, all[i].name, length) == 0) {
            *all[i].chosen = true;
            return true;
        }
    return false;
}

bool cx_layers_parse(const char *text, cx_layers_chosen *out_chosen)
{
    *out_chosen = (cx_layers_chosen){.check = false};
    while (text != NULL) {
        size_t length = strcspn(text, ",");
        if (!choose(out_chosen, text, length))
            return false;
        text = text[length] != '\0' ? text + length + 1 : NULL;
    }
    return true;
}
