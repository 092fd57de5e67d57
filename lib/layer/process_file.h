/*
 * A process writes the file of a layer through a shared mapping, and a command reads it afterwards.
 * All layers need these two functions for it.
 */
#ifndef CX_LAYER_PROCESS_FILE_H
#define CX_LAYER_PROCESS_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Reserves room before it is mapped: a page that the system cannot keep would be a signal, and so
 * would be a file beyond the process's limit. Returns 0, or an errno. */
int cx_layer_reserve(int file, uint64_t offset, uint64_t bytes);

/* The path of the process's program, cut to the size; empty if the system does not tell. */
void cx_layer_program(char *path, size_t size);

#endif
