#include "emu/process_file.h"

#include "base/cancel.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

bool cx_emu_process_file_name(int file, cx_emu_process_file *out_name)
{
    struct stat found;

    if (fstat(file, &found) != 0)
        return false;
    *out_name = (cx_emu_process_file){.process = (int32_t)getpid(),
                                      .file = file,
                                      .device = found.st_dev,
                                      .number = found.st_ino};
    return true;
}

bool cx_emu_process_file_is(const cx_emu_process_file *name, int file)
{
    struct stat found;

    return fstat(file, &found) == 0 && found.st_dev == name->device &&
           found.st_ino == name->number;
}

int cx_emu_process_file_open(const cx_emu_process_file *name)
{
    char path[64];
    int cancel, file;

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)name->process, (int)name->file);
    cancel = cx_cancel_hold();
    file = open(path, O_RDWR | O_CLOEXEC);
    cx_cancel_restore(cancel);
    if (file >= 0 && !cx_emu_process_file_is(name, file)) {
        cx_file_close(file);
        file = -1;
    }
    return file;
}
