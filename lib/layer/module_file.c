#include "layer/module_file.h"

#include "base/cancel.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- paths ---- */

enum { LINE = PATH_MAX + 128 };

/* A line is "begin-end flags offset device inode   path". */
static bool has_address(const char *line, uintptr_t address)
{
    char *rest;
    uintptr_t begin = (uintptr_t)strtoull(line, &rest, 16);
    return *rest == '-' && address >= begin && address < (uintptr_t)strtoull(rest + 1, NULL, 16);
}

static bool take_path(const char *line, char *path, size_t size)
{
    static const char deleted[] = " (deleted)";
    const char *begin = strchr(line, '/');
    size_t length = begin != NULL ? strlen(begin) : 0;
    const size_t mark = sizeof deleted - 1;
    if (length > mark && strcmp(begin + length - mark, deleted) == 0)
        length -= mark;
    if (length == 0 || length >= size)
        return false;
    memcpy(path, begin, length);
    path[length] = '\0';
    return true;
}

/* Reads line by line, without memory of the host's allocator. */
static bool find_line(int file, uintptr_t address, char line[LINE])
{
    size_t length = 0;
    for (;;) {
        char *end = memchr(line, '\n', length);
        if (end == NULL) {
            ssize_t more = length < LINE - 1 ? read(file, line + length, LINE - 1 - length) : 0;
            if (more <= 0)
                return false;
            length += (size_t)more;
            continue;
        }
        *end = '\0';
        if (has_address(line, address))
            return true;
        length -= (size_t)(end + 1 - line);
        memmove(line, end + 1, length);
    }
}

bool cx_module_file_path(const void *address, char *path, size_t size)
{
    char line[LINE];
    int cancel = cx_cancel_hold();
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool found = file >= 0 && find_line(file, (uintptr_t)address, line) &&
                 take_path(line, path, size);
    if (file >= 0)
        (void)close(file);
    cx_cancel_restore(cancel);
    return found;
}

/* ---- build ids ---- */

/* Notes are padded to four bytes. */
static size_t find_id(const char *note, size_t bytes, uint8_t out_id[CX_MODULE_ID])
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        memcpy(&head, note, sizeof head);
        const size_t name = (head.n_namesz + 3u) & ~(size_t)3;
        const size_t text = (head.n_descsz + 3u) & ~(size_t)3;
        if (name + text > bytes - sizeof head)
            return 0;
        const char *content = note + sizeof head;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
            memcmp(content, "GNU", 4) == 0 && head.n_descsz <= CX_MODULE_ID) {
            memcpy(out_id, content + name, head.n_descsz);
            return head.n_descsz;
        }
        note = content + name + text;
        bytes -= sizeof head + name + text;
    }
    return 0;
}

size_t cx_module_file_id(const void *begin, uint8_t out_id[CX_MODULE_ID])
{
    const char *base = begin;
    const ElfW(Ehdr) *head = begin;
    if (memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_phentsize != sizeof(ElfW(Phdr)))
        return 0;
    const ElfW(Phdr) *all = (const void *)(base + head->e_phoff);
    ElfW(Addr) first = 0; /* the address in the file at which the first mapping begins */
    for (int i = head->e_phnum; i-- > 0;)
        if (all[i].p_type == PT_LOAD)
            first = all[i].p_vaddr & -all[i].p_align;
    for (int i = 0; i < head->e_phnum; i++) {
        size_t bytes = all[i].p_type == PT_NOTE
                           ? find_id(base + (all[i].p_vaddr - first), all[i].p_filesz, out_id)
                           : 0;
        if (bytes != 0)
            return bytes;
    }
    return 0;
}

/* ---- packages ---- */

static bool is_library(const char *name)
{
    const char *end = strstr(name, ".so");
    return end != NULL && (end[3] == '\0' || end[3] == '.');
}

/* Folders that libraries of many packages are in: /usr/lib and those of machines in it. */
static bool is_of_system(const char *path, size_t folder)
{
    static const char *const all[] = {"/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/",
                                      "/usr/local/lib/"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const size_t length = strlen(all[i]);
        if (strncmp(path, all[i], length) == 0 &&
            (folder + 1 == length || memchr(path + length, '/', folder - length) == NULL))
            return true;
    }
    return false;
}

bool cx_module_file_same_package(const char *one, const char *other)
{
    const char *first = strrchr(one, '/'), *second = strrchr(other, '/');
    if (first == NULL || second == NULL || first - one != second - other)
        return false;
    const size_t folder = (size_t)(first - one);
    return strncmp(one, other, folder) == 0 && is_library(first) && is_library(second) &&
           !is_of_system(one, folder);
}
