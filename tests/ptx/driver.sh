#!/bin/sh
# The kernels of check_kernels through a driver instead of lib/ptx: kernels_on_driver, which runs on a real GPU too, on both stand-ins.
set -u
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/tests/ptx/kernels_on_driver
# Its contexts are left to the end of the process.
export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"

echo 1..4
for set in 12 13; do
    run env CTXRT_LIBCUDA="$top_builddir/lib/shim/cuda-$set/.libs/libcuda.so.1" CTXRT_EMU_GPU=default "$program"
    [ "$status" -eq 0 ] && [ "$(grep -c '^ok ' "$scratch/out")" -eq 21 ] && ! grep -q '^not ok' "$scratch/out"
    report $? "each_group_of_kernels_runs_on_the_stand_in_of_cuda_$set"
done
grep -c ' ends its context: left out$' "$scratch/out" > "$scratch/errors"
[ "$(cat "$scratch/errors")" -ge 4 ]
report $? 'what_ends_a_context_is_left_out_and_told'
run env CTXRT_LIBCUDA=/nowhere/libcuda.so.1 "$program"
[ "$(grep -c '^not ok .*/nowhere/libcuda.so.1' "$scratch/out")" -eq 21 ]
report $? 'without_a_driver_each_fails_and_says_why'
