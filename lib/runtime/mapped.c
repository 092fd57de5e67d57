#include "runtime/mapped.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The segment of a loaded object that has an address. */
typedef struct segment {
    uintptr_t at; /* that is looked for */
    uintptr_t end;
    ElfW(Word) flags;
} segment;

static bool has_address(const struct dl_phdr_info *object, const ElfW(Phdr) * part,
                        uintptr_t address)
{
    uintptr_t begin = object->dlpi_addr + part->p_vaddr;
    return address >= begin && address - begin < part->p_memsz;
}

static int find_segment(struct dl_phdr_info *object, size_t size, void *argument)
{
    segment *self = argument;
    bool is_protected = false; /* after relocation */
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *each = &object->dlpi_phdr[i];
        if (!has_address(object, each, self->at))
            continue;
        is_protected = is_protected || each->p_type == PT_GNU_RELRO;
        if (each->p_type == PT_LOAD) {
            self->end = object->dlpi_addr + each->p_vaddr + each->p_memsz;
            self->flags = each->p_flags;
        }
    }
    if (is_protected)
        self->flags &= ~(ElfW(Word))PF_W;
    return self->end != 0;
}

/* The kernel's read fails where the thread's own read would fault. Where it is forbidden, the pages
 * are believed to be there. */
static bool is_mapped(uintptr_t at, size_t bytes)
{
    enum { PAGES = 64 };
    char read[PAGES];
    struct iovec pages[PAGES];
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const int reason = errno;
    bool is_there = bytes <= UINTPTR_MAX - at;
    for (uintptr_t left = bytes; is_there && left > 0;) {
        size_t count = 0;
        for (; count < PAGES && left > 0; count++) {
            uintptr_t here = page - at % page < left ? page - at % page : left;
            pages[count] = (struct iovec){(void *)at, 1};
            at += here;
            left -= here;
        }
        const struct iovec into = {read, count};
        ssize_t done = process_vm_readv(getpid(), &into, 1, pages, count, 0);
        is_there = done == (ssize_t)count || (done < 0 && errno != EFAULT);
    }
    errno = reason;
    return is_there;
}

static bool is_accessible(const void *pointer, size_t bytes, ElfW(Word) rights)
{
    segment found = {.at = (uintptr_t)pointer};
    if (pointer == NULL)
        return false;
    if (dl_iterate_phdr(find_segment, &found) == 0)
        return is_mapped(found.at, bytes);
    return bytes <= found.end - found.at && (found.flags & rights) == rights;
}

bool cx_cudart_is_readable(const void *at, size_t bytes)
{
    return is_accessible(at, bytes, PF_R);
}

bool cx_cudart_is_writable(const void *at, size_t bytes)
{
    return is_accessible(at, bytes, PF_R | PF_W);
}

/* Outside of an object page by page, since the length is unknown. */
static bool ends_within_pages(const char *text)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (;;) {
        size_t left = page - (uintptr_t)text % page;
        if (!is_mapped((uintptr_t)text, left))
            return false;
        if (memchr(text, '\0', left) != NULL)
            return true;
        text += left;
    }
}

bool cx_cudart_is_text(const char *text)
{
    segment found = {.at = (uintptr_t)text};
    if (text == NULL)
        return false;
    if (dl_iterate_phdr(find_segment, &found) == 0)
        return ends_within_pages(text);
    return (found.flags & PF_R) != 0 && memchr(text, '\0', found.end - found.at) != NULL;
}
