#include "work/image.h"

#include "base/error.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- binaries ---- */

#define WRAPPER_MAGIC 0x466243b1u /* of the wrapper that nvcc links into programs */
#define FAT_MAGIC 0xba55ed50u

typedef struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* behind the header */
} fat_header;

static uint64_t add_sizes(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t fat_end(const unsigned char *bytes, size_t size_bytes)
{
    fat_header header;
    if (size_bytes < sizeof header)
        return sizeof header;
    memcpy(&header, bytes, sizeof header);
    return add_sizes(header.header_bytes, header.bytes);
}

static uint64_t elf_end(const unsigned char *bytes, size_t size_bytes)
{
    Elf64_Ehdr header;
    if (size_bytes < sizeof header)
        return sizeof header;
    memcpy(&header, bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64)
        return sizeof header;
    uint64_t sections = add_sizes(header.e_shoff, (uint64_t)header.e_shnum * header.e_shentsize);
    uint64_t segments = add_sizes(header.e_phoff, (uint64_t)header.e_phnum * header.e_phentsize);
    return sections > segments ? sections : segments;
}

typedef enum image_kind {
    IMAGE_TEXT,
    IMAGE_ELF,
    IMAGE_FAT,
    IMAGE_WRAPPER
} image_kind;

static image_kind kind_of(const unsigned char *bytes, size_t size_bytes)
{
    uint32_t magic = 0;
    if (size_bytes >= sizeof magic)
        memcpy(&magic, bytes, sizeof magic);
    if (magic == FAT_MAGIC)
        return IMAGE_FAT;
    if (magic == WRAPPER_MAGIC)
        return IMAGE_WRAPPER;
    return size_bytes >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0 ? IMAGE_ELF : IMAGE_TEXT;
}

static ctxrt_status check_binary(const cx_image *image, size_t size_bytes)
{
    uint64_t end = 0;
    image_kind kind = kind_of(image->start, size_bytes);
    if (kind == IMAGE_FAT)
        end = fat_end(image->start, size_bytes);
    if (kind == IMAGE_ELF)
        end = elf_end(image->start, size_bytes);
    if (end <= size_bytes)
        return CTXRT_SUCCESS;
    return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                    "%s is truncated: it has %zu bytes, and by its own header at least %llu",
                    image->what, size_bytes, (unsigned long long)end);
}

/* ---- text ---- */

static ctxrt_status no_memory(const cx_image *image)
{
    return cx_error(CTXRT_ERROR_OUT_OF_MEMORY, "no memory for a copy of %s", image->what);
}

/* Adds a zero byte: the driver reads up to one. */
static ctxrt_status terminate_text(cx_image *image, size_t size_bytes)
{
    if (memchr(image->start, '\0', size_bytes) != NULL)
        return CTXRT_SUCCESS;
    char *copy = malloc(size_bytes + 1);
    if (copy == NULL)
        return no_memory(image);
    memcpy(copy, image->start, size_bytes);
    copy[size_bytes] = '\0';
    image->copy = copy;
    image->start = copy;
    return CTXRT_SUCCESS;
}

ctxrt_status cx_image_take(const void *start, size_t size_bytes, cx_image *out_image)
{
    *out_image = (cx_image){.start = start, .what = "the image"};
    if (size_bytes > PTRDIFF_MAX)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "no image has %zu bytes", size_bytes);
    if (size_bytes == 0)
        return CTXRT_SUCCESS;
    return kind_of(start, size_bytes) == IMAGE_TEXT ? terminate_text(out_image, size_bytes)
                                                    : check_binary(out_image, size_bytes);
}

/* ---- files ---- */

static ctxrt_status cannot_read(const cx_image *image, int error)
{
    char text[128];
    return cx_error(CTXRT_ERROR_SYSTEM, "%s cannot be read: %s", image->what,
                    strerror_r(error, text, sizeof text));
}

static ctxrt_status check_file(const cx_image *image, int file, size_t *out_bytes)
{
    struct stat facts;
    if (fstat(file, &facts) != 0)
        return cannot_read(image, errno);
    if (!S_ISREG(facts.st_mode) || facts.st_size == 0)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT, "%s %s", image->what,
                        S_ISREG(facts.st_mode) ? "is empty" : "is no regular file");
    *out_bytes = (size_t)facts.st_size;
    return CTXRT_SUCCESS;
}

static ctxrt_status read_bytes(const cx_image *image, int file, char *copy, size_t *bytes)
{
    size_t done = 0;
    while (done < *bytes) {
        ssize_t count = read(file, copy + done, *bytes - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return cannot_read(image, errno);
        if (count == 0)
            break;
        done += (size_t)count;
    }
    *bytes = done;
    copy[done] = '\0';
    return CTXRT_SUCCESS;
}

static ctxrt_status read_file(cx_image *image, int file, size_t *out_bytes)
{
    ctxrt_status status = check_file(image, file, out_bytes);
    if (status != CTXRT_SUCCESS)
        return status;
    image->copy = malloc(*out_bytes + 1);
    if (image->copy == NULL)
        return no_memory(image);
    image->start = image->copy;
    return read_bytes(image, file, image->copy, out_bytes);
}

static ctxrt_status check_contents(const cx_image *image, size_t bytes)
{
    if (kind_of(image->start, bytes) == IMAGE_WRAPPER)
        return cx_error(CTXRT_ERROR_INVALID_ARGUMENT,
                        "%s has an address of a program, and no code", image->what);
    return check_binary(image, bytes);
}

ctxrt_status cx_image_read(const char *path, cx_image *out_image)
{
    size_t bytes = 0;
    *out_image = (cx_image){.start = NULL};
    snprintf(out_image->what, sizeof out_image->what, "the file '%.200s'", path);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return cannot_read(out_image, errno);
    ctxrt_status status = read_file(out_image, file, &bytes);
    close(file);
    if (status == CTXRT_SUCCESS)
        status = check_contents(out_image, bytes);
    if (status != CTXRT_SUCCESS)
        cx_image_drop(out_image);
    return status;
}

void cx_image_drop(cx_image *image)
{
    free(image->copy);
    image->copy = NULL;
}
