/*
 * For tests, preloaded: stands in front of MPI and makes it what it is not here.
 *
 *   CHECK_FRONT_AWARE=1       CUDA-aware. It makes the context of another GPU current, where there
 *                             is one, and leaves it, as such a library may.
 *   CHECK_FRONT_KILL=RANK     that rank is killed when it sends its second chunk
 *   CHECK_FRONT_CORRUPT=RANK  the second chunk that it sends has one bit changed
 */
#include "driver.h"
#include "sender.h"

#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) int MPIX_Query_cuda_support(void);

/* A transfer of GPU memory, through a buffer. */
typedef struct transfer {
    MPI_Request request;
    void *buffer;
    CUdeviceptr destination; /* of a receive; else 0 */
    size_t bytes;
} transfer;

enum { TRANSFERS_MAX = 64, DEVICE_MEMORY = 2 };
static transfer transfers[TRANSFERS_MAX];

static void need(int good)
{
    if (!good)
        abort();
}

static int rank(void)
{
    int own;
    need(PMPI_Comm_rank(MPI_COMM_WORLD, &own) == MPI_SUCCESS);
    return own;
}

static int is_for(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && atoi(value) == rank();
}

int MPIX_Query_cuda_support(void)
{
    return getenv("CHECK_FRONT_AWARE") != NULL;
}

#ifdef MPIX_GPU_SUPPORT_CUDA
/* The question of MPICH. */
__attribute__((visibility("default"))) int MPIX_GPU_query_support(int type, int *supported)
{
    *supported = type == MPIX_GPU_SUPPORT_CUDA && MPIX_Query_cuda_support();
    return MPI_SUCCESS;
}
#endif

static int is_on_gpu(const void *bytes)
{
    unsigned int type = 0;
    return getenv("CHECK_FRONT_AWARE") != NULL &&
           cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)bytes) ==
               CUDA_SUCCESS &&
           type == DEVICE_MEMORY;
}

static void make_current(const void *bytes)
{
    CUcontext context;
    need(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)bytes) ==
         CUDA_SUCCESS);
    need(cuCtxSetCurrent(context) == CUDA_SUCCESS);
}

/* A primary context that is not the rank's, kept for good. */
static void leave_another(void)
{
    static CUcontext other;
    CUdevice own, device;
    int count = 1;
    need(cuCtxGetDevice(&own) == CUDA_SUCCESS && cuDeviceGetCount(&count) == CUDA_SUCCESS);
    need(cuDeviceGet(&device, (own + 1) % count) == CUDA_SUCCESS);
    need(other != NULL || cuDevicePrimaryCtxRetain(&other, device) == CUDA_SUCCESS);
    need(cuCtxSetCurrent(other) == CUDA_SUCCESS);
}

static transfer *find(MPI_Request request)
{
    for (int i = 0; i < TRANSFERS_MAX; i++)
        if (transfers[i].buffer != NULL && transfers[i].request == request)
            return &transfers[i];
    return NULL;
}

static transfer *begin(const void *bytes, size_t count)
{
    transfer *self = transfers;
    while (self->buffer != NULL)
        need(++self < transfers + TRANSFERS_MAX);
    self->buffer = malloc(count + 1);
    self->bytes = count;
    need(self->buffer != NULL);
    make_current(bytes);
    return self;
}

static void disturb(const void *bytes, int tag)
{
    static int chunks;
    if (tag != BLOCK_TAG || ++chunks != 2)
        return;
    if (is_for("CHECK_FRONT_KILL"))
        raise(SIGKILL);
    if (is_for("CHECK_FRONT_CORRUPT"))
        *(unsigned char *)(uintptr_t)bytes ^= 1; /* a slot of pinned memory */
}

__attribute__((visibility("default"))) int MPI_Isend(const void *bytes, int count,
                                                     MPI_Datatype type, int peer, int tag,
                                                     MPI_Comm comm, MPI_Request *request)
{
    disturb(bytes, tag);
    if (!is_on_gpu(bytes))
        return PMPI_Isend(bytes, count, type, peer, tag, comm, request);
    transfer *self = begin(bytes, (size_t)count);
    need(cuMemcpyDtoH(self->buffer, (uintptr_t)bytes, self->bytes) == CUDA_SUCCESS);
    int result = PMPI_Isend(self->buffer, count, type, peer, tag, comm, request);
    self->destination = 0;
    self->request = *request;
    leave_another();
    return result;
}

__attribute__((visibility("default"))) int MPI_Irecv(void *bytes, int count, MPI_Datatype type,
                                                     int peer, int tag, MPI_Comm comm,
                                                     MPI_Request *request)
{
    if (!is_on_gpu(bytes))
        return PMPI_Irecv(bytes, count, type, peer, tag, comm, request);
    transfer *self = begin(bytes, (size_t)count);
    int result = PMPI_Irecv(self->buffer, count, type, peer, tag, comm, request);
    self->destination = (uintptr_t)bytes;
    self->request = *request;
    leave_another();
    return result;
}

__attribute__((visibility("default"))) int MPI_Test(MPI_Request *request, int *done,
                                                    MPI_Status *status)
{
    transfer *self = find(*request);
    int result = PMPI_Test(request, done, status);
    if (self == NULL || !*done)
        return result;
    if (self->destination != 0) {
        make_current((const void *)(uintptr_t)self->destination);
        need(cuMemcpyHtoD(self->destination, self->buffer, self->bytes) == CUDA_SUCCESS);
        leave_another();
    }
    free(self->buffer);
    self->buffer = NULL;
    return result;
}
