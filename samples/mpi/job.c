#include "job.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* A failure needs no job: it may come from any depth. */
static MPI_Comm machine_ranks; /* the ranks of this machine */
static MPI_Win window;
static atomic_int *claimed; /* in memory that they share: 1 once one of them has failed */

static void share_claim(void)
{
    int rank;
    void *memory;
    MPI_OK(MPI_Comm_rank(machine_ranks, &rank));
    MPI_OK(MPI_Win_allocate_shared(rank == 0 ? (MPI_Aint)sizeof *claimed : 0, sizeof *claimed,
                                   MPI_INFO_NULL, machine_ranks, &memory, &window));
    MPI_Aint bytes;
    int unit;
    MPI_OK(MPI_Win_shared_query(window, 0, &bytes, &unit, &memory));
    if (rank == 0)
        atomic_init((atomic_int *)memory, 0);
    MPI_OK(MPI_Barrier(machine_ranks));
    claimed = memory;
}

void job_begin(int *argc, char ***argv)
{
    int level;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS) {
        fprintf(stderr, "mpi_pipeline: MPI does not start\n");
        exit(1);
    }
    /* By default MPI itself would print and end the job. */
    MPI_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    MPI_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                               &machine_ranks));
    MPI_OK(MPI_Comm_set_errhandler(machine_ranks, MPI_ERRORS_RETURN));
    share_claim();
}

void job_split(mpi_job *self, int nodes)
{
    MPI_OK(MPI_Comm_rank(MPI_COMM_WORLD, &self->rank));
    MPI_OK(MPI_Comm_size(MPI_COMM_WORLD, &self->size));
    int color = nodes > 0 ? (int)((long)self->rank * nodes / self->size) : 0;
    MPI_OK(MPI_Comm_split(machine_ranks, color, self->rank, &self->node_ranks));
    MPI_OK(MPI_Comm_rank(self->node_ranks, &self->node_rank));
    MPI_OK(MPI_Comm_size(self->node_ranks, &self->node_size));
    MPI_OK(MPI_Allreduce(&self->rank, &self->node, 1, MPI_INT, MPI_MIN, self->node_ranks));
}

void job_end(mpi_job *self)
{
    MPI_OK(MPI_Comm_free(&self->node_ranks));
    MPI_OK(MPI_Win_free(&window));
    MPI_OK(MPI_Comm_free(&machine_ranks));
    MPI_OK(MPI_Finalize());
}

void job_print_rows(const mpi_job *self, const char *title, char (*rows)[JOB_ROW_BYTES], int count)
{
    char(*all)[JOB_ROW_BYTES] = calloc((size_t)(self->size * count), sizeof *all);
    if (all == NULL)
        job_fail("no memory for the rows of %d ranks", self->size);
    MPI_OK(MPI_Gather(rows, count * JOB_ROW_BYTES, MPI_CHAR, all, count * JOB_ROW_BYTES, MPI_CHAR,
                      0, MPI_COMM_WORLD));
    if (self->rank == 0) {
        fputs(title, stdout);
        for (int i = 0; i < self->size * count; i++)
            fputs(all[i], stdout);
        fflush(stdout);
    }
    free(all);
}

/* MPICH's launcher loses what ranks have printed and it has not read when one of them aborts. */
static void await_launcher(void)
{
    int unread = 0;
    for (int i = 0; i < 500 && ioctl(STDERR_FILENO, FIONREAD, &unread) == 0 && unread > 0; i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

static _Noreturn void end_job(const char *line, int exit_status)
{
    if (claimed != NULL && atomic_exchange(claimed, 1) != 0)
        for (;;)
            pause();
    fflush(stdout);
    fputs(line, stderr);
    fflush(stderr);
    await_launcher();
    MPI_Abort(MPI_COMM_WORLD, exit_status);
    _exit(exit_status);
}

_Noreturn void job_fail(const char *format, ...)
{
    char message[800], line[1200], host[MPI_MAX_PROCESSOR_NAME];
    int rank = 0, length;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Get_processor_name(host, &length);
    snprintf(line, sizeof line, "mpi_pipeline: rank %d on %s: %s\n", rank, host, message);
    end_job(line, 1);
}

_Noreturn void job_wrong_use(const char *format, ...)
{
    char message[800], line[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    snprintf(line, sizeof line, "mpi_pipeline: %s; see mpi_pipeline --help\n", message);
    end_job(line, 2);
}

static int name_length(const char *call)
{
    return (int)strcspn(call, "(");
}

void job_check_mpi(int result, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (result == MPI_SUCCESS)
        return;
    (void)MPI_Error_string(result, text, &length);
    job_fail("%.*s: %s", name_length(call), call, text);
}

void job_check(ctxrt_status status, const char *call)
{
    if (status != CTXRT_SUCCESS)
        job_fail("%.*s: %s: %s", name_length(call), call, ctxrt_status_name(status),
                 ctxrt_last_error()->message);
}
