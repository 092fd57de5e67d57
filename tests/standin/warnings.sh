#!/bin/sh
# The log of a program on the stand-in names each call that fails, once for each result, with its reason.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
program=$top_builddir/tests/standin/fails
unset CTXRT_LAYERS CTXRT_LOG CTXRT_STANDIN_LIBCUDA
hint='the same failure is not logged again; run the program under `ctxrt check` for more'

warned() # how many lines
{
    [ "$status" -eq 0 ] && [ "$(grep -c '^ctxrt: warning: ' "$scratch/errors")" -eq "$1" ] &&
        [ "$(wc -l < "$scratch/errors")" -eq "$1" ]
}

once() # pattern
{
    [ "$(grep -c -- "$1" "$scratch/errors")" -eq 1 ]
}

run "$ctxrt" run "$program" ask
[ "$(cat "$scratch/out")" = '3 calls failed' ] && warned 0
report $? 'answers_that_programs_look_for_are_no_warnings'
run "$ctxrt" run "$program" err
[ "$(cat "$scratch/out")" = '7 calls failed' ] && warned 5 && once 'for more$' && once "$hint"
report $? 'each_failure_is_told_once_and_the_hint_once'
once 'cuMemAlloc_v2 failed: CUDA_ERROR_INVALID_CONTEXT, 201 (invalid device context); no context is current on this thread; called at fails+0x[0-9a-f]*$'
report $? 'the_reason_is_told_of_a_call_without_a_context'
once 'cuMemAlloc_v2 failed: CUDA_ERROR_OUT_OF_MEMORY, 2 (out of memory); [0-9]* of the device.s [0-9]* bytes are free; called at fails+0x[0-9a-f]*$'
report $? 'and_of_memory_that_is_not_there'
once 'cuTexRefCreate is not supported by the stand-in driver$'
report $? 'what_is_not_supported_is_named_once'
place=$(sed -n 's/.*cuMemAlloc_v2 failed: CUDA_ERROR_OUT.*called at fails+\(0x[0-9a-f]*\)$/\1/p' "$scratch/errors")
addr2line -f -e "$program" "$place" 2> /dev/null | grep -qx err
report $? 'and_the_place_of_the_call'
run "$ctxrt" run "$program" stray
warned 6 && once 'cuCtxSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS, 700 (.*); earlier work failed with it: kernel stray, '
report $? 'an_error_that_sticks_is_told_with_the_work_that_failed'
[ "$(grep -c 'ILLEGAL_ADDRESS' "$scratch/errors")" -eq 1 ]
report $? 'and_not_of_the_calls_behind_it'
run "$ctxrt" run "$program" large
warned 4 && once 'cuLaunchKernel failed: .*; the block has 4096 threads, and the device.s limit is 1024; called at ' &&
    once 'cuLaunchCooperativeKernel failed: .*; the grid.s y is 70000, and the device.s limit is 1 to 65535' &&
    once 'cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE, 1 (invalid argument); called at '
report $? 'a_launch_over_a_limit_is_told_with_the_limit'
run "$ctxrt" run "$program" many
warned 18 && once "$hint" && tail -1 "$scratch/errors" | grep -q 'further failures are not logged; run .* for more$'
report $? 'a_log_has_16_failures_at_most'
run env CTXRT_LOG=error "$ctxrt" run "$program" err
[ "$(cat "$scratch/out")" = '7 calls failed' ] && warned 0
report $? 'a_log_of_errors_has_none'

mkdir "$scratch/behind"
cp -L "$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1" "$scratch/behind"
run "$ctxrt" run --driver "libcuda=$scratch/behind/libcuda.so.1" "$program" err
[ "$(cat "$scratch/out")" = '7 calls failed' ] && warned 5 && once 'no context is current on this thread$'
report $? 'of_two_stand_ins_the_one_behind_tells'
run "$ctxrt" run --driver "libcuda=$top_builddir/tests/standin/.libs/other.so" "$program" err
[ "$status" -eq 0 ] && once 'cuMemAlloc_v2 is not in .*other.so$' && once 'cuTexRefCreate is not in .*other.so$'
report $? 'what_another_library_lacks_is_named_once'
run "$ctxrt" check "$program" err
[ "$status" -eq 1 ] && ! grep -q '^ctxrt: warning: cuMem' "$scratch/errors"
report $? 'the_layer_tells_failures_in_its_own_words'
echo "1..$number"
