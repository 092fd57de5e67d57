/* A host function that holds a stream until the test lets it go on, and a thread for one function.
 */
#ifndef CX_TEST_GATE_H
#define CX_TEST_GATE_H

#include "fixture.h"
#include "test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

typedef struct gate {
    sem_t opened;
} gate;

static inline void gate_wait(void *argument)
{
    sem_wait(&((gate *)argument)->opened);
}

/* Closes the gate in this stream: what comes behind it waits for gate_open. */
static inline void gate_close(gate *self, ctxrt_stream *stream)
{
    ck_assert_int_eq(sem_init(&self->opened, 0, 0), 0);
    cx_assert_ok(ctxrt_stream_add_host_function(stream, gate_wait, self));
}

static inline void gate_open(gate *self)
{
    sem_post(&self->opened);
}

/* Host functions that leave a mark: an atomic_int that becomes 1, or one more. */
static inline void mark(void *argument)
{
    atomic_fetch_add((atomic_int *)argument, 1);
}

/* Runs work in a stream that nothing holds back, so that other work that could run has had its
 * chance. */
static inline void give_others_a_chance(ctxrt_stream *free_stream)
{
    atomic_int marks = 0;
    for (int i = 0; i < 100; i++) {
        cx_assert_ok(ctxrt_stream_add_host_function(free_stream, mark, &marks));
        cx_assert_ok(ctxrt_stream_synchronize(free_stream));
    }
    ck_assert_int_eq(atomic_load(&marks), 100);
}

static inline void on_a_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, function, argument), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

static inline struct CUstream_st *native_of(ctxrt_stream *stream)
{
    struct CUstream_st *native;
    cx_assert_ok(ctxrt_stream_native(stream, &native));
    return native;
}

static inline ctxrt_stream *current_stream(void)
{
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_stream_current(&stream));
    return stream;
}

static inline ctxrt_stream *create_stream(unsigned int flags)
{
    ctxrt_stream *stream;
    cx_assert_ok(ctxrt_stream_create(flags, 0, &stream));
    return stream;
}

static inline ctxrt_event *create_event(unsigned int flags)
{
    ctxrt_event *event;
    cx_assert_ok(ctxrt_event_create(flags, &event));
    return event;
}

#endif
