#include "infini.h"

#include <stdlib.h>

void infini_start(void)
{
    cx_fixture_start();
}

void infini_start_lazy(void)
{
    ck_assert_int_eq(setenv("CTXRT_EMU_SCHEDULE", "lazy", 1), 0);
    cx_fixture_start();
}

void infini_end(void)
{
    while (ctxrt_stack_depth() != 0)
        cx_assert_ok(ctxrt_stack_pop());
    cx_fixture_end();
}
