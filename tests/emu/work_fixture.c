#include "work_fixture.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

CUcontext work_context;

void work_setup(void)
{
    const cx_emu_config config = {
        .gpus = 2, .gpu_memory_bytes = (size_t)256 << 20, .driver_version = CX_EMU_DRIVER_VERSION};

    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    ck_success(cx_emu_call_ctx_create_v4(&work_context, NULL, 0, 0));
}

void work_teardown(void)
{
    CUcontext current;

    if (work_context)
        ck_success(cx_emu_call_ctx_destroy(work_context));
    ck_success(cx_emu_call_ctx_get_current(&current));
    ck_assert_ptr_null(current);
}

static void block(void *argument)
{
    stream_gate *gate = argument;

    pthread_mutex_lock(&gate->lock);
    gate->entered = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

void gate_put(stream_gate *gate, CUstream stream)
{
    gate->stream = stream;
    ck_success(cx_emu_call_launch_host_func(stream, block, gate));
}

static bool gate_entered(stream_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    bool entered = gate->entered;
    pthread_mutex_unlock(&gate->lock);
    return entered;
}

/* Under some schedules the work before the gate runs only when somebody looks. */
void gate_wait_entered(stream_gate *gate)
{
    while (!gate_entered(gate)) {
        (void)cx_emu_call_stream_query(gate->stream);
        sched_yield();
    }
}

void gate_open(stream_gate *gate)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
}

struct entry {
    stream_journal *journal;
    char letter;
};

static void write_entry(void *argument)
{
    struct entry *entry = argument;

    pthread_mutex_lock(&entry->journal->lock);
    entry->journal->letters[entry->journal->length++] = entry->letter;
    pthread_mutex_unlock(&entry->journal->lock);
    free(entry);
}

void journal_put(stream_journal *journal, CUstream stream, char letter)
{
    struct entry *entry = malloc(sizeof *entry);

    ck_assert_ptr_nonnull(entry);
    entry->journal = journal;
    entry->letter = letter;
    ck_success(cx_emu_call_launch_host_func(stream, write_entry, entry));
}

int journal_length(stream_journal *journal)
{
    pthread_mutex_lock(&journal->lock);
    int length = journal->length;
    pthread_mutex_unlock(&journal->lock);
    return length;
}

void ck_journal(stream_journal *journal, const char *letters)
{
    pthread_mutex_lock(&journal->lock);
    ck_assert_str_eq(journal->letters, letters);
    pthread_mutex_unlock(&journal->lock);
}

CUstream make_stream(unsigned int flags)
{
    CUstream stream;

    ck_success(cx_emu_call_stream_create(&stream, flags));
    return stream;
}

CUevent make_event(void)
{
    CUevent event;

    ck_success(cx_emu_call_event_create(&event, CXU_EVENT_DEFAULT));
    return event;
}

CUdeviceptr make_memory(size_t bytes)
{
    CUdeviceptr pointer;

    ck_success(cx_emu_call_mem_alloc(&pointer, bytes));
    return pointer;
}

void read_device(void *out, CUdeviceptr pointer, size_t bytes)
{
    CUstream stream = make_stream(CXU_STREAM_NON_BLOCKING);

    ck_success(cx_emu_call_memcpy_dtoh_async(out, pointer, bytes, stream));
    ck_success(cx_emu_call_stream_synchronize(stream));
    ck_success(cx_emu_call_stream_destroy(stream));
}
