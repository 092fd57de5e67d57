#include "emu/module/image.h"

#include "emu/device/device.h"
#include "emu/base/state.h"
#include "emu/module/unpack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)

/* ---- fat binaries ---- */

#define WRAPPER_MAGIC 0x466243b1u
#define WRAPPER_OF_PARTS 2
#define FAT_MAGIC 0xba55ed50u
#define ELF_MAGIC "\177ELF"

enum { FAT_PTX = 1 };
enum { FAT_COMPRESSED_LZ4 = 0x2000, FAT_COMPRESSED_ZSTD = 0x8000 };

typedef struct fat_wrapper {
    uint32_t magic, version;
    const void *content;
    const void *const *parts; /* fat binaries, the last one NULL; of version 2 */
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
    uint64_t unused_too;
    uint64_t unpacked_bytes;
} fat_entry;

_Static_assert(sizeof(fat_entry) == 64, "as compilers write it");

/* The PTX of an entry may or may not end with a zero. */
static cxu_result take_text(const char *text, size_t bytes, cx_emu_text *out_text)
{
    *out_text = (cx_emu_text){.text = text, .length = strnlen(text, bytes)};
    return CXU_SUCCESS;
}

static cxu_result unpack_entry(const fat_entry *entry, const unsigned char *bytes,
                               const cx_emu_jit_options *options, cx_emu_text *out_text)
{
    const cx_emu_packed packed = {
        .packing = entry->flags & FAT_COMPRESSED_LZ4 ? CX_EMU_PACKING_LZ4 : CX_EMU_PACKING_ZSTD,
        .bytes = bytes,
        .size_bytes = entry->compressed_bytes,
        .unpacked_bytes = entry->unpacked_bytes,
    };
    const char *name = cx_emu_packing_name(packed.packing);
    char *unpacked;

    if (entry->compressed_bytes > entry->bytes || entry->unpacked_bytes > FILE_BYTES_MAX)
        return CXU_INVALID_IMAGE;
    cxu_result result = cx_emu_unpack(&packed, &unpacked);
    if (result == CXU_NOT_SUPPORTED)
        cx_emu_jit_complain(options,
                             "the PTX of a fat binary is compressed by %s, and ctxrt was built "
                             "without it (build the binary with --no-compress)",
                             name);
    if (result == CXU_INVALID_IMAGE)
        cx_emu_jit_complain(options, "the PTX of a fat binary is no %s", name);
    if (result != CXU_SUCCESS)
        return result;
    *out_text = (cx_emu_text){unpacked, strnlen(unpacked, packed.unpacked_bytes), unpacked};
    return CXU_SUCCESS;
}

/* Prefers the newest code that the device can run, else the one nearest to it. */
static bool is_better(const fat_entry *entry, const fat_entry *best)
{
    uint32_t target = (uint32_t)cx_emu_target();
    bool fits = entry->architecture <= target;
    if (best->architecture > target)
        return fits || entry->architecture < best->architecture;
    return fits && entry->architecture > best->architecture;
}

static cxu_result find_entry(const unsigned char *at, uint64_t left,
                             const cx_emu_jit_options *options, cx_emu_text *out_text)
{
    const unsigned char *found = NULL;
    fat_entry entry, best = {0};
    bool machine = false;

    while (left >= sizeof entry) {
        memcpy(&entry, at, sizeof entry);
        if (entry.header_bytes < sizeof entry || entry.header_bytes > left ||
            entry.bytes > left - entry.header_bytes)
            return CXU_INVALID_IMAGE;
        if (entry.kind != FAT_PTX) {
            machine = true;
        } else if (found == NULL || is_better(&entry, &best)) {
            found = at + entry.header_bytes;
            best = entry;
        }
        at += entry.header_bytes + entry.bytes;
        left -= entry.header_bytes + entry.bytes;
    }
    if (found != NULL)
        return best.flags & (FAT_COMPRESSED_LZ4 | FAT_COMPRESSED_ZSTD)
                   ? unpack_entry(&best, found, options, out_text)
                   : take_text((const char *)found, best.bytes, out_text);
    if (machine) {
        cx_emu_jit_complain(options, "a fat binary has machine code and no PTX");
        return CXU_NO_BINARY_FOR_GPU;
    }
    return CXU_INVALID_IMAGE;
}

static cxu_result find_in_fat(const unsigned char *image, const cx_emu_jit_options *options,
                              cx_emu_text *out_text)
{
    fat_header header;

    if (image == NULL)
        return CXU_INVALID_IMAGE;
    memcpy(&header, image, sizeof header);
    if (header.magic != FAT_MAGIC || header.header_bytes < sizeof header)
        return CXU_INVALID_IMAGE;
    return find_entry(image + header.header_bytes, header.bytes, options, out_text);
}

/* Behind blanks and comments. */
static bool begins_as_ptx(const char *text)
{
    for (;;) {
        text += strspn(text, " \t\r\n\v\f");
        if (strncmp(text, "//", 2) == 0) {
            text += strcspn(text, "\n");
        } else if (strncmp(text, "/*", 2) == 0) {
            const char *end = strstr(text + 2, "*/");
            if (end == NULL)
                return false;
            text = end + 2;
        } else {
            return strncmp(text, ".version", strlen(".version")) == 0;
        }
    }
}

/* The length of an image is unknown: a text ends with a zero, and is read up to there. */
cxu_result cx_emu_image_find(const void *image, const cx_emu_jit_options *options,
                             cx_emu_text *out_text)
{
    const unsigned char *bytes = image;
    uint32_t magic;

    if (bytes[0] == '\0')
        return CXU_INVALID_IMAGE;
    if (strncmp(image, ELF_MAGIC, strlen(ELF_MAGIC)) == 0) {
        cx_emu_jit_complain(options, "the image is machine code, and there is no PTX");
        return CXU_NO_BINARY_FOR_GPU;
    }
    if (bytes[0] == (FAT_MAGIC & 0xff) || bytes[0] == (WRAPPER_MAGIC & 0xff)) {
        memcpy(&magic, image, sizeof magic);
        if (magic == FAT_MAGIC)
            return find_in_fat(image, options, out_text);
        if (magic == WRAPPER_MAGIC)
            return find_in_fat(((const fat_wrapper *)image)->content, options, out_text);
    }
    if (!begins_as_ptx(image)) {
        cx_emu_jit_complain(options, "the image is no PTX, which begins with .version");
        return CXU_INVALID_IMAGE;
    }
    return take_text(image, strlen(image), out_text);
}

const void *const *cx_emu_image_parts(const void *image)
{
    const fat_wrapper *wrapper = image;

    if (*(const unsigned char *)image != (WRAPPER_MAGIC & 0xff) ||
        memcmp(image, &(uint32_t){WRAPPER_MAGIC}, sizeof(uint32_t)) != 0)
        return NULL;
    return wrapper->version >= WRAPPER_OF_PARTS && wrapper->parts != NULL &&
                   wrapper->parts[0] != NULL
               ? wrapper->parts
               : NULL;
}

/* ---- files ---- */

/* A pointer in a file is invalid here, and a binary may be cut off. */
static bool all_there(const char *text, size_t bytes)
{
    fat_header header;

    memcpy(&header, text, sizeof header);
    if (header.magic == WRAPPER_MAGIC)
        return false;
    return header.magic != FAT_MAGIC ||
           (header.header_bytes <= bytes && header.bytes <= bytes - header.header_bytes);
}

/* Adds zeroes, so that no header reaches beyond the end. */
cxu_result cx_emu_image_read(const char *path, char **out_text, size_t *out_bytes)
{
    FILE *file = fopen(path, "re");
    size_t bytes = 0, capacity = 64 << 10;
    char *text = NULL, *grown;
    bool done = false;

    if (file == NULL)
        return cx_emu_system_result(CXU_FILE_NOT_FOUND);
    setvbuf(file, NULL, _IONBF, 0); /* the text is the buffer */
    while (!done && capacity <= FILE_BYTES_MAX) {
        grown = realloc(text, capacity);
        if (grown == NULL) {
            fclose(file);
            free(text);
            return CXU_OUT_OF_MEMORY;
        }
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
    if (out_bytes != NULL)
        *out_bytes = bytes;
    return CXU_SUCCESS;
}
