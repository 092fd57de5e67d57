#include "layer/trace/thread.h"

#include "base/clock.h"
#include "layer/trace/chunks.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_key_t key;
static bool key_made;
static __attribute__((tls_model("initial-exec"))) _Thread_local cx_trace_thread *here;

static void name_thread(cx_trace_chunk *chunk)
{
    (void)pthread_getname_np(pthread_self(), chunk->name, sizeof chunk->name);
}

void cx_trace_leave_slowly(cx_trace_thread *self)
{
    while (self->left_count > 0)
        cx_trace_chunk_leave(self->left[--self->left_count]);
}

/* Beyond some chunks within one call, a mapping stays for good. */
static void leave_chunk(cx_trace_thread *self)
{
    if (self->chunk == NULL)
        return;
    name_thread(self->chunk); /* a thread may get its name late */
    if (!cx_trace_is_inside(self))
        cx_trace_chunk_leave(self->chunk);
    else if (self->left_count < CX_TRACE_LEFT)
        self->left[self->left_count++] = self->chunk;
    self->chunk = NULL;
    self->next = self->end = NULL;
}

static void end_thread(void *argument)
{
    cx_trace_thread *self = argument;
    if (self->chunk != NULL)
        self->chunk->ended = cx_clock_ns();
    self->api = NULL; /* a thread that is cancelled does not leave its call */
    leave_chunk(self);
    here = NULL;
    free(self->stack);
    free(self);
}

/* The chunks and their records are the parent's. */
static void begin_in_child(void)
{
    cx_trace_thread *self = here;
    if (self == NULL)
        return;
    while (self->innermost != NULL) {
        self->lost_calls++;
        self->innermost = (cx_trace_call *)(uintptr_t)self->innermost->outer;
    }
    if (self->chunk != NULL)
        cx_trace_file_unmap(self->chunk);
    while (self->left_count > 0)
        cx_trace_file_unmap(self->left[--self->left_count]);
    self->chunk = NULL;
    self->next = self->end = NULL;
    self->api = NULL;
    self->number = 0;
    self->chunks = 0;
    self->module = (cx_trace_range){0};
    memset(self->modules, 0, sizeof self->modules);
}

void cx_trace_threads_begin(void)
{
    if (!key_made)
        key_made = pthread_key_create(&key, end_thread) == 0;
    cx_trace_file_forked = begin_in_child;
}

/* A thread that makes calls while it ends begins anew. */
static cx_trace_thread *begin_thread(void)
{
    cx_trace_thread *self = calloc(1, sizeof *self);
    if (self == NULL)
        return NULL;
    if (key_made && pthread_setspecific(key, self) != 0) { /* its end would not be seen */
        free(self);
        return NULL;
    }
    here = self;
    return self;
}

cx_trace_thread *cx_trace_thread_self(void)
{
    return __builtin_expect(here != NULL, 1) ? here : begin_thread();
}

static bool begin_chunk(cx_trace_thread *self)
{
    cx_trace_chunk *chunk = cx_trace_chunk_take();
    if (chunk == NULL)
        return false;
    if (self->number == 0)
        self->number = cx_trace_file_thread();
    chunk->thread = self->number;
    chunk->number = self->chunks++;
    chunk->tid = (int32_t)gettid();
    name_thread(chunk);
    __atomic_store_n(&chunk->magic, CX_TRACE_MAGIC, __ATOMIC_RELEASE);
    self->chunk = chunk;
    self->next = (unsigned char *)(chunk + 1);
    self->end = (unsigned char *)chunk + CX_TRACE_CHUNK_BYTES;
    return true;
}

cx_trace_record *cx_trace_take_slowly(cx_trace_thread *self, unsigned bytes)
{
    leave_chunk(self);
    return begin_chunk(self) ? cx_trace_take(self, bytes) : NULL;
}
