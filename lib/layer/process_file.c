#include "layer/process_file.h"

#include "base/cancel.h"
#include "base/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

cx_lock cx_process_file_lock = CX_LOCK_INIT(PROCESS_FILE);

CX_FORK_CONSTRUCTOR static void watch_forks(void)
{
    static cx_fork_hook hook = {.rank = CX_RANK_PROCESS_FILE, .lock = &cx_process_file_lock};
    cx_fork_watch(&hook);
}

/* Keeps errno. */
static void close_file(int file)
{
    int error = errno;
    (void)close(file);
    errno = error;
}

bool cx_process_file_make(cx_process_file *self, const char *folder, const char *prefix)
{
    if (snprintf(self->path, sizeof self->path, "%s/%s%ld.XXXXXX", folder, prefix,
                 (long)getpid()) >= (int)sizeof self->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    int cancel = cx_cancel_hold();
    int file = mkostemp(self->path, O_CLOEXEC);
    if (file >= 0)
        close_file(file);
    cx_cancel_restore(cancel);
    return file >= 0;
}

/* ---- room ---- */

/* A file beyond the limit would be a signal. */
static bool passes_limit(uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           bytes > limit.rlim_cur;
}

static int write_zeroes(int file, uint64_t offset, uint64_t bytes)
{
    static const char zeroes[4096];
    while (bytes > 0) {
        size_t next = bytes < sizeof zeroes ? (size_t)bytes : sizeof zeroes;
        ssize_t written = pwrite(file, zeroes, next, (off_t)offset);
        if (written < 0 && errno != EINTR)
            return errno;
        if (written == 0)
            return ENOSPC;
        if (written > 0) {
            offset += (uint64_t)written;
            bytes -= (uint64_t)written;
        }
    }
    return 0;
}

/* Some file systems cannot reserve. */
static int reserve(int file, uint64_t offset, uint64_t bytes)
{
    if (passes_limit(offset + bytes))
        return EFBIG;
    for (;;) {
        if (fallocate(file, 0, (off_t)offset, (off_t)bytes) == 0)
            return 0;
        if (errno == EOPNOTSUPP || errno == ENOSYS)
            return write_zeroes(file, offset, bytes);
        if (errno != EINTR)
            return errno;
    }
}

int cx_process_file_reserve(const cx_process_file *self, uint64_t offset, uint64_t bytes)
{
    int cancel = cx_cancel_hold();
    int file = open(self->path, O_RDWR | O_CLOEXEC);
    int error = file >= 0 ? reserve(file, offset, bytes) : errno;
    if (file >= 0)
        close_file(file);
    cx_cancel_restore(cancel);
    return error;
}

void cx_process_file_empty(const cx_process_file *self)
{
    int error = errno;
    (void)truncate(self->path, 0);
    errno = error;
}

/* ---- mappings ---- */

void *cx_process_file_map(const cx_process_file *self, uint64_t offset, uint64_t bytes, void *place)
{
    void *mapped = MAP_FAILED;
    int cancel = cx_cancel_hold();
    int file = open(self->path, O_RDWR | O_CLOEXEC);
    if (file >= 0) {
        mapped = mmap(place, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | (place != NULL ? MAP_FIXED : 0), file, (off_t)offset);
        close_file(file);
    }
    cx_cancel_restore(cancel);
    return mapped != MAP_FAILED ? mapped : NULL;
}

void cx_process_file_program(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}
