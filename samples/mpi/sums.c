#include "sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void reduce(totals *sum, const totals *own)
{
    MPI_OK(
        MPI_Reduce(own->histogram, sum->histogram, 256, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
    MPI_OK(MPI_Reduce(&own->bytes, &sum->bytes, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
}

/* The checksum of the file is that of the blocks in their order: a rank has its neighbour's. */
static uint32_t combine(const mpi_job *job, const totals *own, int step)
{
    uint64_t pair[2] = {own->crc, own->bytes};
    uint64_t(*pairs)[2] = calloc((size_t)job->size, sizeof *pairs);
    uint32_t crc = 0;
    if (pairs == NULL)
        job_fail("no memory for the checksums of %d ranks", job->size);
    MPI_OK(MPI_Gather(pair, 2, MPI_UINT64_T, pairs, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    for (int block = 0; job->rank == 0 && block < job->size; block++) {
        const uint64_t *its = pairs[(block + step + job->size) % job->size];
        crc = (uint32_t)crc32_combine(crc, (uLong)its[0], (z_off_t)its[1]);
    }
    free(pairs);
    return crc;
}

void sums_reduce(mpi_sums *self, const mpi_job *job, const totals *counted,
                 const totals arrived[DIRECTIONS])
{
    memset(self, 0, sizeof *self);
    reduce(&self->counted, counted);
    for (int i = 0; i < DIRECTIONS; i++) {
        reduce(&self->arrived[i], &arrived[i]);
        self->arrived[i].crc = combine(job, &arrived[i], i == RIGHTWARD ? 1 : -1);
    }
}

static bool same_histogram(const totals *left, const totals *right)
{
    return left->bytes == right->bytes &&
           memcmp(left->histogram, right->histogram, sizeof left->histogram) == 0;
}

bool sums_report(const mpi_sums *self, const mpi_job *job, const totals *plain)
{
    bool same = same_histogram(&self->counted, plain);
    printf("counted on the GPUs:  %llu bytes, %s histogram\n",
           (unsigned long long)self->counted.bytes, same ? "the same" : "ANOTHER");
    for (int i = 0; job->size > 1 && i < DIRECTIONS; i++) {
        bool equal = totals_equal(&self->arrived[i], plain);
        printf("on the %s GPUs: %llu bytes, crc32 %08x, %s histogram\n",
               i == RIGHTWARD ? "right-hand" : "left-hand ",
               (unsigned long long)self->arrived[i].bytes, self->arrived[i].crc,
               same_histogram(&self->arrived[i], plain) ? "the same" : "ANOTHER");
        same = same && equal;
    }
    printf("plain CPU pass:       %llu bytes, crc32 %08x\n%s\n", (unsigned long long)plain->bytes,
           plain->crc, same ? "the same bytes, the same histogram" : "THEY DIFFER");
    return same;
}
