/*
 * mpi_pipeline: the pipeline across processes. Each rank of an MPI job has a GPU, counts its part
 * of a file there, and meanwhile sends it to the GPUs of its neighbours; docs/cluster.md.
 *
 *   mpirun -n 4 mpi_pipeline FILE                 (or: mpirun -n 4 ctxrt run mpi_pipeline FILE)
 */
#include "options.h"
#include "sums.h"
#include "traffic.h"

#include <stdio.h>

static void start_runtime(void)
{
    /* The program's own driver calls go to libcuda, so ctxrt's have to: not into the library. */
    ctxrt_options with = CTXRT_OPTIONS_INIT;
    with.cuda_driver = CTXRT_CUDA_DRIVER_LIBCUDA;
    OK(ctxrt_init(&with));
}

static void size_neighbours(const mpi_job *job, size_t file_bytes, size_t chunk_bytes,
                            size_t out_bytes[DIRECTIONS])
{
    out_bytes[RIGHTWARD] = block_size(file_bytes, chunk_bytes, job_left(job), job->size);
    out_bytes[LEFTWARD] = block_size(file_bytes, chunk_bytes, job_right(job), job->size);
}

/* A rank that is alone only counts. */
static void count_alone(const mpi_block *block, totals *counted)
{
    mpi_counter counter;
    counter_open(&counter, block);
    counter_start(&counter, block);
    counter_finish(&counter, block, counted->histogram);
}

static void count_and_exchange(const mpi_job *job, const mpi_rank_device *rank_device,
                               const mpi_options *with, const mpi_block *block, size_t file_bytes,
                               totals *counted, totals arrived[DIRECTIONS])
{
    mpi_counter counter;
    mpi_exchange exchange;
    mpi_ways ways;
    size_t bytes_in[DIRECTIONS];
    size_neighbours(job, file_bytes, block->chunk_bytes, bytes_in);
    ways_settle(&ways, job, rank_device, bytes_in, with->wish);
    ways_print_all(&ways, job);
    counter_open(&counter, block);
    exchange_open(&exchange, &ways, block, &counter);
    counter_start(&counter, block);
    exchange_run(&exchange);
    counter_finish(&counter, block, counted->histogram);
    for (int i = 0; i < DIRECTIONS; i++)
        arrived[i] = exchange.receivers[i].totals;
    if (with->verify)
        exchange_verify(&exchange, block);
    exchange_close(&exchange);
    ways_close(&ways);
}

static void report_restored(const mpi_job *job)
{
    long own = traffic_restored(), all;
    MPI_OK(MPI_Reduce(&own, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (job->rank == 0 && all > 0)
        printf("MPI left another context current %ld times: scopes restored ours\n", all);
}

/* In a scope of the rank's GPU. */
static bool work(const mpi_job *job, const mpi_rank_device *rank_device, const mpi_options *with)
{
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    totals plain = {0}, counted = {0}, arrived[DIRECTIONS] = {{.bytes = 0}};
    mpi_block block;
    mpi_sums sums;
    bool same = true;
    OK(CTXRT_SCOPE_ENTER(rank_device->device, &scope));
    traffic_guard(with->guarded, rank_device->device);
    size_t file_bytes = block_scatter(&block, job, with->file, with->chunk_bytes, &plain);
    counted.bytes = block.bytes;
    if (job->size == 1)
        count_alone(&block, &counted);
    else
        count_and_exchange(job, rank_device, with, &block, file_bytes, &counted, arrived);
    block_release(&block);
    sums_reduce(&sums, job, &counted, arrived);
    report_restored(job);
    if (job->rank == 0)
        same = sums_report(&sums, job, &plain);
    if (job->rank == 0 && with->verify && job->size > 1)
        printf("every block came bit for bit, both ways\n");
    return same;
}

int main(int argc, char **argv)
{
    mpi_job job;
    mpi_rank_device rank_device;
    job_begin(&argc, &argv);
    mpi_options with = options_read(argc, argv);
    job_split(&job, with.nodes);
    if (with.file != NULL) {
        with.wish.aware = with.wish.aware && ways_mpi_is_aware();
        start_runtime();
        rank_device_take(&rank_device, &job, with.topology);
        rank_device_print_all(&rank_device, &job);
        if (!work(&job, &rank_device, &with))
            job_fail("the results of the GPUs and the plain pass differ");
        OK(ctxrt_shutdown());
    }
    job_end(&job);
    return 0;
}
