#include "layer/process_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

static bool passes_limit(uint64_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           bytes > limit.rlim_cur;
}

int cx_layer_reserve(int file, uint64_t offset, uint64_t bytes)
{
    return passes_limit(offset + bytes) ? EFBIG
                                        : posix_fallocate(file, (off_t)offset, (off_t)bytes);
}

void cx_layer_program(char *path, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}
