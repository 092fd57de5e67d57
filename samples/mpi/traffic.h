/*
 * MPI calls in a scope of ctxrt. A CUDA-aware MPI may make the context of GPU memory current, or
 * one of its own, and leave it: the scope restores what was current before.
 */
#ifndef MPI_TRAFFIC_H
#define MPI_TRAFFIC_H

#include "job.h"

#include <stdbool.h>

/* Whether calls have a scope (`true` at the start), and the device of it. */
void traffic_guard(bool guarded, ctxrt_device device);

void traffic_send(const void *bytes, size_t count, int peer, int tag, MPI_Request *out_request);
void traffic_receive(void *bytes, size_t count, int peer, int tag, MPI_Request *out_request);

/* True once the request is complete. Never waits; lets MPI make progress. */
bool traffic_done(MPI_Request *request);

/* How many calls left another context current than they had found. */
long traffic_restored(void);

#endif
