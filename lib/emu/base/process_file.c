#include "emu/base/process_file.h"

#include "base/cancel.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cx_emu_process_file_name(int file, cx_emu_sealed_kind kind, cx_emu_process_file *out_name)
{
    cx_emu_sealed label;
    struct stat found;

    if (!cx_emu_sealed_file_check(file, kind, &label) || fstat(file, &found) != 0)
        return false;
    *out_name = (cx_emu_process_file){.process = label.process,
                                      .file = label.file,
                                      .device = found.st_dev,
                                      .number = found.st_ino};
    memcpy(out_name->secret, label.secret, sizeof label.secret);
    return true;
}

bool cx_emu_process_file_is(const cx_emu_process_file *name, int file)
{
    struct stat found;

    return fstat(file, &found) == 0 && found.st_dev == name->device && found.st_ino == name->number;
}

/* ---- opening ---- */

/* The folder of a process is its effective user's, even where the process hides its memory. */
static bool is_of_this_user(int directory)
{
    struct stat found;

    return fstat(directory, &found) == 0 && found.st_uid == geteuid();
}

/* Finds the file without opening it: a device or a named pipe notices that. The descriptor of the
 * directory is one process's, and leads nowhere once another one has its number. */
static int find_file(const cx_emu_process_file *name)
{
    char path[32];
    int directory, place = -1;

    snprintf(path, sizeof path, "/proc/%d", (int)name->process);
    directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -1;
    snprintf(path, sizeof path, "fd/%d", (int)name->file);
    if (is_of_this_user(directory))
        place = openat(directory, path, O_PATH | O_CLOEXEC);
    close(directory);
    return place;
}

/* Files in memory of other programs, which may use their seals for something, have other names. */
static bool is_named(const char *path, cx_emu_sealed_kind kind)
{
    char wanted[64], shown[64];
    ssize_t length = readlink(path, shown, sizeof shown);
    int expected =
        snprintf(wanted, sizeof wanted, "/memfd:%s (deleted)", cx_emu_sealed_file_name(kind));

    return length == (ssize_t)expected && memcmp(shown, wanted, (size_t)length) == 0;
}

/* Opens exactly the file that was found, whatever its process has at that number by now. */
static int open_found(const cx_emu_process_file *name, cx_emu_sealed_kind kind, int place)
{
    char path[32];

    snprintf(path, sizeof path, "/proc/self/fd/%d", place);
    if (!cx_emu_process_file_is(name, place) || !cx_emu_sealed_file_possible(place) ||
        !is_named(path, kind))
        return -1;
    return open(path, O_RDWR | O_CLOEXEC);
}

/* A thread's number, or a child's, leads to the file too, but nobody gave out such a name. */
static bool is_sealed_as(const cx_emu_sealed *label, const cx_emu_process_file *name)
{
    return memcmp(label->secret, name->secret, sizeof name->secret) == 0 &&
           label->process == name->process && label->file == name->file;
}

int cx_emu_process_file_open(const cx_emu_process_file *name, cx_emu_sealed_kind kind,
                             cx_emu_sealed *out_label)
{
    int cancel = cx_cancel_hold();
    int place = find_file(name), file = -1;

    if (place >= 0) {
        file = open_found(name, kind, place);
        close(place);
    }
    if (file >= 0 &&
        (!cx_emu_sealed_file_check(file, kind, out_label) || !is_sealed_as(out_label, name))) {
        close(file);
        file = -1;
    }
    cx_cancel_restore(cancel);
    return file;
}
