#include "emu/memory/physical.h"

#include "base/cancel.h"
#include "base/file.h"
#include "emu/base/refusal.h"
#include "emu/memory/allocation.h"
#include "emu/emu.h"
#include "emu/base/sealed_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Behind the memory in its file: what another process needs to know. */
typedef struct memory_facts {
    int32_t board;
    int32_t handle_types;
} memory_facts;

static cx_emu_handles handles = {.slot_bytes = sizeof(cx_emu_physical)};
static cx_emu_physical *open_files;
static size_t count;

static void files_link(cx_emu_physical *physical)
{
    physical->next = open_files;
    if (open_files != NULL)
        open_files->previous = physical;
    open_files = physical;
}

static void files_unlink(cx_emu_physical *physical)
{
    if (physical->previous != NULL)
        physical->previous->next = physical->next;
    else
        open_files = physical->next;
    if (physical->next != NULL)
        physical->next->previous = physical->previous;
}

/* True if the descriptor still names the same file: the program may have closed it. */
static bool file_present(const cx_emu_physical *physical)
{
    struct stat found;
    return physical->file >= 0 && fstat(physical->file, &found) == 0 &&
           found.st_dev == physical->file_device && found.st_ino == physical->file_number;
}

static int file_create(const cx_emu_physical *physical)
{
    const memory_facts facts = {.board = physical->device->board,
                                .handle_types = (int32_t)physical->properties.handle_types};
    return cx_emu_sealed_file_create(CX_EMU_SEALED_MEMORY, physical->bytes, &facts, sizeof(facts));
}

static bool show_at_home(cx_emu_physical *physical, int file)
{
    unsigned char *home = mmap(NULL, physical->bytes, PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_NORESERVE, file, 0);
    if (home == MAP_FAILED) {
        cx_emu_refused_by_system("mmap", physical->bytes);
        return false;
    }
    /* A forked child has no GPU memory (I4); the mappings inherit this. */
    madvise(home, physical->bytes, MADV_DONTFORK);
    physical->home = home;
    cx_emu_driver_mapping_open(&physical->driver_mapping, home, physical->bytes);
    return true;
}

/* Asks the system itself: libraries that hook mremap, as UCX does beneath MPI, drop the place. */
static void *map_again(void *pages, size_t bytes, int flags, void *place)
{
    return (void *)syscall(SYS_mremap, pages, (size_t)0, bytes, MREMAP_MAYMOVE | flags, place);
}

/* True if pages can be mapped again without their file: not under valgrind. */
static bool pages_can_be_doubled(const cx_emu_physical *physical)
{
    static int known; /* 0: not tried yet */
    if (known == 0) {
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        void *twice = map_again(physical->home, page_bytes, 0, NULL);
        known = twice != MAP_FAILED ? 1 : -1;
        if (twice != MAP_FAILED)
            munmap(twice, page_bytes);
    }
    return known > 0;
}

/* Takes over the descriptor. */
static void keep_file(cx_emu_physical *physical, int file)
{
    struct stat found;
    bool exportable = physical->properties.handle_types != CXU_MEM_HANDLE_TYPE_NONE;
    physical->file = -1;
    if ((!exportable && pages_can_be_doubled(physical)) || fstat(file, &found) != 0) {
        cx_file_close(file);
        return;
    }
    physical->file = file;
    physical->file_device = found.st_dev;
    physical->file_number = found.st_ino;
    files_link(physical);
}

static cx_emu_physical *take_slot(cx_emu_device *device, size_t bytes,
                                  const cxu_mem_properties *properties)
{
    cx_emu_physical *physical = cx_emu_handle_take(&handles);
    if (physical == NULL)
        return NULL;
    physical->device = device;
    physical->bytes = bytes;
    physical->properties = *properties;
    return physical;
}

/* Maps the file and takes it over; on failure the slot is given back. */
static cxu_result open_slot(cx_emu_physical *physical, int file, size_t charged_bytes)
{
    if (file < 0 || !show_at_home(physical, file)) {
        cx_emu_handle_return(&handles, physical);
        if (file >= 0)
            cx_file_close(file);
        return CXU_OUT_OF_MEMORY;
    }
    keep_file(physical, file);
    count++;
    physical->id = cx_emu_memory_id();
    physical->handles = 1;
    physical->charged_bytes = charged_bytes;
    physical->device->used_bytes += charged_bytes;
    return CXU_SUCCESS;
}

cxu_result cx_emu_physical_create(cx_emu_device *device, size_t bytes,
                                  const cxu_mem_properties *properties,
                                  cx_emu_physical **out_physical)
{
    cx_emu_refusal_begin();
    cxu_result result = cx_emu_allocation_await_quota(device, bytes);
    if (result != CXU_SUCCESS)
        return result;
    cx_emu_physical *physical = take_slot(device, bytes, properties);
    if (physical == NULL)
        return CXU_OUT_OF_MEMORY;
    result = open_slot(physical, file_create(physical), bytes);
    if (result == CXU_SUCCESS)
        *out_physical = physical;
    return result;
}

cx_emu_physical *cx_emu_physical_find(CUmemGenericAllocationHandle handle)
{
    cx_emu_physical *physical = (cx_emu_physical *)(uintptr_t)handle;
    if (!cx_emu_handle_live(&handles, physical) || physical->handles == 0)
        return NULL;
    return physical;
}

static void dispose_unused(cx_emu_physical *physical)
{
    if (physical->handles > 0 || physical->mappings > 0)
        return;
    cx_emu_driver_mapping_close(&physical->driver_mapping);
    munmap(physical->home, physical->bytes);
    if (physical->file >= 0) {
        files_unlink(physical);
        if (file_present(physical))
            cx_file_close(physical->file);
    }
    count--;
    physical->device->used_bytes -= physical->charged_bytes;
    cx_emu_handle_return(&handles, physical);
}

void cx_emu_physical_release(cx_emu_physical *physical)
{
    physical->handles--;
    dispose_unused(physical);
}

static bool show_pages(const cx_emu_physical *physical, unsigned char *place, size_t bytes)
{
    if (map_again(physical->home, bytes, MREMAP_FIXED, place) != MAP_FAILED)
        return true;
    if (!file_present(physical) ||
        mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED,
             physical->file, 0) == MAP_FAILED) {
        cx_emu_refused_by_system(file_present(physical) ? "mmap" : "mremap", bytes);
        return false;
    }
    madvise(place, bytes, MADV_DONTFORK);
    return true;
}

bool cx_emu_physical_map(cx_emu_physical *physical, unsigned char *place, size_t bytes)
{
    if (!show_pages(physical, place, bytes))
        return false;
    physical->mappings++;
    return true;
}

void cx_emu_physical_unmap(cx_emu_physical *physical)
{
    physical->mappings--;
    dispose_unused(physical);
}

bool cx_emu_physical_exists(void)
{
    return count > 0;
}

cxu_result cx_emu_physical_export(const cx_emu_physical *physical, int *out_file)
{
    if (physical->properties.handle_types == CXU_MEM_HANDLE_TYPE_NONE || !file_present(physical))
        return CXU_INVALID_VALUE;
    int cancel = cx_cancel_hold();
    int file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
    cx_cancel_restore(cancel);
    if (file < 0)
        return CXU_OPERATING_SYSTEM;
    *out_file = file;
    return CXU_SUCCESS;
}

/* True only for a sealed file that holds memory made to be exported. */
static bool file_read_facts(int file, size_t *out_bytes, memory_facts *out_facts)
{
    cx_emu_sealed label;
    bool ours = cx_emu_sealed_file_check(file, CX_EMU_SEALED_MEMORY, &label) &&
                label.facts_bytes == sizeof(*out_facts) &&
                cx_emu_sealed_file_facts(file, &label, out_facts, sizeof(*out_facts)) &&
                label.bytes > 0 && label.bytes % CX_EMU_MEMORY_GRANULARITY == 0 &&
                out_facts->handle_types == CXU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    if (ours)
        *out_bytes = label.bytes;
    return ours;
}

static cx_emu_physical *find_open(const struct stat *file)
{
    for (cx_emu_physical *each = open_files; each != NULL; each = each->next) {
        if (each->file_device == file->st_dev && each->file_number == file->st_ino)
            return each;
    }
    return NULL;
}

static cxu_result import_foreign(int file, size_t bytes, const memory_facts *facts,
                                 cx_emu_physical **out_physical)
{
    cx_emu_device *device = cx_emu_device_of_board(facts->board);
    if (device == NULL)
        return CXU_INVALID_DEVICE;
    cxu_mem_properties properties = {
        .type = CXU_MEM_ALLOCATION_TYPE_PINNED,
        .handle_types = (cxu_mem_handle_type)facts->handle_types,
        .location = {CXU_MEM_LOCATION_TYPE_DEVICE, device->ordinal},
    };
    cx_emu_physical *physical = take_slot(device, bytes, &properties);
    if (physical == NULL)
        return CXU_OUT_OF_MEMORY;
    int cancel = cx_cancel_hold();
    int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    cx_cancel_restore(cancel);
    cxu_result result = open_slot(physical, own, 0);
    if (result == CXU_SUCCESS)
        *out_physical = physical;
    return result;
}

cxu_result cx_emu_physical_import(int file, cx_emu_physical **out_physical)
{
    struct stat found;
    memory_facts facts;
    size_t bytes;
    if (fstat(file, &found) != 0)
        return CXU_INVALID_DEVICE;
    if (!file_read_facts(file, &bytes, &facts))
        return CXU_INVALID_VALUE;
    cx_emu_physical *known = find_open(&found);
    if (known == NULL)
        return import_foreign(file, bytes, &facts, out_physical);
    known->handles++;
    *out_physical = known;
    return CXU_SUCCESS;
}
