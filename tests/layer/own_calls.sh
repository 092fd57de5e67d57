#!/bin/sh
# libctxrt's own driver calls are clean under `ctxrt check`: in tests of the runtime, in samples and in the random mix, with each
# source of allocators, in each schedule. An error that a test provokes by its own misuse is in own_calls.txt; any other one fails.
# Here a few programs; with CTXRT_TEST_EXTENT=soak all of them, with all sources and schedules, and the random mix, whose threads
# meet otherwise in each run.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
"$ctxrt" check --help > /dev/null 2>&1 || skip_all 'there is no ctxrt check here'
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_CHECK_FOLDER CTXRT_EMU_SCHEDULE CTXRT_ALLOCATOR

# Errors of the last report, as "KIND FUNCTION": the function is the innermost one that is not libctxrt's; "-": none is named.
errors()
{
    awk '/^ctxrt check: error / { kind = substr($4, 1, length($4) - 1) }
         /^  called by / && kind != "" {
             function_of = "-"
             count = split($0, frames, " < ")
             for (i = 2; i <= count && function_of == "-"; i++)
                 if (sub(/\(\)$/, "", frames[i]) != 0 && sub(/.* in /, "", frames[i]) != 0 && frames[i] !~ /^(cx|ctxrt)_/)
                     function_of = frames[i]
             print kind, function_of
             kind = ""
         }' "$scratch/errors" | sort -u
}

# The test's own misuse; where functions are not named, of any function.
is_provoked() # program, kind, function
{
    grep -v '^#' "$top_srcdir/tests/layer/own_calls.txt" |
        awk -v program="$1" -v kind="$2" -v function_of="$3" \
            '$1 == program && $2 == kind && (function_of == "-" || $3 == function_of || $3 == "*") { found = 1 } END { exit !found }'
}

# watch SOURCE SCHEDULE PROGRAM ARGUMENT...: the program comes to its end, says nothing is wrong, and its errors are provoked.
watch()
{
    source=$1 schedule=$2 program=$3
    shift 2
    shift
    run env CTXRT_DRIVER=emulated CTXRT_LOG=error CTXRT_ALLOCATOR="$source" CTXRT_EMU_SCHEDULE="$schedule" \
        timeout 900 "$ctxrt" check --error-exitcode 0 "$top_builddir/$program" "$@"
    errors | while read -r kind function_of; do
        is_provoked "$program" "$kind" "$function_of" || echo "$kind in $function_of"
    done > "$scratch/own"
    grep '^not ok' "$scratch/out" >> "$scratch/own"
    [ "$status" -eq 0 ] || echo "it ended with $status" >> "$scratch/own"
    grep -q '^ctxrt check: [0-9]* errors\{0,1\}, ' "$scratch/errors" && [ ! -s "$scratch/own" ]
    result=$?
    mv "$scratch/own" "$scratch/out"
    awk '/^ctxrt check: / { is_error = / check: error / } is_error' "$scratch/errors" > "$scratch/own"
    mv "$scratch/own" "$scratch/errors"
    report $result "calls of libctxrt are clean: $program, $source, $schedule"
}

# Programs that use the shared library: the others have no layer in front of their driver.
uses_library() # program
{
    [ -x "$top_builddir/$1" ] && ldd "$top_builddir/$1" 2> /dev/null | grep -q libctxrt
}

all_programs()
{
    for folder in runtime graph memory module context; do
        for source in "$top_srcdir"/tests/$folder/check_*.c; do
            program=tests/$folder/$(basename "$source" .c)
            ! uses_library "$program" || echo "$program"
        done
    done
    for source in "$top_srcdir"/samples/*.c; do
        program=samples/$(basename "$source" .c)
        ! uses_library "$program" || echo "$program"
    done
    echo tests/joints/check_joints
}

if [ "${CTXRT_TEST_EXTENT:-}" = soak ]; then
    for source in alloc vmm direct; do
        for schedule in threads lazy random:7; do
            for program in $(all_programs); do
                watch $source $schedule "$program"
            done
            watch $source $schedule tests/layer/own_calls
            watch $source $schedule tests/joints/check_random --seconds 20 --resets apart
        done
    done
else
    for source in alloc vmm direct; do
        watch $source lazy tests/layer/own_calls
    done
    watch alloc lazy tests/runtime/check_raw
    watch direct threads tests/runtime/check_stream
    watch vmm lazy tests/graph/check_recording
fi

# Why the mix keeps its resets apart here: a reset is behind all work of before, but an owner who has not heard of it may write to
# memory that is another's by then. Under check the embedded driver does not give the address of a cuMemAlloc out again so soon.
for source in vmm; do
    watch $source lazy tests/layer/checked reset_and_begin_anew
    run env CTXRT_DRIVER=emulated CTXRT_ALLOCATOR=$source CTXRT_EMU_SCHEDULE=lazy "$ctxrt" check --error-exitcode 9 \
        "$top_builddir/tests/layer/checked" reset_and_write_on
    [ "$status" -eq 9 ] && [ "$(errors | cut -d' ' -f1)" = ORDER-COPY ]
    report $? "who_writes_on_after_a_reset_races_with_the_next_owner_of_the_address:_$source"
done

# This test itself: an error that nobody provokes is found.
watch_planted()
{
    run env CTXRT_DRIVER=emulated "$ctxrt" check --error-exitcode 0 "$top_builddir/tests/layer/checked"
    [ "$(errors | cut -d' ' -f1)" = ORDER-COPY ] && ! is_provoked tests/layer/checked "$(errors | cut -d' ' -f1)" -
    report $? 'an_error_that_no_test_provokes_is_found'
}
watch_planted
echo "1..$number"
