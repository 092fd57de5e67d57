#include "runtime/image.h"

#include "base/log.h"
#include "runtime/mapped.h"

#include <stdint.h>
#include <string.h>

enum { FAT_MAGIC = (int)0xba55ed50, VERSION_OF_LIST = 2, LINKED_MAX = 1 << 20 };

typedef struct fat_header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* behind the header */
} fat_header;

/* NULL: nothing is wrong. A driver would take bytes that are none for PTX, which has no end. */
static const char *fault_of_data(const void *data)
{
    fat_header header;
    if (!cx_cudart_is_readable(data, sizeof header))
        return "its data is no memory";
    memcpy(&header, data, sizeof header);
    if (header.magic != (uint32_t)FAT_MAGIC || header.header_bytes < sizeof header)
        return "its data is no fat binary";
    if (header.bytes > SIZE_MAX - header.header_bytes ||
        !cx_cudart_is_readable(data, header.header_bytes + (size_t)header.bytes))
        return "its size reaches beyond its memory";
    return NULL;
}

static const char *fault_of_list(const void *const *list)
{
    const char *fault = NULL;
    for (size_t i = 0; fault == NULL; i++) {
        if (i == LINKED_MAX || !cx_cudart_is_readable(list + i, sizeof *list))
            return "its list of fat binaries has no end";
        if (list[i] == NULL)
            break;
        fault = fault_of_data(list[i]);
    }
    return fault;
}

static const char *fault_of(const cxr_fat_binary *wrapper)
{
    if (!cx_cudart_is_readable(wrapper, sizeof *wrapper))
        return "there is no memory";
    if (wrapper->magic != CXR_FAT_BINARY_MAGIC)
        return "its magic number is wrong";
    const char *fault = fault_of_data(wrapper->data);
    if (fault == NULL && wrapper->version >= VERSION_OF_LIST && wrapper->linked != NULL)
        fault = fault_of_list(wrapper->linked);
    return fault;
}

bool cx_cudart_image_is_whole(const cxr_fat_binary *wrapper)
{
    const char *fault = fault_of(wrapper);
    if (fault != NULL)
        cx_log(CTXRT_LOG_WARNING, "cudart: the fat binary registered at %p cannot be loaded: %s",
               (const void *)wrapper, fault);
    return fault == NULL;
}
