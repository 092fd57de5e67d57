#include "draw/draw.h"

const char *draw_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

json_int_t draw_number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

bool draw_snapshot(FILE *file, const json_t *snapshot, size_t columns)
{
    if (json_is_array(json_object_get(snapshot, "threads")))
        draw_stacks(file, snapshot, columns);
    else if (json_is_array(json_object_get(snapshot, "segments")))
        draw_blocks(file, snapshot);
    else if (json_array_size(json_object_get(snapshot, "scenarios")) == 2)
        return draw_played(file, json_array_get(json_object_get(snapshot, "scenarios"), 1));
    else
        return false;
    return true;
}
