/*
 * The contexts, streams, events and memory of a scenario, as the steps so far have left them, for
 * the page. It follows the successful calls and never asks the driver, which might notice; only the
 * bytes of memory are looked up, in the embedded driver.
 */
#ifndef CX_PLAY_SCENE_H
#define CX_PLAY_SCENE_H

#include "play/player.h"

typedef enum cx_thing_end {
    CX_THING_ALIVE,
    CX_THING_DESTROYED,    /* or freed; also a primary context's last release */
    CX_THING_WITH_CONTEXT, /* its context took it along */
    CX_THING_RESET         /* a primary context that is retained, until the next retain */
} cx_thing_end;

typedef struct cx_thing {
    cx_kind kind; /* CONTEXT, STREAM, EVENT, MEMORY, HOST */
    cx_cell cell;
    const char *name;
    const cx_line *made;
    cx_thing_end end;
    int context; /* the index of its context; -1: it belongs to none */
    int device;  /* -1: the host */
    bool primary;
    int holds;               /* retains of a primary context; users of another */
    const char *what;        /* "pinned memory" */
    uint64_t bytes;          /* 0: unknown */
    bool outlives;           /* memory that its context leaves behind */
    bool capturing;          /* a stream */
    const cx_line *recorded; /* an event; NULL: never */
    int stream;              /* in which it was recorded; -1: another one */
    char *written;           /* as the page has it */
} cx_thing;

/* The number of a line on the page; a program's lines have none and are counted. */
static inline int cx_line_shown(const cx_line *line)
{
    return line->number != 0 ? line->number : line->index + 1;
}

/* Follows a call, before the stacks do. Only on the conductor's thread. */
void cx_scene_step(cx_player *player, const cx_call *call);

/* The index of the youngest thing with this handle: of those that are alive, or of those that are
 * not, if there are any. -1: there is none. */
int cx_scene_find(const cx_scene *scene, cx_kind kind, cx_cell cell, bool alive);

/* scene_write.c: JSON of what has changed since it was last written: an array of pairs, an index
 * and an object. And of the work that nothing has waited for. */
void cx_scene_write_changes(cx_player *player, FILE *to);
void cx_scene_write_work(const cx_player *player, FILE *to);

#endif
