/*
 * Names of sealed files that one process of this machine keeps and others open through /proc. A
 * name may come from a stranger. All functions: lock "emu.state" held.
 */
#ifndef CX_EMU_PROCESS_FILE_H
#define CX_EMU_PROCESS_FILE_H

#include "emu/base/sealed_file.h"

/* The name of a file in every process. Processes and descriptors get used numbers again, so the
 * name has the file's own device and number too, and repeats its secret. */
typedef struct cx_emu_process_file {
    int32_t process;
    int32_t file; /* a descriptor of that process */
    uint64_t device;
    uint64_t number;
    uint64_t secret[2];
} cx_emu_process_file;

/* Names a sealed file of this process. False: the descriptor leads to none. */
bool cx_emu_process_file_name(int file, cx_emu_sealed_kind kind, cx_emu_process_file *out_name);

/* True if the descriptor, one of this process, leads to what the name says. */
bool cx_emu_process_file_is(const cx_emu_process_file *name, int file);

/*
 * Opens a sealed file by its name. Returns a descriptor that the caller closes, or -1: the process
 * or its file is gone, belongs to another user, or is not the sealed file with this secret. Opens
 * nothing but a file in memory, not even for a moment, and changes nothing.
 */
int cx_emu_process_file_open(const cx_emu_process_file *name, cx_emu_sealed_kind kind,
                             cx_emu_sealed *out_label);

#endif
