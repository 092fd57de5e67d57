#include "joined.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Pages of this size suit every host's. */
enum { PAGE = 65536 };

/* This program's own: the library is for the same machine. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* The whole file, which is loaded at its offsets. */
typedef struct image {
    ElfW(Ehdr) head;
    ElfW(Phdr) segments[3];
    ElfW(Dyn) dynamic[9];
    ElfW(Sym) no_symbol;
    uint32_t hash[4]; /* one bucket, one symbol: none is found */
    char strings[2 * PATH_MAX + 64];
} image;

static void fill_head(image *self)
{
    self->head = __ehdr_start;
    self->head.e_ident[EI_OSABI] = ELFOSABI_NONE;
    self->head.e_type = ET_DYN;
    self->head.e_entry = 0;
    self->head.e_phoff = offsetof(image, segments);
    self->head.e_phnum = 3;
    self->head.e_shoff = 0;
    self->head.e_shnum = self->head.e_shstrndx = 0;
}

/* The loader writes into the dynamic section. Without PT_GNU_STACK it would make stacks executable.
 */
static void fill_segments(image *self)
{
    self->segments[0] = (ElfW(Phdr)){.p_type = PT_LOAD,
                                     .p_flags = PF_R | PF_W,
                                     .p_filesz = sizeof *self,
                                     .p_memsz = sizeof *self,
                                     .p_align = PAGE};
    self->segments[1] = (ElfW(Phdr)){.p_type = PT_DYNAMIC,
                                     .p_flags = PF_R | PF_W,
                                     .p_offset = offsetof(image, dynamic),
                                     .p_vaddr = offsetof(image, dynamic),
                                     .p_paddr = offsetof(image, dynamic),
                                     .p_filesz = sizeof self->dynamic,
                                     .p_memsz = sizeof self->dynamic,
                                     .p_align = sizeof(void *)};
    self->segments[2] = (ElfW(Phdr)){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16};
}

/* Puts a string behind those that are there; returns its offset, or 0: there is no room. */
static size_t add_string(image *self, size_t *used, const char *text)
{
    size_t at = *used, size = strlen(text) + 1;
    if (size > sizeof self->strings - at)
        return 0;
    memcpy(self->strings + at, text, size);
    *used += size;
    return at;
}

static bool fill_dynamic(image *self, const char *soname, const char *first, const char *second)
{
    size_t used = 1; /* the empty string */
    const size_t name = add_string(self, &used, soname), one = add_string(self, &used, first),
                 two = add_string(self, &used, second);
    const ElfW(Dyn) entries[] = {{DT_NEEDED, {one}},
                                 {DT_NEEDED, {two}},
                                 {DT_SONAME, {name}},
                                 {DT_HASH, {offsetof(image, hash)}},
                                 {DT_STRTAB, {offsetof(image, strings)}},
                                 {DT_SYMTAB, {offsetof(image, no_symbol)}},
                                 {DT_STRSZ, {used}},
                                 {DT_SYMENT, {sizeof self->no_symbol}},
                                 {DT_NULL, {0}}};
    _Static_assert(sizeof entries == sizeof self->dynamic, "");
    memcpy(self->dynamic, entries, sizeof entries);
    self->hash[0] = self->hash[1] = 1;
    return name != 0 && one != 0 && two != 0;
}

static bool write_all(int to, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t more = write(to, (const char *)bytes + done, size - done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return false;
        done += (size_t)more;
    }
    return true;
}

bool joined_write(const char *file, const char *soname, const char *first, const char *second)
{
    static image whole;
    fill_head(&whole);
    fill_segments(&whole);
    if (!fill_dynamic(&whole, soname, first, second)) {
        errno = ENAMETOOLONG;
        return false;
    }
    int to = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (to < 0)
        return false;
    bool written = write_all(to, &whole, sizeof whole);
    return close(to) == 0 && written;
}
