/*
 * Kernels given as text. With CTXRT_TEST_TEXTS=FOLDER each text that runs is left there as a file,
 * for the assembler: assembled.sh.
 */
#ifndef CX_TEST_PTX_TEXTS_H
#define CX_TEST_PTX_TEXTS_H

#include "../emu/work_fixture.h"

/* The complaint about the text that was loaded last. */
extern char text_complaint[512];

cxu_result text_load(const char *text, CUmodule *out_module);

/* Launches kernel k of the text with `out`, one block of so many threads, and waits for it. */
cxu_result text_launch(const char *text, CUdeviceptr out, unsigned threads);

/* The same for words that begin as they are; the test fails where the kernel does. */
void text_run(const char *text, void *words, size_t bytes, unsigned threads);

#endif
