#include "emu/memory/export.h"

#include "base/cancel.h"
#include "emu/base/refusal.h"
#include "emu/device/device.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* From the beginning of the segment. */
static size_t place_of(size_t segment_bytes, size_t offset)
{
    return segment_bytes + offset / CX_EMU_ALIGNMENT * sizeof(cx_emu_export);
}

size_t cx_emu_export_table_bytes(size_t segment_bytes)
{
    return segment_bytes / CX_EMU_ALIGNMENT * sizeof(cx_emu_export);
}

cxu_result cx_emu_export_write(int file, size_t segment_bytes, size_t offset,
                               const cx_emu_export *entry)
{
    size_t place = place_of(segment_bytes, offset);
    struct rlimit limit;
    int cancel;
    bool written;

    /* A program may have lowered it: then pwrite kills the process with SIGXFSZ. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < place + sizeof *entry) {
        cx_emu_refused_by_file_limit(place + sizeof *entry);
        return CXU_OUT_OF_MEMORY;
    }
    cancel = cx_cancel_hold();
    written = pwrite(file, entry, sizeof *entry, (off_t)place) == sizeof *entry;
    if (!written)
        cx_emu_refused_by_system("pwrite", sizeof *entry);
    cx_cancel_restore(cancel);
    return written ? CXU_SUCCESS : CXU_OUT_OF_MEMORY;
}

/* Punching a hole needs no memory and heeds no limit. */
void cx_emu_export_withdraw(int file, size_t segment_bytes, size_t offset)
{
    int cancel = cx_cancel_hold();

    (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                    (off_t)place_of(segment_bytes, offset), sizeof(cx_emu_export));
    cx_cancel_restore(cancel);
}

static bool is_inside(const cx_emu_export *entry, const cx_emu_sealed *label, uint64_t offset)
{
    return entry->bytes > 0 && entry->bytes <= label->bytes - offset;
}

bool cx_emu_export_read(int file, const cx_emu_sealed *label, uint64_t offset, uint64_t id,
                        cx_emu_export *out_entry)
{
    int cancel;
    bool read;

    if (id == 0 || offset % CX_EMU_ALIGNMENT != 0 || offset >= label->bytes ||
        label->facts_bytes != cx_emu_export_table_bytes(label->bytes))
        return false;
    cancel = cx_cancel_hold();
    read = pread(file, out_entry, sizeof *out_entry, (off_t)place_of(label->bytes, offset)) ==
           sizeof *out_entry;
    cx_cancel_restore(cancel);
    return read && out_entry->id == id && is_inside(out_entry, label, offset) &&
           out_entry->host <= 1;
}
