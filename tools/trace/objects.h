/*
 * The objects of a traced process: handles become numbers, counted for each kind in the order in
 * which they were made, as in the report of `ctxrt check`.
 */
#ifndef CX_TOOLS_TRACE_OBJECTS_H
#define CX_TOOLS_TRACE_OBJECTS_H

#include "trace/read.h"

#include "layer/layer.h"

struct trace_object {
    uint32_t kind;        /* cx_handle_kind */
    uint32_t number;      /* from 1 */
    uint64_t handle;
    uint64_t from, until; /* when it was made, or first seen; when it was destroyed, 0: never */
    int32_t device;       /* of a context; -1: unknown */
    bool primary;
    const char *text; /* the name of a kernel; NULL: unknown */
};

/* Finds all objects of a process. False: no memory. */
bool trace_objects_find(trace_process *self);

/* The object that had the handle at that time; NULL: it is unknown. */
const trace_object *trace_object_at(const trace_process *self, uint32_t kind, uint64_t handle,
                                    uint64_t time);

/* The kind of handle that a type of symbols.def is, or leads to: "CUstream", "CUstream *". */
uint32_t trace_kind_of(const char *type);

/* "stream 3", "kernel 1 add", "primary context of GPU 0" */
void trace_object_text(const trace_process *self, const trace_object *object, char *text,
                       size_t size);

/* A device as the program's user counts: "GPU 0". */
void trace_device_text(const trace_process *self, int device, char *text, size_t size);

#endif
