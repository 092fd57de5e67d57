/* Memory pools of other processes, as file descriptors, and memory of them. */
#include "base/cancel.h"
#include "base/file.h"
#include "emu/pool.h"
#include "emu/shared.h"
#include "emu/state.h"
#include "emu/sticky.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* All of the file that a descriptor of a pool leads to. */
typedef struct label {
    char mark[16];
    uint64_t origin;
    int32_t location; /* cxu_mem_location_type */
    int32_t board;    /* of a device */
} label;

/* The contents of exported memory of a pool. */
typedef struct shared_memory {
    cx_emu_shared_place place;
    uint64_t origin; /* its pool's */
} shared_memory;

_Static_assert(sizeof(shared_memory) <= sizeof(cxu_mem_pool_pointer), "it must fit");

static const char mark[16] = "ctxrt-pool-01";

static cxu_result check_type(const char *call, cxu_mem_handle_type type)
{
    switch (type) {
    case CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
        return CXU_SUCCESS;
    case CXU_MEM_HANDLE_TYPE_WIN32:
    case CXU_MEM_HANDLE_TYPE_WIN32_KMT:
    case CXU_MEM_HANDLE_TYPE_FABRIC:
        return cx_emu_not_supported(call, "a handle type other than a file descriptor");
    default:
        return CXU_INVALID_VALUE;
    }
}

static bool shareable(const cx_emu_pool *pool)
{
    return pool->properties.handle_types != CXU_MEM_HANDLE_TYPE_NONE;
}

/* ---- pools ---- */

/* Returns a sealed file of its own for each export, or -1. */
static int write_label(const label *text)
{
    int cancel = cx_cancel_hold();
    int file = memfd_create("ctxrt-pool", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (file >= 0 &&
        (pwrite(file, text, sizeof *text, 0) != sizeof *text ||
         fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)) {
        cx_file_close(file);
        file = -1;
    }
    cx_cancel_restore(cancel);
    return file;
}

static bool read_label(int file, label *out_text)
{
    int cancel = cx_cancel_hold();
    int seals = fcntl(file, F_GET_SEALS);
    bool ours = seals >= 0 && (seals & F_SEAL_WRITE) != 0 &&
                pread(file, out_text, sizeof *out_text, 0) == sizeof *out_text &&
                memcmp(out_text->mark, mark, sizeof mark) == 0 &&
                (out_text->location == CXU_MEM_LOCATION_TYPE_DEVICE ||
                 out_text->location == CXU_MEM_LOCATION_TYPE_HOST_NUMA);

    cx_cancel_restore(cancel);
    return ours;
}

static cxu_result export_pool(CUmemoryPool handle, int *out_file)
{
    cx_emu_pool *pool;
    cxu_result result = cx_emu_pool_find(handle, &pool);

    if (result != CXU_SUCCESS)
        return result;
    if (!shareable(pool))
        return CXU_INVALID_VALUE;
    if (pool->origin == 0)
        pool->origin = (uint64_t)getpid() << 32 | (uint32_t)cx_emu_memory_id();
    label text = {.origin = pool->origin,
                  .location = (int32_t)pool->properties.location.type,
                  .board = pool->device ? pool->device->board : 0};
    memcpy(text.mark, mark, sizeof mark);
    *out_file = write_label(&text);
    return *out_file >= 0 ? CXU_SUCCESS : CXU_OPERATING_SYSTEM;
}

cxu_result cx_emu_call_mem_pool_export_to_shareable_handle(void *out_shareable, CUmemoryPool pool,
                                                           cxu_mem_handle_type type,
                                                           unsigned long long flags)
{
    int file;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!out_shareable || flags != 0)
        return CXU_INVALID_VALUE;
    result = check_type("cuMemPoolExportToShareableHandle", type);
    if (result != CXU_SUCCESS)
        return result;
    pthread_mutex_lock(&cx_emu_lock);
    result = export_pool(pool, &file);
    pthread_mutex_unlock(&cx_emu_lock);
    if (result == CXU_SUCCESS)
        memcpy(out_shareable, &file, sizeof file);
    return result;
}

static cx_emu_device *find_board(int board)
{
    for (int i = 0; i < cx_emu_device_total(); i++)
        if (cx_emu_device_find(i)->board == board && !cx_emu_device_find(i)->host)
            return cx_emu_device_find(i);
    return NULL;
}

/* Memory in the label's pool belongs to its device; the host's to the first one. */
static cx_emu_device *device_of(const label *text)
{
    return text->location == CXU_MEM_LOCATION_TYPE_DEVICE ? find_board(text->board)
                                                          : cx_emu_device_find(0);
}

static cxu_result import_pool(int file, cx_emu_pool **out_pool)
{
    label text;
    cx_emu_device *device;
    cxu_result result;

    if (!read_label(file, &text))
        return CXU_INVALID_VALUE;
    device = device_of(&text);
    if (!device)
        return CXU_INVALID_DEVICE;
    const cxu_mem_pool_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {(cxu_mem_location_type)text.location,
                     text.location == CXU_MEM_LOCATION_TYPE_DEVICE ? device->ordinal : 0},
    };
    result = cx_emu_pool_create(&properties, out_pool);
    if (result != CXU_SUCCESS)
        return result;
    (*out_pool)->imported = true;
    (*out_pool)->origin = text.origin;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_pool_import_from_shareable_handle(CUmemoryPool *out_pool,
                                                             void *shareable_handle,
                                                             cxu_mem_handle_type type,
                                                             unsigned long long flags)
{
    cx_emu_pool *pool;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!out_pool || flags != 0)
        return CXU_INVALID_VALUE;
    result = check_type("cuMemPoolImportFromShareableHandle", type);
    if (result != CXU_SUCCESS)
        return result;
    pthread_mutex_lock(&cx_emu_lock);
    result = import_pool((int)(intptr_t)shareable_handle, &pool);
    if (result == CXU_SUCCESS)
        *out_pool = cx_emu_pool_handle(pool);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}

/* ---- memory ---- */

static cxu_result export_pointer(CUdeviceptr pointer, shared_memory *out_shared)
{
    const cx_emu_allocation *allocation = cx_emu_allocation_at_start(pointer);
    const cx_emu_pool *pool = allocation ? allocation->pool : NULL;

    if (!pool || !shareable(pool) || pool->origin == 0)
        return CXU_INVALID_VALUE;
    if (!cx_emu_shared_describe(allocation, &out_shared->place))
        return cx_emu_not_supported("cuMemPoolExportPointer",
                                    "memory whose file the program has closed");
    out_shared->origin = pool->origin;
    return cx_emu_allocation_error(allocation);
}

cxu_result cx_emu_call_mem_pool_export_pointer(cxu_mem_pool_pointer *out_shared,
                                               CUdeviceptr pointer)
{
    shared_memory shared = {.origin = 0};
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!out_shared)
        return CXU_INVALID_VALUE;
    pthread_mutex_lock(&cx_emu_lock);
    result = export_pointer(pointer, &shared);
    pthread_mutex_unlock(&cx_emu_lock);
    if (result != CXU_SUCCESS)
        return result;
    memset(out_shared, 0, sizeof *out_shared);
    memcpy(out_shared->bytes, &shared, sizeof shared);
    return CXU_SUCCESS;
}

/* Importing again counts, and gives the same address. */
static cxu_result import_pointer(CUmemoryPool handle, const shared_memory *shared,
                                 CUdeviceptr *out_pointer)
{
    cx_emu_pool *pool;
    cx_emu_shared *memory;
    cxu_result result = cx_emu_pool_find(handle, &pool);

    if (result != CXU_SUCCESS)
        return result;
    if (!pool->imported || pool->origin != shared->origin ||
        !cx_emu_shared_is_place(&shared->place))
        return CXU_INVALID_VALUE;
    memory = cx_emu_shared_find(&shared->place, pool);
    if (memory) {
        memory->opened++;
    } else {
        result = cx_emu_shared_open(&shared->place,
                                    pool->device ? pool->device : cx_emu_device_find(0), NULL,
                                    &memory);
        if (result != CXU_SUCCESS)
            return result == CXU_INVALID_HANDLE ? CXU_INVALID_VALUE : result;
        cx_emu_pool_adopt(pool, memory->allocation);
    }
    *out_pointer = memory->allocation->address;
    return CXU_SUCCESS;
}

cxu_result cx_emu_call_mem_pool_import_pointer(CUdeviceptr *out_pointer, CUmemoryPool pool,
                                               cxu_mem_pool_pointer *shared)
{
    shared_memory told;
    cxu_result result = cx_emu_enter();

    if (result != CXU_SUCCESS)
        return result;
    if (!out_pointer || !shared)
        return CXU_INVALID_VALUE;
    memcpy(&told, shared->bytes, sizeof told);
    pthread_mutex_lock(&cx_emu_lock);
    result = import_pointer(pool, &told, out_pointer);
    pthread_mutex_unlock(&cx_emu_lock);
    return result;
}
