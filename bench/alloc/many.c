#include "many.h"

#include "check.h"
#include "play.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 4096, PAIRS = 1000 };

static double time_pairs(long rounds)
{
    double best_ns = HUGE_VAL;
    for (long round = 0; round <= rounds; round++) {
        double begin_ns = bench_now_ns();
        for (int i = 0; i < PAIRS; i++) {
            void *pointer;
            bench_check(ctxrt_alloc_direct(BLOCK_BYTES, &pointer));
            bench_check(ctxrt_free(pointer));
        }
        best_ns = fmin(best_ns, (bench_now_ns() - begin_ns) / PAIRS);
    }
    return best_ns;
}

static void grow(void **blocks, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        bench_check(ctxrt_alloc_direct(BLOCK_BYTES, &blocks[i]));
}

bench_many bench_time_many(ctxrt_device device, size_t many, long rounds)
{
    bench_many result;
    void **blocks = calloc(many, sizeof *blocks);
    if (blocks == NULL)
        abort();
    bench_check(ctxrt_device_push(device));
    grow(blocks, 0, BENCH_FEW);
    result.few_ns = time_pairs(rounds);
    grow(blocks, BENCH_FEW, many);
    result.many_ns = time_pairs(rounds);
    for (size_t i = 0; i < many; i++)
        bench_check(ctxrt_free(blocks[i]));
    bench_check(ctxrt_stack_pop());
    free(blocks);
    return result;
}
