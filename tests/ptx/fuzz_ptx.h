/* Any bytes as PTX. Aborts where an answer makes no sense. */
#ifndef CX_TEST_FUZZ_PTX_H
#define CX_TEST_FUZZ_PTX_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif
