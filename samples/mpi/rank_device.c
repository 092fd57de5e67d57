#include "rank_device.h"

#include "choice.h"
#include "locality.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that a rank of the node says about itself. */
typedef struct view {
    int rank;
    gpus_seen gpus;
} view;

static void look(gpus_seen *seen, const locality *place)
{
    const char *why;
    OK(ctxrt_device_count(CTXRT_DEVICE_CUDA, &seen->count));
    if (seen->count == 0) {
        ctxrt_device_info info;
        OK(ctxrt_device_properties(CTXRT_CUDA(0), &info)); /* the message says why */
    }
    if (seen->count > GPUS_MAX)
        seen->count = GPUS_MAX;
    for (int i = 0; i < seen->count; i++) {
        ctxrt_device_info info;
        OK(ctxrt_device_properties(CTXRT_CUDA(i), &info));
        memcpy(seen->gpu[i].uuid, info.uuid, sizeof info.uuid);
        memcpy(seen->gpu[i].pci_bus_id, info.pci_bus_id, sizeof info.pci_bus_id);
        seen->gpu[i].distance = locality_distance(place, info.pci_bus_id, &why);
    }
}

/* Every rank of the node makes the same choice from the same views. */
static int choose(const mpi_job *job, const gpus_seen *own, int *out_sharers)
{
    gpus_seen *seen = calloc((size_t)job->node_size, sizeof *seen);
    int *ranks = calloc((size_t)job->node_size, sizeof *ranks);
    int *chosen = calloc((size_t)job->node_size, sizeof *chosen);
    int owner, blind;
    if (seen == NULL || ranks == NULL || chosen == NULL)
        job_fail("no memory for the views of %d ranks", job->node_size);
    MPI_OK(MPI_Allgather(own, (int)sizeof *own, MPI_BYTE, seen, (int)sizeof *own, MPI_BYTE,
                         job->node_ranks));
    MPI_OK(MPI_Allgather(&job->rank, 1, MPI_INT, ranks, 1, MPI_INT, job->node_ranks));
    choice_make(seen, job->node_size, chosen);
    if (job->node_rank == 0 && choice_hides(seen, chosen, job->node_size, &owner, &blind))
        fprintf(stderr,
                "mpi_pipeline: warning: rank %d's GPU is invisible to rank %d: Slurm "
                "--gpus-per-task hides it; use --gpus-per-node\n",
                ranks[owner], ranks[blind]);
    int mine = chosen[job->node_rank];
    *out_sharers = choice_sharers(seen, chosen, job->node_rank);
    free(seen);
    free(ranks);
    free(chosen);
    return mine;
}

static void explain(mpi_rank_device *self, const mpi_job *job, const gpus_seen *seen,
                    const locality *place, int sharers)
{
    const char *unknown = "";
    int least = seen->gpu[0].distance, most = least;
    int distance = locality_distance(place, self->info.pci_bus_id, &unknown);
    size_t length;
    for (int i = 1; i < seen->count; i++) {
        least = seen->gpu[i].distance < least ? seen->gpu[i].distance : least;
        most = seen->gpu[i].distance > most ? seen->gpu[i].distance : most;
    }
    if (distance == DISTANCE_UNKNOWN)
        snprintf(self->why, sizeof self->why, "node-local rank %d: %s %s", job->node_rank, unknown,
                 self->info.pci_bus_id);
    else if (least == most)
        snprintf(self->why, sizeof self->why, "node-local rank %d: hwloc distance %d to each",
                 job->node_rank, distance);
    else
        snprintf(self->why, sizeof self->why, "hwloc distance %d, of %d to %d", distance, least,
                 most);
    length = strlen(self->why);
    if (sharers > 0)
        snprintf(self->why + length, sizeof self->why - length, "; shared with %d before it",
                 sharers);
}

void rank_device_take(mpi_rank_device *self, const mpi_job *job, const char *topology)
{
    gpus_seen seen = {0};
    locality place;
    int sharers;
    if (!locality_open(&place, topology))
        job_fail("hwloc cannot read the topology %s", topology != NULL ? topology : "of the node");
    look(&seen, &place);
    self->device = CTXRT_CUDA(choose(job, &seen, &sharers));
    OK(ctxrt_device_properties(self->device, &self->info));
    locality_cpus(&place, self->cpus, sizeof self->cpus);
    explain(self, job, &seen, &place, sharers);
    locality_close(&place);
}

void rank_device_uuid_text(const unsigned char uuid[16], char text[UUID_TEXT_BYTES])
{
    char *at = text + sprintf(text, "GPU-");
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

void rank_device_print_all(const mpi_rank_device *self, const mpi_job *job)
{
    char host[MPI_MAX_PROCESSOR_NAME], uuid[UUID_TEXT_BYTES], title[128];
    char row[1][JOB_ROW_BYTES] = {""};
    int length;
    MPI_OK(MPI_Get_processor_name(host, &length));
    rank_device_uuid_text(self->info.uuid, uuid);
    snprintf(title, sizeof title, "rank  %-12s %-40s  %-8s %s\n", "host", "GPU", "CPUs",
             "why this GPU");
    snprintf(row[0], sizeof row[0], "%4d  %-12s %s  %-8s %s\n", job->rank, host, uuid, self->cpus,
             self->why);
    job_print_rows(job, title, row, 1);
}
