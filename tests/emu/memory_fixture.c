#include "memory_fixture.h"

#include "emu/device/device.h"
#include "emu/base/state.h"
#include "emu/schedule/work.h"

CUcontext fixture_context;

static void start(bool host_device, int gpus)
{
    cx_emu_config config = {
        .host_device = host_device,
        .gpus = gpus,
        .gpu_memory_bytes = GPU_BYTES,
        .driver_version = CX_EMU_DRIVER_VERSION,
    };
    ck_assert(cx_emu_configure(&config));
    ck_success(cx_emu_call_init(0));
    ck_success(cx_emu_call_ctx_create_v2(&fixture_context, 0, 0));
}

void two_gpus(void)
{
    start(false, 2);
}

void host_and_gpu(void)
{
    start(true, 1);
}

void all_given_back(void)
{
    if (fixture_context != NULL)
        ck_success(cx_emu_call_ctx_destroy(fixture_context));
    fixture_context = NULL;
    for (int i = 0; i < cx_emu_device_total(); i++)
        ck_assert_uint_eq(used_bytes(i), 0);
}

size_t used_bytes(CUdevice device)
{
    cx_lock_enter(&cx_emu_lock);
    size_t used = cx_emu_device_find(device)->used_bytes;
    cx_lock_leave(&cx_emu_lock);
    return used;
}

unsigned char *driver_bytes(CUdeviceptr pointer)
{
    cx_lock_enter(&cx_emu_lock);
    cx_emu_allocation *allocation = cx_emu_allocation_find(pointer, 1);
    unsigned char *bytes = allocation == NULL ? NULL : cx_emu_allocation_at(allocation, pointer);
    cx_lock_leave(&cx_emu_lock);
    ck_assert_ptr_nonnull(bytes);
    return bytes;
}

static void wait_at_gate(void *argument)
{
    memory_gate *waiting = argument;
    while (sem_wait(&waiting->open) != 0)
        ;
}

void memory_gate_close(memory_gate *gate)
{
    ck_assert_int_eq(sem_init(&gate->open, 0, 0), 0);
    ck_success(cx_emu_call_stream_create(&gate->stream, CXU_STREAM_NON_BLOCKING));
    ck_success(cx_emu_call_launch_host_func(gate->stream, wait_at_gate, gate));
}

void memory_gate_open(memory_gate *gate)
{
    sem_post(&gate->open);
}

void memory_gate_end(memory_gate *gate)
{
    ck_success(cx_emu_call_stream_synchronize(gate->stream));
    ck_success(cx_emu_call_stream_destroy(gate->stream));
    sem_destroy(&gate->open);
}

static void set_done(void *argument)
{
    _Atomic int *done = argument;
    atomic_store(done, 1);
}

void use_memory(CUstream stream, CUdeviceptr pointer, _Atomic int *done)
{
    cx_lock_enter(&cx_emu_lock);
    cx_emu_allocation *allocation = cx_emu_allocation_find(pointer, 1);
    cxu_result result = cx_emu_work_submit_locked_call(stream, allocation, set_done, done);
    cx_lock_leave(&cx_emu_lock);
    ck_assert_ptr_nonnull(allocation);
    ck_success(result);
}
