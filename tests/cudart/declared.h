/* The Runtime API as a program of CUDA 13 sees it, in our own declarations. */
#ifndef CX_TEST_CUDART_DECLARED_H
#define CX_TEST_CUDART_DECLARED_H

#include "runtime/calls.h"

#define CX_ENTRY(symbol, name, body, per_thread, arity, parameters) \
    cxr_error symbol CX_DECLARE(arity, parameters);
#define CX_ENTRY_FUNCTION(result, symbol, name, body, arity, parameters) \
    result symbol CX_DECLARE(arity, parameters);
#define CX_ENTRY_PROCEDURE(symbol, name, body, arity, parameters) \
    void symbol CX_DECLARE(arity, parameters);
#define CX_ENTRY_REFUSED(symbol)
#include "lib/runtime/entries-13.def"

#endif
