#include "emu/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)

/* ---- fat binaries ---- */

#define WRAPPER_MAGIC 0x466243b1u
#define FAT_MAGIC 0xba55ed50u
#define ELF_MAGIC "\177ELF"

enum { FAT_PTX = 1 };
enum { FAT_COMPRESSED_LZ4 = 0x2000, FAT_COMPRESSED_ZSTD = 0x8000 };

typedef struct fat_wrapper {
    uint32_t magic, version;
    const void *content;
    const void *unused;
} fat_wrapper;

typedef struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* behind the header */
} fat_header;

typedef struct fat_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* behind the entry's header */
    uint32_t compressed_bytes;
    uint32_t unused;
    uint16_t minor, major;
    uint32_t architecture;
    uint32_t name_offset, name_bytes;
    uint64_t flags;
} fat_entry;

/* The PTX of an entry ends with a zero, or does not. */
static cxu_result take_text(const char *text, size_t bytes, cx_emu_text *out_text)
{
    *out_text = (cx_emu_text){text, strnlen(text, bytes)};
    return CXU_SUCCESS;
}

static cxu_result find_entry(const unsigned char *at, uint64_t left,
                             const cx_emu_code_options *options, cx_emu_text *out_text)
{
    bool compressed = false, machine = false;
    fat_entry entry;

    while (left >= sizeof entry) {
        memcpy(&entry, at, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > left ||
            entry.bytes > left - entry.header_bytes)
            return CXU_INVALID_IMAGE;
        if (entry.kind != FAT_PTX)
            machine = true;
        else if (entry.flags & (FAT_COMPRESSED_LZ4 | FAT_COMPRESSED_ZSTD))
            compressed = true;
        else
            return take_text((const char *)at + entry.header_bytes, entry.bytes, out_text);
        at += entry.header_bytes + entry.bytes;
        left -= entry.header_bytes + entry.bytes;
    }
    if (compressed) {
        cx_emu_code_complain(options,
                             "the PTX of a fat binary is compressed (build with --no-compress)");
        return CXU_NOT_SUPPORTED;
    }
    if (machine) {
        cx_emu_code_complain(options, "a fat binary has machine code and no PTX");
        return CXU_NO_BINARY_FOR_GPU;
    }
    return CXU_INVALID_IMAGE;
}

static cxu_result find_in_fat(const unsigned char *image, const cx_emu_code_options *options,
                              cx_emu_text *out_text)
{
    fat_header header;

    memcpy(&header, image, sizeof header);
    if (header.magic != FAT_MAGIC || header.header_bytes < sizeof header)
        return CXU_INVALID_IMAGE;
    return find_entry(image + header.header_bytes, header.bytes, options, out_text);
}

/* How long an image is, nobody says: text ends with a zero, and is looked at up to there. */
cxu_result cx_emu_image_find(const void *image, const cx_emu_code_options *options,
                             cx_emu_text *out_text)
{
    const unsigned char *bytes = image;
    uint32_t magic;

    if (bytes[0] == '\0')
        return CXU_INVALID_IMAGE;
    if (strncmp(image, ELF_MAGIC, strlen(ELF_MAGIC)) == 0) {
        cx_emu_code_complain(options, "the image is machine code, and there is no PTX");
        return CXU_NO_BINARY_FOR_GPU;
    }
    if (bytes[0] == (FAT_MAGIC & 0xff) || bytes[0] == (WRAPPER_MAGIC & 0xff)) {
        memcpy(&magic, image, sizeof magic);
        if (magic == FAT_MAGIC)
            return find_in_fat(image, options, out_text);
        if (magic == WRAPPER_MAGIC)
            return find_in_fat(((const fat_wrapper *)image)->content, options, out_text);
    }
    if ((bytes[0] < ' ' && !strchr("\t\r\n", bytes[0])) || bytes[0] >= 0x7f)
        return CXU_INVALID_IMAGE;
    return take_text(image, strlen(image), out_text);
}

/* ---- files ---- */

/* An address in a file is no address here, and a binary may be cut off. */
static bool all_there(const char *text, size_t bytes)
{
    fat_header header;

    memcpy(&header, text, sizeof header);
    if (header.magic == WRAPPER_MAGIC)
        return false;
    return header.magic != FAT_MAGIC ||
           (header.header_bytes <= bytes && header.bytes <= bytes - header.header_bytes);
}

/* With zeroes behind it, so that no header runs over its end. */
cxu_result cx_emu_image_read(const char *path, char **out_text)
{
    FILE *file = fopen(path, "re");
    size_t bytes = 0, capacity = 64 << 10;
    char *text = NULL, *grown;
    bool done = false;

    if (!file)
        return CXU_FILE_NOT_FOUND;
    while (!done && capacity <= FILE_BYTES_MAX) {
        grown = realloc(text, capacity);
        if (!grown)
            break;
        text = grown;
        bytes += fread(text + bytes, 1, capacity - bytes - sizeof(fat_entry), file);
        done = feof(file) && !ferror(file);
        if (ferror(file))
            break;
        memset(text + bytes, 0, sizeof(fat_entry));
        capacity *= 2;
    }
    fclose(file);
    if (!done || !all_there(text, bytes)) {
        free(text);
        return CXU_INVALID_IMAGE;
    }
    *out_text = text;
    return CXU_SUCCESS;
}
