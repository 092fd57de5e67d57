/* Snapshots for tests: taken into memory, and parsed. */
#ifndef CX_TEST_SNAPSHOT_H
#define CX_TEST_SNAPSHOT_H

#include "fixture.h"
#include "test.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static inline char *take_snapshot(ctxrt_snapshot_format format)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(file);
    cx_assert_ok(ctxrt_snapshot_write(file, format));
    ck_assert_int_eq(fclose(file), 0);
    return text;
}

static inline json_t *take_json(void)
{
    json_error_t error;
    char *text = take_snapshot(CTXRT_SNAPSHOT_JSON);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "line %d: %s in\n%s", error.line, error.text, text);
    free(text);
    return root;
}

/* A field that must be there. */
static inline const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    ck_assert_msg(text != NULL, "there is no text \"%s\"", name);
    return text;
}

static inline long long number_of(const json_t *object, const char *name)
{
    const json_t *number = json_object_get(object, name);
    ck_assert_msg(json_is_integer(number), "there is no number \"%s\"", name);
    return json_integer_value(number);
}

/* The frames of the thread of this name, from the top. */
static inline json_t *frames_of(const json_t *root, const char *name)
{
    size_t index;
    json_t *thread;
    json_array_foreach(json_object_get(root, "threads"), index, thread)
        if (strcmp(text_of(thread, "name"), name) == 0)
            return json_object_get(thread, "frames");
    ck_abort_msg("there is no thread \"%s\"", name);
    return NULL;
}

#endif
