#include "emu/module/place_text.h"

#include <string.h>

#define FILE_MAX_SHOWN 60

/* The end of a long path. */
static const char *file_name(const char *path)
{
    size_t length = strlen(path);

    return length > FILE_MAX_SHOWN ? path + (length - FILE_MAX_SHOWN) : path;
}

void cx_emu_place_say(cx_text *to, int name_most, const cx_emu_place *place)
{
    cx_text_add(to, "kernel %.*s, line %d of its PTX", name_most, place->kernel, place->line);
    if (place->source != NULL)
        cx_text_add(to, ", %s:%d", file_name(place->source), place->source_line);
    cx_text_add(to, ", block (%u, %u, %u), thread (%u, %u, %u)", place->block[0], place->block[1],
                place->block[2], place->thread[0], place->thread[1], place->thread[2]);
}
