/*
 * The bodies of the Runtime API's functions: each is the function of its name with cxr_ in front,
 * without what its entry does (entries.c). Effects, ownership and errors are those of NVIDIA's
 * documentation of the function; docs/runtime.md says where a function does less.
 */
#ifndef CX_RUNTIME_CALLS_H
#define CX_RUNTIME_CALLS_H

#include "driver/parameters.h"
#include "runtime/cudart_abi.h"
#include "runtime/properties.h"

#define CX_CALL(name, arity, parameters) cxr_error cxr_##name CX_DECLARE(arity, parameters);
#define CX_FUNCTION(result, name, arity, parameters) \
    result cxr_##name CX_DECLARE(arity, parameters);
#define CX_PROCEDURE(name, arity, parameters) void cxr_##name CX_DECLARE(arity, parameters);
#include "runtime/calls.def"

#endif
