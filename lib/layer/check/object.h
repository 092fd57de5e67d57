/*
 * Objects: what driver calls made, and what became of it. Every function needs the lock "check".
 */
#ifndef CX_LAYER_CHECK_OBJECT_H
#define CX_LAYER_CHECK_OBJECT_H

#include "base/hash.h"
#include "layer/check/origin.h"
#include "layer/layer.h"

#include <stddef.h>

/* Kinds besides those of handles (cx_handle_kind). */
enum {
    CX_OBJECT_RETAIN = CX_HANDLE_KINDS, /* of a primary context; its value is the device */
    CX_OBJECT_CAPTURE,                  /* its value is the stream */
    CX_OBJECT_CREATED_MEMORY,           /* by cuMemCreate; its value is the handle */
    CX_OBJECT_MEMORY,                   /* the first of those with an address */
    CX_OBJECT_ASYNC_MEMORY,
    CX_OBJECT_MANAGED_MEMORY,
    CX_OBJECT_MAPPED_MEMORY,            /* by cuMemMap */
    CX_OBJECT_PINNED_MEMORY,            /* from here on the host's */
    CX_OBJECT_REGISTERED_MEMORY,
    CX_OBJECT_KINDS
};

typedef struct cx_object_key {
    uintptr_t value; /* handle or address */
    uint32_t kind;
    uint32_t zero;
} cx_object_key;

typedef struct cx_object {
    cx_object_key key;
    uint32_t number;           /* among those of its kind, from 1 */
    int device;                /* -1: unknown */
    struct cx_object *context; /* that it is of; NULL: none, or unknown */
    struct cx_object *parent;  /* a kernel's module, memory's pool; NULL: none */
    size_t bytes;              /* of memory */
    cx_origin made, ended;
    int ended_by;   /* the slot of the call that ended it, else -1 */
    int ended_on;   /* the number of that thread; 0: unknown */
    int last_slot, last_on; /* streams, contexts: the call and the thread of their latest work */
    cx_origin last_at;
    uint64_t ended_turn; /* cx_object_turn when it had ended */
    uint32_t flags; /* of the call that made it: streams, contexts; a capture's mode */
    unsigned int attached; /* contexts and created memory: how often, besides by the making */
    uint64_t attached_since; /* managed memory: cx_attach_count then; 0: all streams may use it */
    uint32_t attached_to;    /* the number of that stream; 0: the host alone */
    cx_origin attached_at;
    bool live, primary, worked;
    bool met;     /* cx_object_meet; or it is a parent process's */
    bool entered; /* a context that was current on some thread */
    bool asked;   /* a context in which cuMemGetInfo was called */
    bool late;    /* a primary context: another device had worked when it was activated */
    uint64_t blamed; /* a context that has ended: bits of the modules that were told of a call that
                      * failed for it */
    bool kept; /* for the rest of the process: others point to it */
    uint32_t record; /* in the region; CX_REGION_OBJECTS: none */
    struct cx_object *older, *newer; /* in the history of ended ones */
    UT_hash_handle hh;
} cx_object;

static inline bool cx_object_is_memory(const cx_object *object)
{
    return object->key.kind >= CX_OBJECT_MEMORY;
}

/* Adds one that is live; one that had its value before is forgotten. NULL: no memory. `bytes`: of
 * memory, else 0. */
cx_object *cx_object_make(uint32_t kind, uintptr_t value, size_t bytes, cx_object *context,
                          cx_origin made);

/* Adds a handle that exists and that the program need not end: nothing is told of it at the end. */
void cx_object_meet(uint32_t kind, uintptr_t value, cx_origin where);

/* It is of this context and device, whatever was current when it was made. */
void cx_object_set_owner(cx_object *object, cx_object *context, int device);

/* A handle, live or ended; NULL: none was made that is remembered. */
cx_object *cx_object_find(uint32_t kind, uintptr_t value);

/* One of any other kind that has this handle, live ones first; NULL: none. */
cx_object *cx_object_find_other(uint32_t kind, uintptr_t value);

/* Live memory that has the address; NULL: none. */
cx_object *cx_object_find_memory(uintptr_t address);

/* True for pinned or registered memory; NULL is none. */
bool cx_object_is_of_host(const cx_object *object);

/* True if pinned or registered memory was ever made. */
bool cx_object_has_host_memory(void);

/* Any live memory of which a part lies in the range; NULL: none. */
cx_object *cx_object_find_range(uintptr_t address, size_t bytes);

/* Memory that had the address and ended last; NULL: none that is remembered. */
cx_object *cx_object_find_ended_memory(uintptr_t address);

/* Calls `visit` for each that ended after the turn and is remembered, the last one first. */
void cx_object_each_ended(uint64_t turn, void (*visit)(const cx_object *object, void *argument),
                          void *argument);

/* The youngest that is live, of this kind, with this value, and made by this module (-1: any). */
cx_object *cx_object_find_of_module(uint32_t kind, uintptr_t value, int module);

void cx_object_end(cx_object *object, int slot, cx_origin ended);

/* The number of ends so far. */
uint64_t cx_object_turn(void);

/* The call that was to end it failed: it is live again, unless its value has come anew. */
void cx_object_revive(cx_object *object);

/* Ends what is of a context or a module, not itself. */
void cx_object_empty(const cx_object *owner, int slot, cx_origin ended);

/* Calls `visit` for each of those; it makes and ends none. */
void cx_object_each_of(const cx_object *owner,
                       void (*visit)(const cx_object *object, void *argument), void *argument);

/* In the child of a fork: what the parent made has no records there. */
void cx_objects_fork(void);

/* Something was made or done in the context. */
void cx_object_works(cx_object *context);

/* The first live one of the kind that `fits`; NULL: none. */
cx_object *cx_object_first(uint32_t kind, bool (*fits)(const cx_object *object, void *argument),
                           void *argument);

/* "stream 3", "the primary context of GPU 0", "4096 bytes of device memory" */
void cx_object_text(const cx_object *object, char *text, size_t size);
void cx_object_kind_text(uint32_t kind, char *text, size_t size);

#endif
