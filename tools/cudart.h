/*
 * The runtime library for a program that ctxrt starts: its folders, and why it cannot serve one.
 */
#ifndef CX_TOOLS_CUDART_H
#define CX_TOOLS_CUDART_H

#include "binary.h"

enum { CUDART_MAJORS = 3, CUDART_PATH = PATH_MAX + 32, CUDART_PATHS = 3 * (PATH_MAX + 1) };

/* The folders of libcudart.so.11.0, .12 and .13, with ':' between them. False: one is not found. */
bool cudart_find(char folders[CUDART_PATHS]);

/* The file that is the runtime library of a major version, 11, 12 or 13. False: it is not found. */
bool cudart_find_version(int major, char file[CUDART_PATH]);

/* True if the program itself finds another libcudart by its RPATH, before LD_LIBRARY_PATH. */
bool cudart_is_hidden(const binary *program);

/* The major version of CUDA whose runtime the program needs; 0: none that is known. */
int cudart_major(const binary *program);

/* Prints one line for each thing that keeps the program from using ctxrt's runtime library, with
 * the remedy. `plays`: its device code is to run on emulated GPUs, which need PTX. */
void cudart_warn(const char *command, const binary *program, bool plays);

#endif
