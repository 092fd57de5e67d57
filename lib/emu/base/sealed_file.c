#include "emu/base/sealed_file.h"

#include "base/cancel.h"
#include "base/file.h"
#include "emu/base/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEALED_SIZE (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define WRITE_SEALS (F_SEAL_WRITE | 0x10) /* 0x10: F_SEAL_FUTURE_WRITE, of newer headers */

/* The last bytes of the file. */
typedef struct file_label {
    char mark[16];
    uint64_t kind;
    cx_emu_sealed says;
} file_label;

static const char mark[16] = "ctxrt-sealed-01";

static const char *const names[] = {
    [CX_EMU_SEALED_SEGMENT] = "ctxrt-gpu",
    [CX_EMU_SEALED_EVENT] = "ctxrt-event",
    [CX_EMU_SEALED_MEMORY] = "ctxrt-gpu",
    [CX_EMU_SEALED_POOL] = "ctxrt-pool",
};

const char *cx_emu_sealed_file_name(cx_emu_sealed_kind kind)
{
    return names[kind];
}

bool cx_emu_random(void *out_bytes, size_t count)
{
    int cancel = cx_cancel_hold();
    bool made = getrandom(out_bytes, count, 0) == (ssize_t)count;

    cx_cancel_restore(cancel);
    return made;
}

static int seals_of(const cx_emu_sealed *says)
{
    return SEALED_SIZE | (says->bytes == 0 ? F_SEAL_WRITE : 0);
}

/* ---- making ---- */

static bool add(size_t bytes, size_t facts_bytes, size_t *out_total)
{
    return !__builtin_add_overflow(bytes, facts_bytes, out_total) &&
           !__builtin_add_overflow(*out_total, sizeof(file_label), out_total);
}

static bool write_at(int file, const void *bytes, size_t count, size_t place)
{
    return count == 0 || pwrite(file, bytes, count, (off_t)place) == (ssize_t)count;
}

/* Beyond this limit ftruncate and pwrite do not fail: they kill the process with SIGXFSZ. */
static bool is_within_limit(size_t total)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= total)
        return true;
    cx_emu_refused_by_file_limit(total);
    return false;
}

int cx_emu_sealed_file_begin(cx_emu_sealed_kind kind, size_t bytes)
{
    int file, cancel;

    if (!is_within_limit(bytes))
        return -1;
    cancel = cx_cancel_hold();
    file = memfd_create(names[kind], MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        cx_emu_refused_by_system("memfd_create", bytes);
        if (file >= 0)
            close(file);
        file = -1;
    }
    cx_cancel_restore(cancel);
    return file;
}

static bool complete(int file, const file_label *text, const void *facts, size_t total)
{
    return ftruncate(file, (off_t)total) == 0 &&
           write_at(file, facts, facts != NULL ? text->says.facts_bytes : 0, text->says.bytes) &&
           write_at(file, text, sizeof *text, total - sizeof *text) &&
           fcntl(file, F_ADD_SEALS, seals_of(&text->says)) == 0;
}

bool cx_emu_sealed_file_seal(int file, cx_emu_sealed_kind kind, size_t bytes, const void *facts,
                             size_t facts_bytes)
{
    file_label text = {.kind = kind,
                       .says = {.bytes = bytes,
                                .facts_bytes = facts_bytes,
                                .process = (int32_t)getpid(),
                                .file = file}};
    size_t total;
    bool done;
    int cancel;

    memcpy(text.mark, mark, sizeof mark);
    if (!add(bytes, facts_bytes, &total)) {
        errno = EFBIG;
        cx_emu_refused_by_system("memfd_create", bytes);
        return false;
    }
    if (!is_within_limit(total))
        return false;
    cancel = cx_cancel_hold();
    done = cx_emu_random(text.says.secret, sizeof text.says.secret) &&
           complete(file, &text, facts, total);
    if (!done)
        cx_emu_refused_by_system("memfd_create", total);
    cx_cancel_restore(cancel);
    return done;
}

int cx_emu_sealed_file_create(cx_emu_sealed_kind kind, size_t bytes, const void *facts,
                              size_t facts_bytes)
{
    int file = cx_emu_sealed_file_begin(kind, bytes);

    if (file >= 0 && !cx_emu_sealed_file_seal(file, kind, bytes, facts, facts_bytes)) {
        cx_file_close(file);
        file = -1;
    }
    return file;
}

/* ---- checking ---- */

/* The number of the device that has all files of memfd_create with ordinary pages, and none of a
 * file system. False: the system gives no file. */
static bool device_of_memory(dev_t *out_device)
{
    static bool known;
    static dev_t device;
    struct stat found;
    int file;

    if (!known) {
        file = memfd_create("ctxrt-none", MFD_CLOEXEC);
        if (file >= 0 && fstat(file, &found) == 0) {
            device = found.st_dev;
            known = true;
        }
        if (file >= 0)
            cx_file_close(file);
    }
    *out_device = device;
    return known;
}

bool cx_emu_sealed_files_begin(void)
{
    dev_t device;

    return device_of_memory(&device) || errno != ENOMEM;
}

bool cx_emu_sealed_file_possible(int file)
{
    struct stat found;
    dev_t device;

    return fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
           device_of_memory(&device) && found.st_dev == device;
}

/* The seals that the file has for ever; -1: it may still be shortened, or is no file in memory. */
static int final_seals(int file)
{
    int seals = fcntl(file, F_GET_SEALS);

    return seals >= 0 && (seals & SEALED_SIZE) == SEALED_SIZE ? seals : -1;
}

/* The size comes from a file that is sealed, and stays. */
static bool read_label(int file, file_label *out_text)
{
    struct stat found;
    size_t total;

    return fstat(file, &found) == 0 && found.st_size >= (off_t)sizeof *out_text &&
           pread(file, out_text, sizeof *out_text, found.st_size - (off_t)sizeof *out_text) ==
               sizeof *out_text &&
           memcmp(out_text->mark, mark, sizeof mark) == 0 &&
           add(out_text->says.bytes, out_text->says.facts_bytes, &total) &&
           total == (uint64_t)found.st_size;
}

/* True if nothing keeps the contents from being mapped for writing, or there are none. */
static bool is_usable(int file, int seals, const cx_emu_sealed *says)
{
    int flags = fcntl(file, F_GETFL);

    return (seals & WRITE_SEALS) == (seals_of(says) & WRITE_SEALS) && flags >= 0 &&
           (says->bytes == 0 || (flags & O_ACCMODE) == O_RDWR);
}

bool cx_emu_sealed_file_check(int file, cx_emu_sealed_kind kind, cx_emu_sealed *out_label)
{
    int cancel = cx_cancel_hold();
    int seals = cx_emu_sealed_file_possible(file) ? final_seals(file) : -1;
    file_label text;
    bool ours = seals >= 0 && read_label(file, &text) && text.kind == (uint64_t)kind &&
                is_usable(file, seals, &text.says);

    cx_cancel_restore(cancel);
    if (ours)
        *out_label = text.says;
    return ours;
}

bool cx_emu_sealed_file_facts(int file, const cx_emu_sealed *label, void *out_facts, size_t bytes)
{
    int cancel = cx_cancel_hold();
    bool read = bytes <= label->facts_bytes &&
                pread(file, out_facts, bytes, (off_t)label->bytes) == (ssize_t)bytes;

    cx_cancel_restore(cancel);
    return read;
}
