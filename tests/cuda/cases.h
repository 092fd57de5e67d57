/* The cases of this folder; the runtime has been started with the policy. */
#ifndef CX_TEST_CUDA_CASES_H
#define CX_TEST_CUDA_CASES_H

#include <ctxrt/ctxrt.h>
#include <stdbool.h>

/* One test for each row of the policy's table in the document: every cell of it, at every level
 * that it names. */
void frames_check(ctxrt_foreign_policy policy, const char *document, bool emulated);

/* Work of ctxrt and of CUDA calls on the same memory and streams. */
void mixed_check(ctxrt_foreign_policy policy);

const char *policy_name(ctxrt_foreign_policy policy);

#endif
