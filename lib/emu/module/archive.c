#include "emu/module/archive.h"

#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARCHIVE_MAGIC "!<arch>\n"
#define MEMBER_HEADER 60
#define MEMBER_SIZE 48 /* ten digits in the header */
#define FAT_MAGIC 0xba55ed50u
#define FAT_HEADER 16

typedef struct search {
    cx_emu_fat_visit visit;
    void *self;
    size_t found;
} search;

static bool begins_with(const void *image, size_t bytes, const char *magic)
{
    return bytes >= strlen(magic) && memcmp(image, magic, strlen(magic)) == 0;
}

bool cx_emu_is_archive(const void *image, size_t bytes)
{
    return begins_with(image, bytes, ARCHIVE_MAGIC) || begins_with(image, bytes, ELFMAG);
}

/* ---- sections ---- */

/* Fat binaries lie one behind the other, with zeros between them. */
static cxu_result visit_section(search *self, const unsigned char *at, size_t left)
{
    while (left >= FAT_HEADER) {
        uint32_t magic;
        uint16_t header;
        uint64_t bytes;
        cxu_result result;

        memcpy(&magic, at, sizeof magic);
        memcpy(&header, at + 6, sizeof header);
        memcpy(&bytes, at + 8, sizeof bytes);
        if (magic == 0) {
            at += 8;
            left -= 8;
            continue;
        }
        if (magic != FAT_MAGIC || header < FAT_HEADER || header > left || bytes > left - header)
            return CXU_INVALID_IMAGE;
        result = self->visit(self->self, at);
        if (result != CXU_SUCCESS)
            return result;
        self->found++;
        at += header + bytes;
        left -= header + bytes;
    }
    return CXU_SUCCESS;
}

static bool holds_code(const char *name, size_t room)
{
    static const char *const names[] = {".nv_fatbin", "__nv_relfatbin"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (room > strlen(names[i]) && strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* ---- objects ---- */

static bool read_section(const unsigned char *image, size_t bytes, const Elf64_Ehdr *header,
                         size_t index, Elf64_Shdr *out)
{
    uint64_t at = header->e_shoff + index * sizeof *out;

    if (header->e_shoff > bytes || at + sizeof *out > bytes)
        return false;
    memcpy(out, image + at, sizeof *out);
    return out->sh_type == SHT_NOBITS ||
           (out->sh_offset <= bytes && out->sh_size <= bytes - out->sh_offset);
}

/* An object for another kind of machine has no fat binaries. */
static cxu_result visit_object(search *self, const unsigned char *image, size_t bytes)
{
    Elf64_Ehdr header;
    Elf64_Shdr names, section;
    cxu_result result = CXU_SUCCESS;

    if (bytes < sizeof header)
        return CXU_INVALID_IMAGE;
    memcpy(&header, image, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shnum == 0)
        return CXU_SUCCESS;
    if (header.e_shentsize != sizeof section ||
        !read_section(image, bytes, &header, header.e_shstrndx, &names))
        return CXU_INVALID_IMAGE;
    for (size_t i = 0; result == CXU_SUCCESS && i < header.e_shnum; i++) {
        if (!read_section(image, bytes, &header, i, &section))
            return CXU_INVALID_IMAGE;
        if (section.sh_type == SHT_PROGBITS && section.sh_name < names.sh_size &&
            holds_code((const char *)image + names.sh_offset + section.sh_name,
                       names.sh_size - section.sh_name))
            result = visit_section(self, image + section.sh_offset, section.sh_size);
    }
    return result;
}

/* ---- archives ---- */

static cxu_result visit_members(search *self, const unsigned char *at, size_t left)
{
    cxu_result result = CXU_SUCCESS;

    while (result == CXU_SUCCESS && left > MEMBER_HEADER) {
        char digits[11] = {0};
        size_t bytes;

        memcpy(digits, at + MEMBER_SIZE, sizeof digits - 1);
        bytes = strtoul(digits, NULL, 10);
        at += MEMBER_HEADER;
        left -= MEMBER_HEADER;
        if (bytes > left)
            return CXU_INVALID_IMAGE;
        if (begins_with(at, bytes, ELFMAG))
            result = visit_object(self, at, bytes);
        bytes += bytes % 2 && bytes < left;
        at += bytes;
        left -= bytes;
    }
    return result;
}

cxu_result cx_emu_archive_visit(const void *image, size_t bytes, cx_emu_fat_visit visit, void *self)
{
    const size_t magic = strlen(ARCHIVE_MAGIC);
    search all = {visit, self, 0};
    cxu_result result;

    if (begins_with(image, bytes, ELFMAG))
        result = visit_object(&all, image, bytes);
    else if (begins_with(image, bytes, ARCHIVE_MAGIC))
        result = visit_members(&all, (const unsigned char *)image + magic, bytes - magic);
    else
        result = CXU_INVALID_IMAGE;
    return result == CXU_SUCCESS && all.found == 0 ? CXU_NO_BINARY_FOR_GPU : result;
}
