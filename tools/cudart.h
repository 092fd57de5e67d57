/*
 * The runtime library for a program that ctxrt starts: its folders, and why it cannot serve one.
 */
#ifndef CX_TOOLS_CUDART_H
#define CX_TOOLS_CUDART_H

#include "binary.h"

enum { CUDART_MAJORS = 3, CUDART_PATH = PATH_MAX + 32, CUDART_PATHS = 3 * (PATH_MAX + 1) };

/* The folders of libcudart.so.11.0, .12 and .13, with ':' between them. False: one is not found. */
bool cudart_find(char folders[CUDART_PATHS]);

/* The file libcudart.so.13, to link programs with. False: it is not found. */
bool cudart_find_newest(char file[CUDART_PATH]);

/* The major version of CUDA whose runtime the program needs; 0: none that is known. */
int cudart_major(const binary *program);

/* Prints one line for each thing that keeps the program from using ctxrt's runtime library, with
 * the remedy. `plays`: its device code is to run on emulated GPUs, which need PTX. */
void cudart_warn(const char *command, const binary *program, bool plays);

#endif
