/*
 * Why the driver refused the calling thread's latest call: a phrase for a call that breaks a rule,
 * and for OUT_OF_MEMORY the refusal of its latest request for memory. No function needs a lock.
 */
#ifndef CX_EMU_REFUSAL_H
#define CX_EMU_REFUSAL_H

#include "driver/cuda_abi.h"

#include <stdbool.h>
#include <stddef.h>

/* Refuses the calling thread's call. `why` is a literal phrase that says what is wrong, without a
 * capital at its begin and a point at its end. Each `#` in it stands for the next of the numbers.
 * Returns the result. */
__attribute__((cold)) cxu_result cx_emu_refuse(cxu_result result, const char *why);
__attribute__((cold)) cxu_result cx_emu_refuse_numbers(cxu_result result, const char *why,
                                                       unsigned long long first,
                                                       unsigned long long second);

/* The phrase of the thread's latest refused call; NULL: there is none. Each call begins with
 * NULL. */
extern __attribute__((tls_model("initial-exec"))) _Thread_local const char *cx_emu_why;

/* Writes why the thread's latest call was refused with this result. False: no phrase is known. */
bool cx_emu_refusal_phrase(cxu_result result, char *text, size_t size);

/* Begins a request for memory on the calling thread: forgets the refusal of an earlier one. */
void cx_emu_refusal_begin(void);

/* The system refused memory for the request: `call` failed and left errno. */
void cx_emu_refused_by_system(const char *call, size_t bytes);

/* RLIMIT_FSIZE is below the size that a memory file needs. */
void cx_emu_refused_by_file_limit(size_t bytes);

/* The request is larger than the machine's memory. */
void cx_emu_refused_by_machine(size_t bytes);

/* The GPU's memory has no room for the request. */
void cx_emu_refused_by_gpu(void);

/* The GPU's memory has no room for a context's share, CTXRT_EMU_CONTEXT_BYTES. */
void cx_emu_refused_to_context(size_t bytes);

/* Writes why the system refused the thread's latest request. False: it did not. */
bool cx_emu_refusal_describe(char *text, size_t size);

/* True if nothing but the quota of the GPU refused the thread's latest request. */
bool cx_emu_refusal_is_by_gpu(void);

#endif
