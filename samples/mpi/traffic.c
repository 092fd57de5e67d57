#include "traffic.h"

static bool guarded = true;
static ctxrt_device device;
static long restored;

void traffic_guard(bool on, ctxrt_device of)
{
    guarded = on;
    device = of;
}

long traffic_restored(void)
{
    return restored;
}

static void enter(ctxrt_scope *scope)
{
    if (guarded)
        OK(CTXRT_SCOPE_ENTER(device, scope));
}

static void leave(ctxrt_scope *scope)
{
    ctxrt_status status = ctxrt_scope_leave(scope);
    if (status == CTXRT_ERROR_STACK_LEFTOVER)
        restored++;
    else
        OK(status);
}

void traffic_send(const void *bytes, size_t count, int peer, int tag, MPI_Request *out_request)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    enter(&scope);
    MPI_OK(MPI_Isend(bytes, (int)count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, out_request));
    leave(&scope);
}

void traffic_receive(void *bytes, size_t count, int peer, int tag, MPI_Request *out_request)
{
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    enter(&scope);
    MPI_OK(MPI_Irecv(bytes, (int)count, MPI_BYTE, peer, tag, MPI_COMM_WORLD, out_request));
    leave(&scope);
}

bool traffic_done(MPI_Request *request)
{
    int done;
    ctxrt_scope scope = CTXRT_SCOPE_INIT;
    enter(&scope);
    MPI_OK(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    leave(&scope);
    return done != 0;
}
