#include "block.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum { CHUNK_TAG = 10 };

static size_t first_chunk(size_t chunks, int rank, int ranks)
{
    return chunks * (size_t)rank / (size_t)ranks;
}

size_t block_chunks(size_t bytes, size_t chunk_bytes)
{
    return (bytes + chunk_bytes - 1) / chunk_bytes;
}

static size_t smaller(size_t left, size_t right)
{
    return left < right ? left : right;
}

size_t block_size(size_t file_bytes, size_t chunk_bytes, int rank, int ranks)
{
    size_t chunks = block_chunks(file_bytes, chunk_bytes);
    size_t begin = first_chunk(chunks, rank, ranks) * chunk_bytes;
    size_t end = first_chunk(chunks, rank + 1, ranks) * chunk_bytes;
    return smaller(end, file_bytes) - smaller(begin, file_bytes);
}

size_t block_chunk_bytes(size_t block_bytes, size_t chunk_bytes, size_t chunk)
{
    return smaller(chunk_bytes, block_bytes - chunk * chunk_bytes);
}

unsigned char *block_chunk(const mpi_block *self, size_t chunk)
{
    return (unsigned char *)ctxrt_memory_pointer(self->host) + chunk * self->chunk_bytes;
}

/* Reads one chunk of the size that the file had when it was opened. */
static void read_chunk(source *file, void *buffer, size_t wanted)
{
    size_t chunk, bytes = 0;
    int answer = source_read(file, buffer, &chunk, &bytes);
    if (answer < 0)
        job_fail("cannot read %s: %s", file->name, strerror(errno));
    if (bytes != wanted)
        job_fail("%s became shorter while it was read", file->name);
}

/* The size has to be known before the first chunk is sent. */
static void open_file(source *file, const char *name, size_t chunk_bytes)
{
    struct stat status;
    if (!source_open(file, name, chunk_bytes))
        job_fail("cannot read %s: %s", name, strerror(errno));
    if (fstat(file->file, &status) != 0 || !S_ISREG(status.st_mode))
        job_fail("%s is no regular file", name);
}

/* Rank 0: reads its own chunks in place, and the others' into a buffer from which it sends them. */
static void deal(mpi_block *self, const mpi_job *job, source *file)
{
    ctxrt_memory *buffer;
    OK(ctxrt_memory_alloc_pinned(self->chunk_bytes, &buffer));
    for (size_t i = 0; i < self->chunks; i++)
        read_chunk(file, block_chunk(self, i),
                   block_chunk_bytes(self->bytes, self->chunk_bytes, i));
    for (int rank = 1; rank < job->size; rank++) {
        size_t bytes = block_size(file->size_bytes, self->chunk_bytes, rank, job->size);
        for (size_t i = 0; i < block_chunks(bytes, self->chunk_bytes); i++) {
            size_t part = block_chunk_bytes(bytes, self->chunk_bytes, i);
            read_chunk(file, ctxrt_memory_pointer(buffer), part);
            MPI_OK(MPI_Send(ctxrt_memory_pointer(buffer), (int)part, MPI_BYTE, rank, CHUNK_TAG,
                            MPI_COMM_WORLD));
        }
    }
    OK(ctxrt_memory_release(buffer));
}

static void receive(mpi_block *self)
{
    for (size_t i = 0; i < self->chunks; i++)
        MPI_OK(MPI_Recv(block_chunk(self, i),
                        (int)block_chunk_bytes(self->bytes, self->chunk_bytes, i), MPI_BYTE, 0,
                        CHUNK_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

size_t block_scatter(mpi_block *self, const mpi_job *job, const char *name, size_t chunk_bytes,
                     totals *out_plain)
{
    source file;
    uint64_t file_bytes = 0;
    if (job->rank == 0) {
        open_file(&file, name, chunk_bytes);
        file_bytes = file.size_bytes;
    }
    MPI_OK(MPI_Bcast(&file_bytes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    *self = (mpi_block){.chunk_bytes = chunk_bytes};
    self->bytes = block_size(file_bytes, chunk_bytes, job->rank, job->size);
    self->chunks = block_chunks(self->bytes, chunk_bytes);
    if (self->bytes > 0)
        OK(ctxrt_memory_alloc_pinned(self->bytes, &self->host));
    if (job->rank == 0) {
        deal(self, job, &file);
        source_close(&file);
        *out_plain = file.plain;
    } else {
        receive(self);
    }
    return file_bytes;
}

void block_release(mpi_block *self)
{
    OK(ctxrt_memory_release(self->host));
}
