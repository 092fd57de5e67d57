/*
 * Origins: the places in the program that made a call, as traces of the region.
 */
#ifndef CX_LAYER_CHECK_ORIGIN_H
#define CX_LAYER_CHECK_ORIGIN_H

#include "driver/table.h"
#include "layer/check/region.h"

/* The number of a trace; 0: unknown. */
typedef uint32_t cx_origin;

/* Before the first call: backtrace() allocates when it is called first. `keeps_function`: origins
 * begin with the function of this library that the program called. */
void cx_origin_prepare(bool keeps_function);

/* The calling thread's, without the other frames of this library at its top. Sets *out_exits if the
 * thread is in exit(), as far as the upper frames tell. Takes the lock "check". */
cx_origin cx_origin_here(bool *out_exits);

/* The calling thread's, which handles a signal: from the instruction that raised it on. 0: unknown.
 * Takes the lock "check". */
cx_origin cx_origin_of_fault(void *instruction);

/* The call as the program made it: of the CUDA Runtime API, or the symbol of the slot. */
const char *cx_origin_call(cx_origin origin, cx_slot slot);

/* True if a library made the call of the driver for the program. */
bool cx_origin_is_of_library(cx_origin origin);

/* The module that made the call, as a number; -1: unknown. A call that came by the CUDA runtime
 * library is its caller's. */
int cx_origin_module(cx_origin origin);

/* The file name of a module by its number, without folders; NULL: unknown. */
const char *cx_origin_file_name(uint32_t module);

/* True if the modules are libraries of one package, or one module. */
bool cx_origin_same_package(int one, int other);

/* The file name of the module that made the call. */
const char *cx_origin_module_name(cx_origin origin);

/* True if a runtime above made the call: the module that has the list of names (layer/names.h). */
bool cx_origin_in_runtime(cx_origin origin);

/* True if a function that made the first call made the other one further down, in the same run as
 * far as return addresses tell. */
bool cx_origin_follows(cx_origin one, cx_origin other);

/* True if the calling thread is in exit(). */
bool cx_origin_in_exit(void);

/* True if the driver itself had called the program, which then made the call: a callback. */
bool cx_origin_in_callback(cx_origin origin);

#endif
