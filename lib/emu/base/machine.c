#include "emu/base/machine.h"

#include "base/cancel.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static size_t pages_bytes(int name)
{
    long pages = sysconf(name);
    long page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (size_t)pages * (size_t)page_bytes : 0;
}

/* Each answer of the system's takes a system call, and allocations ask. */
size_t cx_emu_machine_total_bytes(void)
{
    static _Atomic size_t total_bytes;
    size_t known = atomic_load_explicit(&total_bytes, memory_order_relaxed);
    if (known == 0) {
        known = pages_bytes(_SC_PHYS_PAGES);
        atomic_store_explicit(&total_bytes, known, memory_order_relaxed);
    }
    return known;
}

/* Reads the beginning of the file, which has the lines in question. */
static void read_meminfo(char *text, size_t size)
{
    int cancel = cx_cancel_hold();
    int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, size - 1) : 0;
    if (file >= 0)
        close(file);
    cx_cancel_restore(cancel);
    text[got > 0 ? got : 0] = '\0';
}

size_t cx_emu_machine_free_bytes(void)
{
    char text[512];
    size_t kibibytes;
    read_meminfo(text, sizeof text);
    const char *line = strstr(text, "MemAvailable:");
    if (line == NULL || sscanf(line, "MemAvailable: %zu kB", &kibibytes) != 1)
        return pages_bytes(_SC_AVPHYS_PAGES);
    size_t total_bytes = cx_emu_machine_total_bytes();
    return kibibytes < total_bytes / 1024 ? kibibytes * 1024 : total_bytes;
}
