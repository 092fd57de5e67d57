#!/bin/sh
# ctxrt trace: each option, what is written, and a trace of all calls so far however the program and its children end.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
traced=$top_builddir/tests/tools/traced
timeline=$top_builddir/tests/tools/timeline
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_TRACE_FOLDER CTXRT_CHECK_FOLDER
TMPDIR=$scratch
CTXRT_LOG=error # the program makes a call that fails
export TMPDIR CTXRT_LOG

trace() # argument...
{
    run timeout 600 "$ctxrt" trace "$@"
}

has() # pattern
{
    grep -q -- "$1" "$scratch/out"
}

# The calls of the text, and the number of lines that match.
calls()
{
    grep -c '^ *[0-9]*\.[0-9]\{9\} ' "$scratch/out"
}

lines() # pattern
{
    grep -c -- "$1" "$scratch/out"
}

# ---- text ----

trace --text "$traced"
[ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] && has '^process [0-9]* traced: 21 calls$' && [ "$(calls)" -eq 21 ]
report $? 'text_has_a_line_for_each_call'
cp "$scratch/out" "$scratch/text"
sed -n 's/^ *\([0-9.]*\) .*/\1/p' "$scratch/text" | sort -c -n
report $? 'in_the_order_in_which_they_began'
has ' main \[0\] no context: cuCtxCreate_v2(-> context 1 of GPU 1, flags=0x0, GPU 1) = SUCCESS [0-9.]* us, traced' &&
    has ' main \[1\] context 2 of GPU 0: cuStreamCreate(-> stream 2, flags=0x1) = SUCCESS'
report $? 'a_line_has_the_thread_the_depth_the_current_context_and_what_came_back'
[ "$(grep -c ' us, traced\(\.c:[0-9]* in [a-z_]*()\|+0x[0-9a-f]*\( in [a-z_]*()\)\{0,1\}\)$' "$scratch/out")" -eq 21 ]
report $? 'and_where_the_program_made_the_call'
has ': cuStreamWaitEvent(stream 2, event 1, flags=0x0) = SUCCESS' &&
    has ': cuMemcpyHtoDAsync_v2(destination=0x[0-9a-f]*, source=0x[0-9a-f]*, bytes=4096, stream 1) = SUCCESS'
report $? 'objects_have_numbers_and_memory_addresses'
has ' worker \[2\] context 2 of GPU 0: cuCtxPopCurrent_v2(-> context 2 of GPU 0) = SUCCESS' &&
    has ' worker \[1\] context 1 of GPU 1: cuCtxSetCurrent(context 2 of GPU 0) = SUCCESS' &&
    has ' worker \[1\] context 2 of GPU 0: cuCtxSetCurrent(no context) = SUCCESS' &&
    has ' worker \[0\] no context: cuCtxSynchronize() = INVALID_CONTEXT'
report $? 'a_stack_is_followed_through_push_pop_and_set'
run sh -c "'$ctxrt' trace --text '$traced' > /dev/full"
[ "$status" -eq 1 ] && grep -q 'standard output could not be written' "$scratch/errors"
report $? 'text_that_cannot_be_written_is_a_failure'

# ---- the timeline ----

timeline() # the file is a timeline with these counts, one a line
{
    "$timeline" "$scratch/trace.json" > "$scratch/counts" && sort "$scratch/counts" > "$scratch/seen" &&
        printf '%s\n' "$@" | sort | cmp -s - "$scratch/seen" || { cat "$scratch/counts" >> "$scratch/out" && false; }
}
trace -o "$scratch/trace.json" "$traced"
[ "$status" -eq 0 ] && [ ! -s "$scratch/out" ] &&
    timeline 'call 21' 'context 5' 'counter 9' 'arrow 5' 'host 1' 'move 2' 'order 2'
report $? 'a_timeline_has_calls_contexts_depths_work_and_arrows'
grep -q '"cat":"move","name":"copy of 4096 bytes".*"way":"copy host to device","bytes":4096' "$scratch/trace.json" &&
    grep -q '"name":"stream 2 of context 2 of GPU 0"' "$scratch/trace.json" &&
    grep -q '"name":"thread_name","args":{"name":"worker"}' "$scratch/trace.json"
report $? 'work_and_tracks_have_names'
[ "$(grep -c '"cat":"call".*"origin":"traced[.+][^"]*"' "$scratch/trace.json")" -eq 21 ]
report $? 'calls_have_their_origins'
sed 's/"ph":"f"/"ph":"t"/' "$scratch/trace.json" > "$scratch/broken.json"
! "$timeline" "$scratch/broken.json" > /dev/null
report $? 'the_checker_of_timelines_finds_an_arrow_without_an_end'
sed 's/"dur":\([0-9]\)/"dur":9999\1/' "$scratch/trace.json" > "$scratch/broken.json"
! "$timeline" "$scratch/broken.json" > /dev/null
report $? 'and_slices_that_overlap'
[ -z "$(find "$scratch" -name '.ctxrt-trace.*')" ]
report $? 'nothing_else_is_left_behind'
trace -o /nowhere/trace.json "$traced"
[ "$status" -eq 1 ] && grep -q 'cannot write /nowhere/trace.json' "$scratch/errors"
report $? 'a_file_that_cannot_be_written_is_a_failure'
trace --text -o "$scratch/trace.json" "$traced"
[ "$status" -eq 0 ] && [ "$(calls)" -eq 21 ] && "$timeline" "$scratch/trace.json" | grep -qx 'call 21'
report $? 'both_can_be_written_at_once'
trace -o "$scratch/trace.json" true
[ "$status" -eq 0 ] && grep -q 'no process called the driver' "$scratch/errors" && "$timeline" "$scratch/trace.json"
report $? 'a_program_without_calls_is_said'

# ---- ends ----

ends() # what, exit status, end; all calls before it are there
{
    trace --text "$traced" "$3"
    [ "$status" -eq "$2" ] && [ "$(calls)" -eq 21 ]
    report $? "all_calls_are_there_when_the_program_$1"
}
ends 'exits' 3 exit
ends 'exits_at_once' 4 _exit
ends 'is_killed' 137 kill
ends 'aborts' 134 abort
trace --text "$top_builddir/tests/tools/checked" begin pthread_exit
[ "$status" -eq 0 ] && [ "$(calls)" -eq 2 ]
report $? 'a_program_whose_main_thread_leaves_ends_nevertheless'
trace --text "$traced" exec
[ "$status" -eq 0 ] && [ "$(calls)" -eq 42 ] && [ "$(lines '^process [0-9]* traced: 21 calls$')" -eq 2 ]
report $? 'a_program_that_executes_another_has_two_traces'
trace --text -o "$scratch/trace.json" "$traced" fork
[ "$status" -eq 0 ] && [ "$(calls)" -eq 22 ] && has '^process [0-9]* traced forked from [0-9]*: 1 call$' &&
    has ': cuCtxGetCurrent(.*) = NOT_INITIALIZED' && "$timeline" "$scratch/trace.json" | grep -qx 'call 22'
report $? 'so_has_a_child_that_calls_the_driver'
mkfifo "$scratch/ready"
CTXRT_EMU_SCHEDULE=lazy "$ctxrt" trace -o "$scratch/trace.json" --text "$traced" hang > "$scratch/ready" 2> "$scratch/errors" &
command=$!
{ read -r _ && kill -TERM "$command" && cat > "$scratch/out"; } < "$scratch/ready"
status=0
wait "$command" || status=$?
[ "$status" -eq 143 ] && [ "$(calls)" -eq 23 ] && has 'cuStreamSynchronize(stream 1) = under way' &&
    "$timeline" "$scratch/trace.json" | grep -qx 'call 23'
report $? 'a_call_that_never_returned_is_there_too'
trace --text "$traced" return 100000
[ "$status" -eq 0 ] && [ "$(calls)" -eq 100021 ] && [ "$(lines ': cuCtxGetCurrent(')" -eq 100000 ]
report $? 'no_call_is_missing_in_a_long_trace'

run sh -c "ulimit -f 600; '$ctxrt' trace --text '$traced'"
[ "$status" -eq 1 ] && [ "$(calls)" -eq 0 ] && grep -q 'trace: no room in .*: File too large' "$scratch/errors" &&
    grep -q '2[0-9] calls are missing: there was no room' "$scratch/errors"
report $? 'beyond_the_limit_of_file_sizes_a_program_runs_and_what_is_missing_is_said'

grep -q '^2[0-9] calls of process [0-9]* are missing: there was no room$' "$scratch/out"
report $? 'also_in_the_text'
run sh -c "ulimit -f 600; '$ctxrt' trace -o '$scratch/trace.json' '$traced'"
[ "$status" -eq 1 ] && grep -q '"otherData":{"lost_processes":0,"lost_calls":2[0-9]}' "$scratch/trace.json"
report $? 'and_in_the_timeline'
run sh -c "ulimit -f 60; '$ctxrt' trace --text -o '$scratch/trace.json' '$traced'"
[ "$status" -eq 1 ] && grep -q '"otherData":{"lost_processes":1,"lost_calls":0}' "$scratch/trace.json" &&
    grep -q '1 process called the driver and could not be recorded: there was no room for its file$' "$scratch/errors"
report $? 'a_process_without_room_for_a_file_is_counted'

# ---- with check ----

trace --check -o "$scratch/trace.json" "$traced" misuse
[ "$status" -eq 0 ] && grep -q '^ctxrt check: error HANDLE-ENDED: ' "$scratch/errors" &&
    grep -q '"cat":"finding","name":"HANDLE-ENDED","args":{"severity":"error","finding":"ctxrt check: error HANDLE-ENDED: ' \
        "$scratch/trace.json" && "$timeline" "$scratch/trace.json" | grep -qx 'finding 2'
report $? 'findings_of_check_are_told_and_marked'
trace -o "$scratch/trace.json" "$traced" misuse
[ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] && ! grep -q finding "$scratch/trace.json"
report $? 'and_neither_without_the_option'

# ---- another libcuda behind ----

behind=$scratch/behind/libcuda.so.1
mkdir "$scratch/behind"
cp "$top_builddir/lib/shim/cuda-12/.libs/libcuda.so.1" "$behind"
trace --driver="libcuda=$behind" -o "$scratch/trace.json" "$traced"
[ "$status" -eq 0 ] && timeline 'call 21' 'context 5' 'counter 9' 'arrow 2' 'submission 5'
report $? 'of_a_driver_that_tells_no_times_streams_have_what_was_submitted'

# The time at which a piece of work begins or is over, in ns.
work_time() # name, begin or over
{
    sed -n 's/.*"ts":\([0-9]*\)[.]\([0-9]*\),"dur":\([0-9]*\)[.]\([0-9]*\),"cat":"[a-z]*","name":"'"$1"'".*/\1\2 \3\4/p' \
        "$scratch/trace.json" | awk -v what="$2" '{ print what == "begin" ? $1 : $1 + $2 }'
}
trace --driver="libcuda=$behind" --events -o "$scratch/trace.json" "$traced"
[ "$status" -eq 0 ] && timeline 'call 21' 'context 5' 'counter 9' 'arrow 4' 'host 1' 'move 2'
report $? 'with_events_they_have_the_work_at_its_times'
copied=$(work_time 'copy of 4096 bytes' over)
[ "$(work_time 'host function' over)" -le "$(work_time 'copy of 4096 bytes' begin)" ] &&
    [ "$copied" -le "$(work_time fill begin)" ]
report $? 'work_that_waited_begins_behind_what_it_waited_for'
run timeout 600 "$ctxrt" trace --events --text "$traced"
failed_with 2 '--events is for --driver libcuda: emulated GPUs tell the times of their work'
report $? 'emulated_gpus_need_no_events'
run timeout 600 "$ctxrt" trace --events --text --from "$scratch"
failed_with 2 '--from reads a trace, and runs no program'
report $? 'nor_does_what_was_recorded'

# ---- traces without the command ----

mkdir "$scratch/left"
run env CTXRT_LAYERS=trace CTXRT_TRACE_FOLDER="$scratch/left" LD_LIBRARY_PATH="$top_builddir/lib/shim/cuda-12/.libs" \
    "$traced"
[ "$status" -eq 0 ] && [ "$(find "$scratch/left" -name 'ctxrt-trace.*' | wc -l)" -eq 1 ]
report $? 'the_variable_alone_leaves_a_file'
trace --text --from "$scratch/left"
[ "$status" -eq 0 ] && [ "$(calls)" -eq 21 ]
report $? 'which_from_reads_in_its_folder'
trace --text --from "$scratch/left"/ctxrt-trace.*
[ "$status" -eq 0 ] && [ "$(calls)" -eq 21 ]
report $? 'or_by_its_name'
left=$(echo "$scratch/left"/ctxrt-trace.*)
# The first record of each chunk claims to have 0 bytes; a chunk that was mapped ahead may be nobody's.
at=262144
while [ "$at" -lt "$(wc -c < "$left")" ]; do
    printf '\000\000' | dd of="$left" bs=1 seek=$((at + 48)) conv=notrunc 2> /dev/null
    at=$((at + 262144))
done
trace --text --from "$left"
[ "$status" -eq 1 ] && grep -q 'a part of the trace is damaged' "$scratch/errors"
report $? 'a_damaged_file_is_said'
run env CTXRT_LAYERS=trace CTXRT_TRACE_FOLDER=/nowhere LD_LIBRARY_PATH="$top_builddir/lib/shim/cuda-12/.libs" "$traced"
[ "$status" -eq 0 ] && grep -q 'the layer trace cannot make its file: No such file' "$scratch/errors"
report $? 'a_program_runs_untraced_where_there_can_be_no_file'

# ---- wrong use ----

# ---- sums ----

trace --stats "$traced"
[ "$status" -eq 0 ] && has '^Calls of the driver$' && has '^Copies and fills$' &&
    [ "$(sed -n '/^Calls of the driver$/,/^$/p' "$scratch/out" | awk '$2 ~ /^[0-9]+$/ { sum += $2 } END { print sum }')" -eq 21 ]
report $? 'sums_have_each_call_once'
sed -n '/^Copies and fills$/,/^$/p' "$scratch/out" | grep -q ' 4096 *[0-9.]*  copy'
report $? 'copies_have_their_bytes_and_bandwidth'
awk 'NF >= 6 && $2 ~ /^[0-9]+$/ && ($4 > $5 + 0.001 || $5 > $6 + 0.001 || $6 > $3 + 0.001) { wrong = 1 } END { exit wrong }' "$scratch/out"
report $? 'the_least_time_is_below_the_mean_and_the_mean_below_the_most'
# shellcheck disable=SC2086 # the options are words
${CC:-cc} -std=gnu11 -w -DMISUSE_OWN_DECLARATIONS ${SANITIZERS:+-fsanitize=$SANITIZERS} "-I$top_srcdir/tests/misuse" \
    "$top_srcdir/tests/misuse/clean/order-kernel-3.c" -o "$scratch/nodes" "-L$top_builddir/lib/shim/cuda-12/.libs" -l:libcuda.so.1
trace --stats "$scratch/nodes"
[ "$status" -eq 0 ] && sed -n '/^Kernels$/,/^$/p' "$scratch/out" > "$scratch/kernels" &&
    grep -q ' fill$' "$scratch/kernels" && ! grep -q ' kernel$' "$scratch/kernels"
report $? 'kernels_of_graphs_have_their_names'
"$ctxrt" trace --check -o "$scratch/closed.html" "$traced" 2>&1 < /dev/null | true
[ -s "$scratch/closed.html" ] && grep -q '</html>' "$scratch/closed.html"
report $? 'a_reader_of_the_report_that_has_gone_leaves_the_file_whole'


while IFS='|' read -r what words wanted message; do
    # shellcheck disable=SC2086
    trace $words
    failed_with "$wanted" "$message"
    report $? "wrong_use:_$what"
done << 'END'
nothing_to_write|true|2|say what to write
no_program|--text|2|name the program to trace
an_unknown_ending|-o trace.svg true|2|--output trace.svg: its name ends with .html or .json
from_with_a_program|--text --from . true|2|--from reads a trace, and runs no program
from_a_file_that_is_not_there|--text --from /nowhere/file|1|cannot read /nowhere/file
from_another_file|--text --from /dev/null|1|/dev/null is no trace
END
echo "1..$number"
