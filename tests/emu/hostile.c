#include "hostile.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#define FUTURE_WRITE 0x10
#define STRANGER 65534

static const int seals_of_lie[LIES] = {[NO_SEALS] = 0,
                                       [NO_SEAL_OF_SHRINKING] = F_SEAL_GROW | F_SEAL_SEAL,
                                       [NO_SEAL_OF_SEALING] = F_SEAL_SHRINK | F_SEAL_GROW,
                                       [SEALED_AGAINST_WRITING] = ALL_SEALS | F_SEAL_WRITE,
                                       [SEALED_AGAINST_LATER_WRITING] = ALL_SEALS | FUTURE_WRITE};

size_t size_of(int file)
{
    struct stat found;
    MUST_HOLD(fstat(file, &found) == 0);
    return (size_t)found.st_size;
}

/* The label is the last of a true file, and what it says the last of the label. */
cx_emu_sealed label_of(int file)
{
    cx_emu_sealed says;
    MUST_HOLD(pread(file, &says, sizeof says, (off_t)(size_of(file) - sizeof says)) ==
              (ssize_t)sizeof says);
    MUST_HOLD(says.bytes + says.facts_bytes < size_of(file));
    return says;
}

void copy_bytes(int from, int to, size_t begin, size_t end)
{
    static unsigned char bytes[1 << 16];
    for (size_t at = begin; at < end;) {
        size_t count = end - at < sizeof bytes ? end - at : sizeof bytes;
        MUST_HOLD(pread(from, bytes, count, (off_t)at) == (ssize_t)count &&
                  pwrite(to, bytes, count, (off_t)at) == (ssize_t)count);
        at += count;
    }
}

static void flip(int file, size_t at)
{
    unsigned char byte;
    MUST_HOLD(pread(file, &byte, 1, (off_t)at) == 1);
    byte ^= 1;
    MUST_HOLD(pwrite(file, &byte, 1, (off_t)at) == 1);
}

/* The label ends what is left of the file. */
static void move_label(int file, size_t label, size_t size)
{
    unsigned char text[128];
    size_t length = size - label, end = size > 4096 ? size / 2 : size - 16;
    MUST_HOLD(pread(file, text, length, (off_t)label) == (ssize_t)length &&
              pwrite(file, text, length, (off_t)(end - length)) == (ssize_t)length &&
              ftruncate(file, (off_t)end) == 0);
}

static void spoil(int file, lie kind, const cx_emu_sealed *says, size_t size)
{
    const size_t label = says->bytes + says->facts_bytes, told = size - sizeof *says;
    switch (kind) {
    case TOO_SHORT:
        move_label(file, label, size);
        break;
    case NO_LABEL:
        MUST_HOLD(ftruncate(file, (off_t)label) == 0);
        break;
    case WRONG_MARK:
        flip(file, label);
        break;
    case WRONG_KIND:
        flip(file, label + 16);
        break;
    case WRONG_SECRET:
        flip(file, told + offsetof(cx_emu_sealed, secret) + 5);
        break;
    case WRONG_SIZE:
        flip(file, told + offsetof(cx_emu_sealed, bytes) + 2);
        break;
    case WRONG_SIZE_OF_FACTS:
        flip(file, told + offsetof(cx_emu_sealed, facts_bytes));
        break;
    default:
        break;
    }
}

static int open_place(lie kind)
{
    char path[] = "check_ipc_hostile.XXXXXX", in_memory[] = "/dev/shm/check_ipc_hostile.XXXXXX";
    char *place = kind == ON_DISK ? path : in_memory;
    int ends[2], file;
    switch (kind) {
    case ON_DISK:
    case ON_A_FILE_SYSTEM_IN_MEMORY:
        file = mkstemp(place);
        MUST_HOLD(file >= 0 && unlink(place) == 0);
        return file;
    case OF_ROOT_AND_READ_ONLY:
        return open("/etc/passwd", O_RDONLY);
    case A_FOLDER:
        return open("/", O_RDONLY | O_DIRECTORY);
    case A_PIPE:
        MUST_HOLD(pipe(ends) == 0);
        return ends[0];
    case A_DEVICE:
        return open("/dev/zero", O_RDWR);
    case A_SOCKET:
        return socket(AF_UNIX, SOCK_STREAM, 0);
    default:
        return memfd_create("closed", 0);
    }
}

int make_lie(lie kind, int original)
{
    const cx_emu_sealed says = label_of(original);
    const size_t size = size_of(original);
    char path[64], name[64] = {0};
    int file;
    if (kind > ON_A_FILE_SYSTEM_IN_MEMORY)
        return open_place(kind);
    if (kind >= ON_DISK) {
        file = open_place(kind);
    } else {
        snprintf(path, sizeof path, "/proc/self/fd/%d", original);
        MUST_HOLD(readlink(path, name, sizeof name - 1) > 0);
        *strchr(name, ' ') = 0;
        file = memfd_create(name + strlen("/memfd:"), MFD_ALLOW_SEALING);
    }
    MUST_HOLD(file >= 0 && ftruncate(file, (off_t)size) == 0);
    copy_bytes(original, file, says.bytes, size);
    spoil(file, kind, &says, size);
    if (kind < ON_DISK && kind != NO_SEALS) {
        int seals =
            seals_of_lie[kind] ? seals_of_lie[kind] : ALL_SEALS | (says.bytes ? 0 : F_SEAL_WRITE);
        MUST_HOLD(fcntl(file, F_ADD_SEALS, seals) == 0);
    }
    return file;
}

void put(int file, cx_emu_process_file *name)
{
    struct stat found;
    MUST_HOLD(fstat(file, &found) == 0 && dup2(file, name->file) == name->file);
    name->device = found.st_dev;
    name->number = found.st_ino;
}

void begin(void)
{
    CUcontext made;
    MUST(CU(init, 0));
    MUST(CU(ctx_create_v2, &made, 0, 0));
}

void become_a_stranger(bool hidden)
{
    MUST_HOLD(setgid(STRANGER) == 0 && setuid(STRANGER) == 0);
    MUST_HOLD(prctl(PR_SET_DUMPABLE, hidden ? 0 : 1) == 0);
}

/* ---- the process that they attack ---- */

void expect_footprint(footprint before)
{
    const footprint after = footprint_now();
    ck_assert_int_eq(after.files, before.files);
    ck_assert_int_eq(after.mappings, before.mappings);
}

void expect_of(void (*body)(int link), cxu_result (*attempt)(int link), cxu_result expected)
{
    partner other = start_partner(body);
    CUdeviceptr memory;
    start_gpus();
    CUcontext context = create_on(0);
    EXPECT(SUCCESS, mem_alloc, &memory, BYTES);
    EXPECT(SUCCESS, memset_d8, memory, 1, BYTES);
    EXPECT(SUCCESS, ctx_synchronize);
    ck_assert_int_eq(attempt(other.link), expected);
    say(other.link, "x", 1);
    end_partner(&other);
    EXPECT(SUCCESS, ctx_destroy, context);
    expect_nothing_left();
}
