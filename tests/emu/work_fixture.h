/* What the tests of streams share: two GPUs with a context, gates in streams, a record of order. */
#ifndef CX_TEST_WORK_FIXTURE_H
#define CX_TEST_WORK_FIXTURE_H

#include "emu/emu.h"
#include "test.h"
#include <pthread.h>

#define ck_result(call, result) ck_assert_int_eq((call), CXU_##result)
#define ck_success(call) ck_result(call, SUCCESS)

/* A context on GPU 0, which is current. */
extern CUcontext work_context;
void work_setup(void);
void work_teardown(void);

/* A host function that blocks until the test lets it go. */
typedef struct stream_gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool entered, open;
    CUstream stream;
} stream_gate;

#define GATE_CLOSED                                                             \
    {                                                                           \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false, NULL \
    }

void gate_put(stream_gate *gate, CUstream stream); /* the stream stops there */
void gate_wait_entered(stream_gate *gate);
void gate_open(stream_gate *gate);

/* Host functions that write down in which order they ran. */
typedef struct stream_journal {
    pthread_mutex_t lock;
    char letters[64];
    int length;
} stream_journal;

#define JOURNAL_EMPTY                    \
    {                                    \
        PTHREAD_MUTEX_INITIALIZER, "", 0 \
    }

void journal_put(stream_journal *journal, CUstream stream, char letter);
int journal_length(stream_journal *journal);
void ck_journal(stream_journal *journal, const char *letters);

CUstream make_stream(unsigned int flags);
CUevent make_event(void);
CUdeviceptr make_memory(size_t bytes);

/* Device bytes through a stream of their own, which waits for nothing. */
void read_device(void *out, CUdeviceptr pointer, size_t bytes);

#endif
