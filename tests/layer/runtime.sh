#!/bin/sh
# CTXRT_LAYERS=check in libctxrt itself: in front of the embedded driver, and on a stand-in, which has the layer.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
checked=$top_builddir/tests/layer/checked
standin=$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1

with_layer() # program, argument...
{
    run env CTXRT_DRIVER=emulated CTXRT_LAYERS=check "$@"
}

finds_race() # the driver that plays; what the report says of the frame follows
{
    [ "$(grep -c '^ctxrt check: .* ORDER-COPY: ' "$scratch/errors")" -eq 1 ] &&
        grep -q '^ctxrt check: 1 error, 0 warnings$' "$scratch/errors" &&
        grep -q '^  ctxrt: the thread works on cuda:0, frame 2 of 2, scope at .*checked\.c:[0-9]*$' "$scratch/errors"
}

# ---- the log ----

with_layer "$checked" ordered
printed '^done$'
report $? 'a_program_without_misuse_runs_as_without_the_layer'
with_layer "$checked"
[ "$status" -eq 0 ] && [ "$(grep -c ORDER-COPY "$scratch/errors")" -eq 2 ] &&
    grep -q '^ctxrt: warning: check: ORDER-COPY: .*: cuMemsetD8Async at .* < .*; advice: ' "$scratch/errors"
report $? 'a_finding_is_a_line_of_the_log'
grep -q '; ctxrt: the thread works on cuda:0, frame 2 of 2, scope at .*checked\.c:[0-9]*;' "$scratch/errors"
report $? 'which_names_the_frame_and_where_its_scope_was_entered'
[ "$(tail -n 1 "$scratch/errors")" = 'ctxrt: check: 1 finding, ORDER-COPY 1' ]
report $? 'and_the_end_has_a_summary'
with_layer env CTXRT_LOG=error "$checked"
printed '^done$'
report $? 'neither_is_printed_where_the_log_leaves_warnings_out'
run env CTXRT_DRIVER=emulated "$checked"
printed '^done$'
report $? 'without_the_variable_nothing_is_watched'

# ---- under ctxrt check ----

if "$ctxrt" check --help > /dev/null 2>&1; then
    run env CTXRT_DRIVER=emulated "$ctxrt" check --error-exitcode 9 "$checked"
    [ "$status" -eq 9 ] && finds_race
    report $? 'under_ctxrt_check_it_is_in_the_report'
    run env CTXRT_DRIVER=emulated "$ctxrt" check --leaks --json "$scratch/report" "$checked"
    ! grep -q '"device": 2' "$scratch/report" && grep -q '"device": 1,' "$scratch/report" &&
        grep -q 'of GPU 1$' "$scratch/errors" || grep -q 'of GPU 1,' "$scratch/errors"
    report $? 'GPUs_are_counted_without_the_device_of_the_CPU'
    run "$ctxrt" check "$checked"
    [ "$status" -eq 1 ] && finds_race
    report $? 'on_a_stand_in_whose_layer_sees_the_calls_it_is_there_once'
fi

# ---- threads that end with frames ----

left() # number, how the thread ends, variable...: so many entries are left in the report
{
    wanted=$1
    how=$2
    shift 2
    run env "$@" "$ctxrt" check --json "$scratch/report" "$checked" "$how"
    [ "$status" -eq 0 ] && ! grep '"kind"' "$scratch/report" | grep -qv "STACK-LEFT\|STACK-POP-FOREIGN" &&
        [ "$(awk '/"kind": "STACK-LEFT"/ { of_left = 1 }
                  /"count"/ && of_left { sum += $2; of_left = 0 } END { print sum + 0 }' "$scratch/report")" -eq "$wanted" ]
}

if "$ctxrt" check --help > /dev/null 2>&1; then
    for driver in CTXRT_DRIVER=emulated CTXRT_LAYERS=; do
        left 0 set $driver
        report $? "a_set_needs_no_pop_before_its_thread_ends:_$driver"
        left 1 set_twice_over_a_push $driver
        report $? "a_push_beneath_sets_does:_$driver"
        left 1 push_over_a_set $driver
        report $? "so_does_one_above_a_set:_$driver"
    done
    left 2 set_that_a_refused_pop_puts_back CTXRT_LAYERS=
    report $? 'an_entry_of_a_set_that_was_put_back_needs_none_either'
fi

# ---- frees that wait ----

if "$ctxrt" check --help > /dev/null 2>&1; then
    for driver in CTXRT_DRIVER=emulated CTXRT_LAYERS=; do
        run env "$driver" CTXRT_EMU_SCHEDULE=lazy "$ctxrt" check "$checked" free_pinned
        [ "$status" -eq 0 ] && grep -q '^ctxrt check: 0 errors, 0 warnings$' "$scratch/errors"
        report $? "pinned_memory_is_freed_by_a_call_that_waits:_$driver"
    done
fi

# ---- why work failed ----

if "$ctxrt" check --help > /dev/null 2>&1; then
    place='.* < .* in launch_through_null()'
    [ -z "$SANITIZERS" ] || place='launch.c:' # without inlined functions that is more frames away than are shown
    cause='kernel store, line 8 of its PTX, block (0, 0, 0), thread (0, 0, 0), address 0: a write of 8 bytes through a null pointer'
    for driver in CTXRT_DRIVER=emulated CTXRT_LAYERS=; do
        run env "$driver" "$ctxrt" check --leaks "$checked" launch_through_null
        grep -q "^CTXRT_ERROR_DRIVER: cuCtxSynchronize failed: .*; earlier work failed with it: $cause\$" "$scratch/out"
        report $? "the_error_of_ctxrt_says_which_work_failed:_$driver"
        grep -q "^  cause: $cause\$" "$scratch/errors" &&
            grep -q "^  launched: by cuLaunchKernel in stream 1, $place" "$scratch/errors"
        report $? "so_does_the_finding:_$driver"
        ! grep -q 'LIFE-\|PRIMARY-KEPT' "$scratch/errors" && grep -q '^  alive at the end of ' "$scratch/errors"
        report $? "what_could_not_be_ended_any_more_is_no_leak:_$driver"
    done
fi

# ---- a stand-in of the user's ----

run env CTXRT_LIBCUDA="$standin" CTXRT_LAYERS=check "$checked"
[ "$status" -eq 0 ] && [ "$(grep -c 'warning: check: ORDER-COPY' "$scratch/errors")" -eq 1 ]
report $? 'and_once_in_its_log'

# ---- forks ----

mkdir "$scratch/files"
# What searches a child for leaks stops its threads, and cannot stop those of the parent.
no_leaks="$ASAN_OPTIONS:detect_leaks=0"
for layers in check count trace check,count,trace; do
    run env ASAN_OPTIONS="$no_leaks" CTXRT_LAYERS="$layers" CTXRT_LOG=error CTXRT_TRACE_FOLDER="$scratch/files" \
        CTXRT_REPORT_FOLDER="$scratch/files" "$top_builddir/tests/runtime/check_ending_fork"
    [ "$status" -eq 0 ] && grep -q '^ok' "$scratch/out" && ! grep -q '^not ok' "$scratch/out"
    report $? "children_of_forks_are_well_under_$layers"
    rm -f "$scratch/files"/*
done

# ---- the variable ----

for layers in chek check, ,check check,tracer ' check'; do
    run env CTXRT_DRIVER=emulated CTXRT_LAYERS="$layers" "$checked"
    [ "$status" -eq 3 ] &&
        grep -q "^CTXRT_ERROR_INVALID_ARGUMENT: CTXRT_LAYERS=$layers: the layers are check, count and trace$" "$scratch/out"
    report $? "an_unknown_layer_is_an_error_of_ctxrt_init:_'$layers'"
done
with_layer env CTXRT_LAYERS=check,check "$checked" ordered
printed '^done$'
report $? 'a_layer_can_be_named_twice'
with_layer "$ctxrt" info
printed '^  CTXRT_LAYERS  *check$'
report $? 'ctxrt_info_shows_it'
run env CTXRT_DRIVER=emulated CTXRT_LAYERS=none "$ctxrt" info
[ "$status" -ne 0 ] && grep -q 'CTXRT_LAYERS=none: the layers are check, count and trace' "$scratch/errors"
report $? 'and_says_what_is_wrong_with_it'
echo "1..$number"
