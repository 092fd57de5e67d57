#include "pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

void totals_add(totals *self, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        self->histogram[bytes[i]]++;
    self->crc = (uint32_t)crc32_z(self->crc, bytes, count);
    self->bytes += count;
}

bool totals_equal(const totals *left, const totals *right)
{
    return left->bytes == right->bytes && left->crc == right->crc &&
           memcmp(left->histogram, right->histogram, sizeof left->histogram) == 0;
}

bool source_open(source *self, const char *name, size_t chunk_bytes)
{
    struct stat status;
    *self = (source){.lock = PTHREAD_MUTEX_INITIALIZER, .name = name, .chunk_bytes = chunk_bytes};
    if (strcmp(name, "-") == 0)
        return true;
    self->file = open(name, O_RDONLY | O_CLOEXEC);
    if (self->file < 0)
        return false;
    if (fstat(self->file, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(self->file);
        errno = EISDIR;
        return false;
    }
    if (S_ISREG(status.st_mode))
        self->size_bytes = (size_t)status.st_size;
    return true;
}

void source_close(source *self)
{
    if (self->file > STDERR_FILENO)
        close(self->file);
}

/* Pipes give less than was asked for; a chunk is full unless it is the last. */
static ssize_t fill(int file, unsigned char *buffer, size_t capacity)
{
    size_t filled = 0;
    while (filled < capacity) {
        ssize_t count = read(file, buffer + filled, capacity - filled);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        if (count == 0)
            break;
        filled += (size_t)count;
    }
    return (ssize_t)filled;
}

int source_read(source *self, void *buffer, size_t *out_chunk, size_t *out_bytes)
{
    int answer = 0;
    pthread_mutex_lock(&self->lock);
    if (!self->ended) {
        ssize_t count = fill(self->file, buffer, self->chunk_bytes);
        self->ended = count <= 0;
        answer = count < 0 ? -1 : count > 0;
        if (count > 0) {
            totals_add(&self->plain, buffer, (size_t)count);
            *out_chunk = self->next_chunk++;
            *out_bytes = (size_t)count;
        }
    }
    pthread_mutex_unlock(&self->lock);
    return answer;
}
