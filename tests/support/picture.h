/* Draws a snapshot as `ctxrt draw` does. */
#ifndef CX_TEST_PICTURE_H
#define CX_TEST_PICTURE_H

#include "draw/draw.h"
#include "test.h"

#include <stdlib.h>

/* Frees the snapshot, which is JSON; free() the picture. */
static inline char *cx_picture(char *snapshot)
{
    char *text = NULL;
    size_t size;
    json_error_t error;
    FILE *file = open_memstream(&text, &size);
    json_t *root = json_loads(snapshot, 0, &error);
    ck_assert_msg(root != NULL, "%s", error.text);
    ck_assert_ptr_nonnull(file);
    ck_assert(draw_snapshot(file, root, 6));
    ck_assert_int_eq(fclose(file), 0);
    json_decref(root);
    free(snapshot);
    return text;
}

#endif
