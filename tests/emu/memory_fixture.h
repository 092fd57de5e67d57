/* What the tests of emulated memory share: small GPUs, and streams that stand still until told. */
#ifndef CX_TEST_MEMORY_FIXTURE_H
#define CX_TEST_MEMORY_FIXTURE_H

#include "emu/memory/allocation.h"
#include "emu/emu.h"
#include "test.h"

#include <semaphore.h>

#define MIB ((size_t)1 << 20)
#define GPU_BYTES (64 * MIB)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CX_TEST_SANITIZED 1
#else
#define CX_TEST_SANITIZED 0
#endif

#define ck_success(call) ck_assert_int_eq(call, CXU_SUCCESS)

/* Two GPUs of GPU_BYTES, with a context on the first that is current. */
extern CUcontext fixture_context;
void two_gpus(void);

/* The host device, then one GPU; a context on the host device is current. */
void host_and_gpu(void);

/* Destroys the context, and checks that no device has memory in use. */
void all_given_back(void);

/* A device's memory in use, and one allocation's bytes as the driver reaches them. */
size_t used_bytes(CUdevice device);
unsigned char *driver_bytes(CUdeviceptr pointer);

/* A stream whose work stands still until the gate opens. */
typedef struct memory_gate {
    sem_t open;
    CUstream stream;
} memory_gate;
void memory_gate_close(memory_gate *gate);
void memory_gate_open(memory_gate *gate);
void memory_gate_end(memory_gate *gate); /* open it before */

/* Queues work that uses the memory and then sets *done. */
void use_memory(CUstream stream, CUdeviceptr pointer, _Atomic int *done);

#endif
