/*
 * Pictures of snapshots: JSON as ctxrt_snapshot_write and ctxrt_allocator_snapshot_write make it
 * (docs/snapshots.md); and of scenarios as ctxrt play --json writes them.
 */
#ifndef CX_TOOLS_DRAW_H
#define CX_TOOLS_DRAW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* False: it is no snapshot, and nothing was drawn. `columns`: how many of a picture of stacks stand
 * side by side. */
bool draw_snapshot(FILE *file, const json_t *snapshot, size_t columns);

/* A column for each thread, stacks growing upwards; detached frames, and the contexts. */
void draw_stacks(FILE *file, const json_t *snapshot, size_t columns);

/* A bar for each segment of an allocator, with its blocks. */
void draw_blocks(FILE *file, const json_t *snapshot);

/* A panel for each step of a scenario, with the stacks after it. False: it has no step. */
bool draw_played(FILE *file, const json_t *scenario);

/* A member of an object; "" or 0 if there is none. */
const char *draw_text(const json_t *object, const char *name);
json_int_t draw_number(const json_t *object, const char *name);

#endif
