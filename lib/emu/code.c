#include "emu/code.h"

#include "base/log.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)256 << 20)
#define PTX_VERSION_MAX 90
#define TARGET_MAX 75 /* the compute capability of the emulated GPUs */

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

/* Writes to the log, and to the user's buffer of that kind. */
__attribute__((format(printf, 2, 3))) static void complain(const cx_emu_code_options *options,
                                                           const char *format, ...)
{
    char text[256];
    char *buffer = NULL;
    unsigned int *bytes = NULL;
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cx_log(CTXRT_LOG_INFO, "embedded driver: %s", text);
    for (unsigned int i = 0; i < options->count; i++) {
        if (options->options[i] == CXU_JIT_ERROR_LOG_BUFFER)
            buffer = options->values[i];
        if (options->options[i] == CXU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            bytes = (unsigned int *)&options->values[i];
    }
    if (buffer && bytes && *bytes > 0) {
        snprintf(buffer, *bytes, "%s", text);
        *bytes = (unsigned int)strlen(buffer);
    }
}

static cxu_result result_of(cx_ptx_status status)
{
    switch (status) {
    case CX_PTX_INVALID:
        return CXU_INVALID_PTX;
    case CX_PTX_UNSUPPORTED:
        return CXU_NOT_SUPPORTED;
    default:
        return CXU_OUT_OF_MEMORY;
    }
}

/* ---- PTX ---- */

static cxu_result check_versions(const cx_ptx_module *ptx, const cx_emu_code_options *options)
{
    if (cx_ptx_version(ptx) > PTX_VERSION_MAX) {
        complain(options, "PTX .version %d.%d is newer than %d.%d", cx_ptx_version(ptx) / 10,
                 cx_ptx_version(ptx) % 10, PTX_VERSION_MAX / 10, PTX_VERSION_MAX % 10);
        return CXU_UNSUPPORTED_PTX_VERSION;
    }
    if (cx_ptx_target(ptx) > TARGET_MAX) {
        complain(options, "PTX .target sm_%d is above the device's sm_%d", cx_ptx_target(ptx),
                 TARGET_MAX);
        return CXU_INVALID_PTX;
    }
    return CXU_SUCCESS;
}

static cxu_result load_text(const char *text, size_t length, const cx_emu_code_options *options,
                            cx_emu_code **out_code)
{
    cx_ptx_error error;
    cx_ptx_module *ptx;
    cx_emu_code *code;
    cx_ptx_status status = cx_ptx_load(text, length, &ptx, &error);
    cxu_result result;

    if (status != CX_PTX_SUCCESS) {
        complain(options, "PTX, line %d: %s", error.line, error.message);
        return result_of(status);
    }
    result = check_versions(ptx, options);
    code = result == CXU_SUCCESS ? malloc(sizeof *code) : NULL;
    if (!code) {
        cx_ptx_unload(ptx);
        return result == CXU_SUCCESS ? CXU_OUT_OF_MEMORY : result;
    }
    *code = (cx_emu_code){1, ptx};
    *out_code = code;
    return CXU_SUCCESS;
}

/* The PTX of an entry ends with a zero, or does not. */
static size_t text_length(const char *text, size_t bytes)
{
    return strnlen(text, bytes);
}

static cxu_result load_entries(const unsigned char *at, uint64_t left,
                               const cx_emu_code_options *options, cx_emu_code **out_code)
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
            return load_text((const char *)at + entry.header_bytes,
                             text_length((const char *)at + entry.header_bytes, entry.bytes),
                             options, out_code);
        at += entry.header_bytes + entry.bytes;
        left -= entry.header_bytes + entry.bytes;
    }
    if (compressed) {
        complain(options, "the PTX of a fat binary is compressed (build with --no-compress)");
        return CXU_NOT_SUPPORTED;
    }
    if (machine) {
        complain(options, "a fat binary has machine code and no PTX");
        return CXU_NO_BINARY_FOR_GPU;
    }
    return CXU_INVALID_IMAGE;
}

static cxu_result load_fat(const unsigned char *image, const cx_emu_code_options *options,
                           cx_emu_code **out_code)
{
    fat_header header;

    memcpy(&header, image, sizeof header);
    if (header.magic != FAT_MAGIC || header.header_bytes < sizeof header)
        return CXU_INVALID_IMAGE;
    return load_entries(image + header.header_bytes, header.bytes, options, out_code);
}

/* How long an image is, nobody says: text ends with a zero, and is looked at up to there. */
cxu_result cx_emu_code_load(const void *image, const cx_emu_code_options *options,
                            cx_emu_code **out_code)
{
    const unsigned char *bytes = image;
    uint32_t magic;

    if (bytes[0] == '\0')
        return CXU_INVALID_IMAGE;
    if (strncmp(image, ELF_MAGIC, strlen(ELF_MAGIC)) == 0) {
        complain(options, "the image is machine code, and there is no PTX");
        return CXU_NO_BINARY_FOR_GPU;
    }
    if (bytes[0] == (FAT_MAGIC & 0xff) || bytes[0] == (WRAPPER_MAGIC & 0xff)) {
        memcpy(&magic, image, sizeof magic);
        if (magic == FAT_MAGIC)
            return load_fat(image, options, out_code);
        if (magic == WRAPPER_MAGIC)
            return load_fat(((const fat_wrapper *)image)->content, options, out_code);
    }
    if ((bytes[0] < ' ' && !strchr("\t\r\n", bytes[0])) || bytes[0] >= 0x7f)
        return CXU_INVALID_IMAGE;
    return load_text(image, strlen(image), options, out_code);
}

/* ---- files ---- */

/* With zeroes behind it, so that no header runs over its end. */
static cxu_result read_file(const char *path, char **out_text)
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
    if (!done) {
        free(text);
        return CXU_INVALID_IMAGE;
    }
    *out_text = text;
    return CXU_SUCCESS;
}

cxu_result cx_emu_code_load_file(const char *path, const cx_emu_code_options *options,
                                 cx_emu_code **out_code)
{
    char *text;
    cxu_result result = read_file(path, &text);

    if (result != CXU_SUCCESS)
        return result;
    result = cx_emu_code_load(text, options, out_code);
    free(text);
    return result;
}

/* ---- life ---- */

void cx_emu_code_retain(cx_emu_code *code)
{
    code->references++;
}

void cx_emu_code_drop(cx_emu_code *code)
{
    if (!code || --code->references > 0)
        return;
    cx_ptx_unload(code->ptx);
    free(code);
}
