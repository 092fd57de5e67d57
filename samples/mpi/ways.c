#include "ways.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(OPEN_MPI) && defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

enum { OFFER_TAG = 20, VERDICT_TAG = 30 };

const char *const way_names[WAY_COUNT] = {"exported", "ipc", "aware", "staged"};

static const char *const way_texts[WAY_COUNT] = {
    [WAY_EXPORTED] = "exported memory, by file descriptor",
    [WAY_IPC] = "exported memory, by cuIpc",
    [WAY_AWARE] = "CUDA-aware MPI",
    [WAY_STAGED] = "pinned staging through MPI",
};

/* A receiver's offer to the rank that sends to it. Plain bytes. */
typedef struct offer {
    bool made;
    unsigned char uuid[16];      /* of the GPU */
    size_t mapped_bytes;         /* of WAY_EXPORTED */
    ctxrt_exported_memory token; /* of WAY_IPC */
    char reason[REASON_BYTES];
} offer;

/* The state of settling. */
typedef struct mpi_talk {
    mpi_ways *ways;
    const mpi_rank_device *rank_device;
    post own_post;
    char peer_posts[DIRECTIONS][POST_PATH_BYTES]; /* of the ranks that send here */
    int brought[DIRECTIONS];                      /* descriptors, or -1 */
    bool out_settled[DIRECTIONS], in_settled[DIRECTIONS];
} mpi_talk;

bool ways_mpi_is_aware(void)
{
    int all, own = 0;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    own = MPIX_Query_cuda_support();
#elif defined(MPIX_GPU_SUPPORT_CUDA)
    (void)MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &own);
#endif
    MPI_OK(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    return all != 0;
}

/* ---- the receiver: memory that a block lands in ---- */

static bool refused(char reason[REASON_BYTES])
{
    const ctxrt_error *error = ctxrt_last_error();
    snprintf(reason, REASON_BYTES, "%s", error->message);
    return false;
}

/* cuIpc shares whole allocations of the driver: the memory needs one of its own. */
static bool alloc_direct(incoming *in, char reason[REASON_BYTES])
{
    ctxrt_allocator *direct;
    OK(ctxrt_allocator_direct(&direct));
    OK(ctxrt_frame_set_allocator(direct));
    ctxrt_status status = ctxrt_memory_alloc(in->bytes, &in->memory);
    if (status != CTXRT_SUCCESS)
        (void)refused(reason);
    OK(ctxrt_frame_set_allocator(NULL));
    return status == CTXRT_SUCCESS;
}

static bool offer_ipc(incoming *in, offer *out_offer)
{
    if (!alloc_direct(in, out_offer->reason))
        return false;
    if (ctxrt_memory_export(in->memory, &out_offer->token) != CTXRT_SUCCESS) {
        (void)refused(out_offer->reason);
        OK(ctxrt_memory_release(in->memory));
        in->memory = NULL;
        return false;
    }
    in->landed = ctxrt_memory_pointer(in->memory);
    return true;
}

static bool offer_exported(mpi_talk *self, int direction, offer *out_offer)
{
    incoming *in = &self->ways->in[direction];
    int file;
    if (!exported_create(&in->made, &self->rank_device->info, in->bytes, &file, out_offer->reason))
        return false;
    bool brought = post_bring(self->peer_posts[direction], direction, file);
    if (!brought)
        snprintf(out_offer->reason, REASON_BYTES, "the socket %.100s: %s",
                 self->peer_posts[direction], strerror(errno));
    close(file);
    if (!brought) {
        exported_close(&in->made);
        return false;
    }
    in->landed = in->made.pointer;
    out_offer->mapped_bytes = in->made.bytes;
    return true;
}

static void make_offer(mpi_talk *self, int direction, mpi_way way, offer *out_offer)
{
    incoming *in = &self->ways->in[direction];
    memset(out_offer, 0, sizeof *out_offer);
    memcpy(out_offer->uuid, self->rank_device->info.uuid, sizeof out_offer->uuid);
    if (!in->same_node)
        snprintf(out_offer->reason, REASON_BYTES, "another node");
    else if (in->bytes == 0)
        snprintf(out_offer->reason, REASON_BYTES, "an empty block");
    else if (!self->in_settled[direction])
        out_offer->made = way == WAY_EXPORTED ? offer_exported(self, direction, out_offer)
                                              : offer_ipc(in, out_offer);
}

static void close_landing(incoming *in)
{
    exported_close(&in->made);
    OK(ctxrt_memory_release(in->memory));
    in->memory = NULL;
    in->landed = NULL;
}

/* ---- the sender: the peer's memory, here ---- */

/* The import needs the device of the memory: it has to be visible here. */
static bool open_ipc(outgoing *out, const offer *its, char reason[REASON_BYTES])
{
    ctxrt_device device;
    CTXRT_SCOPE ctxrt_scope scope = CTXRT_SCOPE_INIT;
    if (ctxrt_device_by_uuid(its->uuid, &device) != CTXRT_SUCCESS) {
        snprintf(reason, REASON_BYTES, "its GPU is invisible here");
        return false;
    }
    if (CTXRT_SCOPE_ENTER(device, &scope) != CTXRT_SUCCESS ||
        ctxrt_memory_import(&its->token, &out->imported) != CTXRT_SUCCESS)
        return refused(reason);
    out->there = ctxrt_memory_pointer(out->imported);
    return true;
}

static bool open_exported(mpi_talk *self, int direction, const offer *its,
                          char reason[REASON_BYTES])
{
    outgoing *out = &self->ways->out[direction];
    while (self->brought[direction] < 0) {
        int number, file = post_take(&self->own_post, &number);
        if (number < 0 || number >= DIRECTIONS || self->brought[number] >= 0)
            job_fail("a descriptor came that nobody waits for");
        self->brought[number] = file;
    }
    bool opened = exported_open(&out->opened, &self->rank_device->info, its->mapped_bytes,
                                self->brought[direction], reason);
    close(self->brought[direction]);
    self->brought[direction] = -1;
    if (opened)
        out->there = out->opened.pointer;
    return opened;
}

/* Keeps the reasons of all refusals. */
static void note_refusal(outgoing *out, const char *reason)
{
    size_t length = strlen(out->reason);
    if (*reason != '\0' && strcmp(out->reason, reason) != 0)
        snprintf(out->reason + length, sizeof out->reason - length, "%s%s", length > 0 ? "; " : "",
                 reason);
}

static bool take_offer(mpi_talk *self, int direction, mpi_way way, const offer *its)
{
    outgoing *out = &self->ways->out[direction];
    char reason[REASON_BYTES] = "";
    bool opened = false;
    if (its->made)
        opened = way == WAY_EXPORTED ? open_exported(self, direction, its, reason)
                                     : open_ipc(out, its, reason);
    if (!opened)
        note_refusal(out, its->made ? reason : its->reason);
    return opened;
}

/* ---- both ---- */

/* One direction tries one way: offers go against it, verdicts along it. */
static void try_way(mpi_talk *self, int direction, mpi_way way)
{
    outgoing *out = &self->ways->out[direction];
    incoming *in = &self->ways->in[direction];
    offer own, its;
    int opened = 0, its_opened = 0;
    make_offer(self, direction, way, &own);
    MPI_OK(MPI_Sendrecv(&own, (int)sizeof own, MPI_BYTE, in->peer, OFFER_TAG + direction, &its,
                        (int)sizeof its, MPI_BYTE, out->peer, OFFER_TAG + direction, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    if (!self->out_settled[direction] && take_offer(self, direction, way, &its)) {
        out->way = way;
        self->out_settled[direction] = true;
        opened = 1;
    }
    MPI_OK(MPI_Sendrecv(&opened, 1, MPI_INT, out->peer, VERDICT_TAG + direction, &its_opened, 1,
                        MPI_INT, in->peer, VERDICT_TAG + direction, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
    if (its_opened) {
        in->way = way;
        self->in_settled[direction] = true;
    } else if (own.made) {
        close_landing(in);
    }
}

/* MPI carries the others. */
static void settle_rest(mpi_talk *self, mpi_way rest)
{
    for (int i = 0; i < DIRECTIONS; i++) {
        incoming *in = &self->ways->in[i];
        if (!self->out_settled[i])
            self->ways->out[i].way = rest;
        if (self->in_settled[i])
            continue;
        in->way = rest;
        if (in->bytes == 0)
            continue;
        OK(ctxrt_memory_alloc(in->bytes, &in->memory));
        in->landed = ctxrt_memory_pointer(in->memory);
    }
}

static void meet(mpi_talk *self, const mpi_job *job)
{
    int left = job_left(job), right = job_right(job);
    int *nodes = calloc((size_t)job->size, sizeof *nodes);
    if (nodes == NULL)
        job_fail("no memory for the nodes of %d ranks", job->size);
    MPI_OK(MPI_Allgather(&job->node, 1, MPI_INT, nodes, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < DIRECTIONS; i++) {
        outgoing *out = &self->ways->out[i];
        incoming *in = &self->ways->in[i];
        out->peer = i == RIGHTWARD ? right : left;
        in->peer = i == RIGHTWARD ? left : right;
        out->same_node = nodes[out->peer] == job->node;
        in->same_node = nodes[in->peer] == job->node;
        MPI_OK(MPI_Sendrecv(self->own_post.path, POST_PATH_BYTES, MPI_CHAR, out->peer, OFFER_TAG,
                            self->peer_posts[i], POST_PATH_BYTES, MPI_CHAR, in->peer, OFFER_TAG,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    free(nodes);
}

void ways_settle(mpi_ways *self, const mpi_job *job, const mpi_rank_device *rank_device,
                 const size_t bytes_in[DIRECTIONS], ways_wish wish)
{
    mpi_talk talk = {.ways = self, .rank_device = rank_device};
    memset(self, 0, sizeof *self);
    for (int i = 0; i < DIRECTIONS; i++) {
        self->in[i].bytes = bytes_in[i];
        talk.brought[i] = -1;
    }
    post_open(&talk.own_post);
    meet(&talk, job);
    for (mpi_way way = wish.best; way <= WAY_IPC; way++)
        for (int i = 0; i < DIRECTIONS; i++)
            try_way(&talk, i, way);
    settle_rest(&talk, wish.aware && wish.best <= WAY_AWARE ? WAY_AWARE : WAY_STAGED);
    post_close(&talk.own_post);
}

void ways_print_all(const mpi_ways *self, const mpi_job *job)
{
    char rows[DIRECTIONS][JOB_ROW_BYTES] = {""};
    for (int i = 0; i < DIRECTIONS; i++) {
        const outgoing *out = &self->out[i];
        snprintf(rows[i], sizeof rows[i], "%4d -> %-4d %s%s%s\n", job->rank, out->peer,
                 way_texts[out->way], *out->reason != '\0' ? ": " : "", out->reason);
    }
    job_print_rows(job, "", rows, DIRECTIONS);
}

void ways_close(mpi_ways *self)
{
    for (int i = 0; i < DIRECTIONS; i++) {
        exported_close(&self->out[i].opened);
        OK(ctxrt_memory_release(self->out[i].imported));
    }
    MPI_OK(MPI_Barrier(MPI_COMM_WORLD)); /* memory outlives those who opened it */
    for (int i = 0; i < DIRECTIONS; i++)
        close_landing(&self->in[i]);
}
