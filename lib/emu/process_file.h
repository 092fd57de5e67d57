/*
 * Files in memory that one process of this machine keeps and others open through /proc, which the
 * system permits to the same user. No function takes a lock.
 */
#ifndef CX_EMU_PROCESS_FILE_H
#define CX_EMU_PROCESS_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* The name of a file in every process. Processes and descriptors get used numbers again, so the
 * name has the file's own device and number too. */
typedef struct cx_emu_process_file {
    int32_t process;
    int32_t file; /* a descriptor of that process */
    uint64_t device;
    uint64_t number;
} cx_emu_process_file;

/* Names a file of this process. False: the program has closed it. */
bool cx_emu_process_file_name(int file, cx_emu_process_file *out_name);

/* True if the descriptor, one of this process, leads to what the name says. */
bool cx_emu_process_file_is(const cx_emu_process_file *name, int file);

/* Opens a file by its name. Returns a descriptor that the caller closes, or -1: the process or its
 * file is gone, or belongs to another user. */
int cx_emu_process_file_open(const cx_emu_process_file *name);

#endif
