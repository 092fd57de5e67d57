/*
 * Functions that the headers of a newer C library make programs call, for programs that are to run
 * on an older one; see old_libc.sh. The linker takes them where the older one lacks them.
 */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Inline functions until 2.33. */
#undef stat
#undef fstat
#undef lstat
#undef fstatat
int fstatat(int folder, const char *path, struct stat *out, int flags)
{
    return (int)syscall(SYS_newfstatat, folder, path, out, flags);
}

int stat(const char *path, struct stat *out)
{
    return fstatat(AT_FDCWD, path, out, 0);
}

int lstat(const char *path, struct stat *out)
{
    return fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int fstat(int file, struct stat *out)
{
    return (int)syscall(SYS_fstat, file, out);
}

/* Since 2.30. */
pid_t gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Since 2.33, with numbers that do not wrap at 4 GiB as these do. */
#if __GLIBC_PREREQ(2, 33)
struct mallinfo2 mallinfo2(void)
{
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    struct mallinfo now = mallinfo();
    return (struct mallinfo2){.arena = (unsigned int)now.arena,
                              .uordblks = (unsigned int)now.uordblks,
                              .fordblks = (unsigned int)now.fordblks,
                              .hblkhd = (unsigned int)now.hblkhd};
}
#endif

/* Since 2.35. */
#ifdef DLFO_STRUCT_HAS_EH_DBASE
struct search {
    uintptr_t place, start, end;
};

static int look_at(struct dl_phdr_info *module, size_t size, void *argument)
{
    struct search *search = argument;
    uintptr_t start = UINTPTR_MAX, end = 0;
    (void)size;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        uintptr_t from = module->dlpi_addr + module->dlpi_phdr[i].p_vaddr;
        uintptr_t to = from + module->dlpi_phdr[i].p_memsz;
        if (module->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        start = from < start ? from : start;
        end = to > end ? to : end;
    }
    if (search->place < start || search->place >= end)
        return 0;
    search->start = start & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
    search->end = end;
    return 1;
}

int _dl_find_object(void *place, struct dl_find_object *out)
{
    struct search search = {.place = (uintptr_t)place};
    Dl_info info;
    void *module = NULL;
    if (dladdr1(place, &info, &module, RTLD_DL_LINKMAP) == 0 || module == NULL ||
        dl_iterate_phdr(look_at, &search) == 0)
        return -1;
    out->dlfo_map_start = (void *)search.start;
    out->dlfo_map_end = (void *)search.end;
    out->dlfo_link_map = module;
    return 0;
}
#endif

/* Since 2.38 the headers rename these, so that they also read binary numbers. Those of old are
 * declared by their symbols. */
#define RENAMED(result, name, symbol, ...)          \
    result old_##name(__VA_ARGS__) __asm__(symbol); \
    result __isoc23_##name(__VA_ARGS__);            \
    result __isoc23_##name(__VA_ARGS__)
RENAMED(long, strtol, "strtol", const char *text, char **end, int base)
{
    return old_strtol(text, end, base);
}
RENAMED(long long, strtoll, "strtoll", const char *text, char **end, int base)
{
    return old_strtoll(text, end, base);
}
RENAMED(unsigned long, strtoul, "strtoul", const char *text, char **end, int base)
{
    return old_strtoul(text, end, base);
}
RENAMED(unsigned long long, strtoull, "strtoull", const char *text, char **end, int base)
{
    return old_strtoull(text, end, base);
}
RENAMED(intmax_t, strtoimax, "strtoimax", const char *text, char **end, int base)
{
    return old_strtoimax(text, end, base);
}
RENAMED(uintmax_t, strtoumax, "strtoumax", const char *text, char **end, int base)
{
    return old_strtoumax(text, end, base);
}
RENAMED(int, vsscanf, "__isoc99_vsscanf", const char *text, const char *format, va_list out)
{
    return old_vsscanf(text, format, out);
}
int __isoc23_sscanf(const char *text, const char *format, ...);
int __isoc23_sscanf(const char *text, const char *format, ...)
{
    va_list out;
    va_start(out, format);
    int count = old_vsscanf(text, format, out);
    va_end(out);
    return count;
}
RENAMED(int, vfscanf, "__isoc99_vfscanf", FILE *file, const char *format, va_list out)
{
    return old_vfscanf(file, format, out);
}
int __isoc23_fscanf(FILE *file, const char *format, ...);
int __isoc23_fscanf(FILE *file, const char *format, ...)
{
    va_list out;
    va_start(out, format);
    int count = old_vfscanf(file, format, out);
    va_end(out);
    return count;
}
