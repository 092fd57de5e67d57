/*
 * The file of this process: a layer writes it through shared mappings, and a command reads it,
 * meanwhile and afterwards. A page that the file system has no room for would be a signal when the
 * process writes to it, so room is reserved before. All functions open the file by name, since a
 * program may close files that it does not know. They are no cancellation points.
 */
#ifndef CX_LAYER_PROCESS_FILE_H
#define CX_LAYER_PROCESS_FILE_H

#include "base/lock.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cx_process_file {
    char path[PATH_MAX + 64];
} cx_process_file;

/* "process file": guards the making of a process's files, and the chunks of a trace that wait to be
 * used or unmapped. A forked process makes its files under it, at its first call; after that they
 * grow without it. No driver call is made under it. */
extern cx_lock cx_process_file_lock;

/* Makes an empty file in the folder: `prefix`, the process's number, a point and six letters. False
 * with errno: it cannot be made. */
bool cx_process_file_make(cx_process_file *self, const char *folder, const char *prefix);

/* Reserves room, which is filled with zeroes. Returns 0, or an errno: there is none, or the file
 * would be larger than the process's files may be. */
int cx_process_file_reserve(const cx_process_file *self, uint64_t offset, uint64_t bytes);

/* Maps a part, which may be larger than its room; at `place` unless that is NULL. NULL with errno:
 * it cannot be mapped. */
void *cx_process_file_map(const cx_process_file *self, uint64_t offset, uint64_t bytes,
                          void *place);

/* Empties the file. The command counts empty files: there was no room for these processes. Keeps
 * errno. */
void cx_process_file_empty(const cx_process_file *self);

/* The path of the process's program, cut to the size; empty if the system does not tell. */
void cx_process_file_program(char *path, size_t size);

#endif
