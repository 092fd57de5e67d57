/* What tests of the Runtime API share. */
#ifndef CX_TEST_CUDART_CLIENT_H
#define CX_TEST_CUDART_CLIENT_H

#include "code.h"
#include "test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#define assert_error(call, expected)                                                \
    do {                                                                            \
        cxr_error cx_error_ = (call), cx_expected_ = (expected);                    \
        ck_assert_msg(cx_error_ == cx_expected_, "%s gave %s, not %s", #call,       \
                      cudaGetErrorName(cx_error_), cudaGetErrorName(cx_expected_)); \
    } while (0)
#define assert_ok(call) assert_error(call, CXR_SUCCESS)
#define assert_driver(call) ck_assert_int_eq(call, CXU_SUCCESS)

/* A checked fixture: this many GPUs, none of them used yet. */
static inline void start_with_gpus(void)
{
    setenv("CTXRT_EMU_DEVICES", "4", 1);
    setenv("CTXRT_EMU_MEMORY", "64M", 1);
}

static inline uint32_t *make_words(uint32_t value)
{
    void *words = NULL;
    uint32_t values[WORDS];
    for (int i = 0; i < WORDS; i++)
        values[i] = value;
    assert_ok(cudaMalloc(&words, WORD_BYTES));
    assert_ok(cudaMemcpy(words, values, WORD_BYTES, CXR_HOST_TO_DEVICE));
    return words;
}

static inline void assert_words(const uint32_t *words, uint32_t expected)
{
    uint32_t found[WORDS] = {0};
    assert_ok(cudaMemcpy(found, words, WORD_BYTES, CXR_DEVICE_TO_HOST));
    for (int i = 0; i < WORDS; i++)
        ck_assert_msg(found[i] == expected, "word %d is %u, not %u", i, found[i], expected);
}

/* Holds a stream until it is opened. */
typedef struct gate {
    sem_t opened;
} gate;

static inline void gate_wait(void *self)
{
    sem_wait(&((gate *)self)->opened);
}

static inline void gate_close(gate *self, CUstream stream)
{
    ck_assert_int_eq(sem_init(&self->opened, 0, 0), 0);
    assert_ok(cudaLaunchHostFunc(stream, gate_wait, self));
}

static inline void gate_open(gate *self)
{
    sem_post(&self->opened);
}

static inline void on_a_thread(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, function, argument), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

#endif
