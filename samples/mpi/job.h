/* The MPI job: its ranks, the nodes they share, and the one line with which a failure ends it. */
#ifndef MPI_JOB_H
#define MPI_JOB_H

#include <ctxrt/ctxrt.h>
#include <mpi.h>

typedef struct mpi_job {
    int rank, size;
    int node;      /* the lowest rank of this rank's node */
    int node_rank; /* among the ranks of the node */
    int node_size;
    MPI_Comm node_ranks; /* the ranks of the node */
} mpi_job;

/* Starts MPI. From now on job_fail may be called. */
void job_begin(int *argc, char ***argv);

/* Finds the ranks of this node. With `nodes` above 0, consecutive ranks of one machine pretend to
 * be on so many nodes. */
void job_split(mpi_job *self, int nodes);

void job_end(mpi_job *self);

/* The ranks beside this one in the ring. */
static inline int job_left(const mpi_job *self)
{
    return (self->rank + self->size - 1) % self->size;
}

static inline int job_right(const mpi_job *self)
{
    return (self->rank + 1) % self->size;
}

/* Rank 0 prints the title, and the rows of all ranks in their order; each gives `count` of them. */
enum { JOB_ROW_BYTES = 768 };
void job_print_rows(const mpi_job *self, const char *title, char (*rows)[JOB_ROW_BYTES],
                    int count);

/* Prints one line and ends the job, with the exit status 1. Of several ranks of a node that fail,
 * one prints; the others wait for the end. */
__attribute__((format(printf, 1, 2))) _Noreturn void job_fail(const char *format, ...);

/* The same, with the exit status 2 and without the rank: all ranks read the same options. */
__attribute__((format(printf, 1, 2))) _Noreturn void job_wrong_use(const char *format, ...);

/* Fail unless the call succeeded; `call` is its text. */
void job_check_mpi(int result, const char *call);
void job_check(ctxrt_status status, const char *call);

#define MPI_OK(call) job_check_mpi((call), #call)
#define OK(call) job_check((call), #call)

#endif
