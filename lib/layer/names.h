/*
 * Names that a runtime above the driver has for what a layer sees as handles: its frames and its
 * objects. Its rooms add functions to a list; a layer in another library may be given the list.
 */
#ifndef CX_LAYER_NAMES_H
#define CX_LAYER_NAMES_H

#include "layer/layer.h"

#include <stdatomic.h>

/* Called on the thread that makes a driver call, while that call is under way or has just ended,
 * and with locks of the layer held: they call no driver, and wait for no lock that is ever held
 * during a driver call. They write a phrase; false: they know of none. */
typedef struct cx_layer_names {
    /* The frame that work of this thread goes to: "cuda:1, frame 2 of 2, push at
     * worker.c:40" */
    bool (*frame)(char *text, size_t size);
    /* "the default stream 0x300000100000000" */
    bool (*object)(cx_handle_kind kind, uintptr_t handle, char *text, size_t size);
} cx_layer_names;

enum { CX_LAYER_NAMES_MAX = 4 };

/* What a runtime says of the call that a thread makes. */
typedef enum cx_layer_hint {
    CX_LAYER_NO_HINT,
    CX_LAYER_ENTRY_STAYS,  /* it pushes an entry that may stay on the stack when the thread ends */
    CX_LAYER_CALL_IS_TRIED, /* the driver may refuse it: the runtime has another way then */
    CX_LAYER_FREE_WAITS     /* it frees pinned memory for a user to whom the wait is promised */
} cx_layer_hint;

typedef struct cx_layer_names_list {
    size_t size;      /* of this struct; a later one is longer */
    int host_devices; /* the driver's first devices that are no GPUs */
    const cx_layer_names *_Atomic all[CX_LAYER_NAMES_MAX];
    cx_layer_hint (*_Atomic hint)(void); /* called as the names are */
} cx_layer_names_list;

/* The list of this library. */
extern cx_layer_names_list cx_layer_names_own;

/* Adds to it, once; the struct stays. */
void cx_layer_names_add(const cx_layer_names *names);

/* The layers of this library take names from this list, which stays; from their own before. */
void cx_layer_names_use(const cx_layer_names_list *list);
const cx_layer_names_list *cx_layer_names_in_use(void);

bool cx_layer_name_frame(char *text, size_t size);
bool cx_layer_name_object(cx_handle_kind kind, uintptr_t handle, char *text, size_t size);

cx_layer_hint cx_layer_hint_now(void);

/* The number of the GPU; -1: the device is none. */
int cx_layer_gpu(int device);

#endif
