/*
 * The files that a traced program left, one of each process, as threads with their calls and the
 * work that was timed.
 */
#ifndef CX_TOOLS_TRACE_READ_H
#define CX_TOOLS_TRACE_READ_H

#include "layer/trace/format.h"
#include "layer/trace/layout.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct trace_thread {
    uint32_t number; /* from 1, in the order in which threads made their first calls */
    int32_t tid;
    char name[16];
    uint64_t ended; /* 0: it did not, or its end was not seen */
    const cx_trace_call **calls; /* in the order in which they began */
    size_t count, capacity;
    const cx_trace_api **apis; /* calls of the Runtime API with calls of the driver, in order */
    size_t api_count, api_capacity;
} trace_thread;

/* A handle of a driver's object; see objects.h. */
typedef struct trace_object trace_object;

typedef struct trace_process {
    char path[512];
    const cx_trace_head *head;
    uint64_t bytes; /* of the file */
    trace_thread *threads;
    size_t thread_count;
    const cx_trace_work **work; /* by the time at which it began */
    size_t work_count, work_capacity;
    const cx_trace_module **modules; /* in no order */
    size_t module_count, module_capacity;
    uint64_t ended;                  /* the last time in the file */
    size_t call_count;
    bool damaged; /* a record is not as it should be: what follows it in its chunk is left out */
    trace_object *objects; /* by kind, handle and time */
    size_t object_count;
} trace_process;

typedef struct trace {
    trace_process *processes; /* in the order in which they began */
    size_t count;
    uint64_t begun; /* the first time; 0: there is no process */
    unsigned lost;  /* processes that are not recorded: there was no room for their files */
} trace;

/* Reads a file, or all files of a folder. False with errno: it is not there, or there is no memory.
 * Files of other kinds are left out. */
bool trace_read(const char *path, trace *out);
void trace_free(trace *self);

/* Calls and pieces of work that had no room. */
static inline uint64_t trace_lost(const trace_process *self)
{
    return atomic_load(&((cx_trace_head *)(uintptr_t)self->head)->lost);
}
uint64_t trace_lost_of_all(const trace *self);

static inline uint64_t trace_call_end(const cx_trace_call *call)
{
    return atomic_load_explicit(&((cx_trace_call *)(uintptr_t)call)->end, memory_order_acquire);
}

/* The end of a call; the end of the process for one that is under way. */
static inline uint64_t trace_call_over(const trace_process *process, const cx_trace_call *call)
{
    uint64_t end = trace_call_end(call);
    return end != 0 ? end : process->ended;
}

/* The end of a call of the Runtime API, likewise. */
static inline uint64_t trace_api_over(const trace_process *process, const cx_trace_api *api)
{
    uint64_t end = atomic_load_explicit(&((cx_trace_api *)(uintptr_t)api)->end,
                                        memory_order_acquire);
    return end != 0 ? end : process->ended;
}

/* The call of the Runtime API that a call of the driver was made in; NULL: the program made it. */
const cx_trace_api *trace_api_of(const trace_process *self, const trace_thread *thread,
                                 const cx_trace_call *call);

/* The call that submitted work; NULL: unknown. */
const cx_trace_call *trace_call_of(const trace_process *self, uint64_t ticket);

#endif
