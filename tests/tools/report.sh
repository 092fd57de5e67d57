#!/bin/sh
# ctxrt run --report: the counts of each process, as text and JSON, however the program and its children end.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
counted=$top_builddir/tests/tools/counted
checked=$top_builddir/tests/tools/checked
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_REPORT_FOLDER CTXRT_CHECK_FOLDER
TMPDIR=$scratch
CTXRT_LOG=error # the program makes calls that fail
export TMPDIR CTXRT_LOG
most=8018 # the calls that the program makes

report_of() # argument...: the report is in $scratch/text
{
    run timeout 600 "$ctxrt" run "$@"
    cp "$scratch/errors" "$scratch/text"
}

has() # pattern
{
    grep -q -- "$1" "$scratch/text"
}

calls() # call, count, failures: the line of the report
{
    has "^ *$2 *$3 *[0-9]*\\.[0-9]\\{3\\} *[0-9]*\\.[0-9] %  $1\$"
}

# ---- text ----

report_of --report "$counted"
[ "$status" -eq 0 ] && [ ! -s "$scratch/out" ] && has "^process [0-9]* counted: $most calls, [0-9]*\\.[0-9]* ms\$"
report $? 'the_report_is_on_the_standard_error'
calls cuCtxGetCurrent 8000 0 && calls cuMemAlloc_v2 6 2 && calls cuCtxCreate_v2 1 0 && calls cuCtxCreate_v4 1 1 &&
    calls cuStreamQuery 1 0 && calls cuStreamDestroy_v2 1 1
report $? 'each_call_has_its_count_and_failures'
[ "$(grep -c '^ *[0-9]* *[0-9]* *[0-9.]* *[0-9.]* %  cu' "$scratch/text")" -eq 13 ]
report $? 'and_no_other_one_has_a_line'
sed -n 's/.* \([0-9.]*\) %  cu.*/\1/p' "$scratch/text" | sort -c -rn &&
    sed -n 's/.* \([0-9.]*\) %  cu.*/\1/p' "$scratch/text" | awk '{ sum += $1 } END { exit sum < 98 || sum > 102 }'
report $? 'shares_fall_and_are_the_whole_together'
has '^ *GPU 0 *1 *0 *0  5\.0 of 4096\.0 MiB$' && has '^ *GPU 1 *0 *2 *0  4\.0 of 4096\.0 MiB$' && ! has 'GPU 2'
report $? 'devices_have_contexts_primary_contexts_and_the_peak_of_memory'
has '^not supported: cuCtxCreate_v4, 1 time$' && has '^not supported: cuTexRefCreate, 3 times$'
report $? 'what_was_not_supported_is_named'
[ "$(sed -n 's/^failed: \(.*\), first after 0\.[0-9]\{6\} s in thread [0-9]*$/\1/p' "$scratch/text" | tr '\n' ';')" = \
    'cuMemAlloc_v2, CUDA_ERROR_OUT_OF_MEMORY, 2 times;cuStreamDestroy_v2, CUDA_ERROR_INVALID_HANDLE, 1 time;' ]
report $? 'failures_come_in_their_order'
report_of --report --memory 64M --gpu tiny "$counted"
[ "$status" -eq 0 ] && has '5\.0 of 64\.0 MiB'
report $? 'it_goes_with_other_options'
CTXRT_EMU_CONTEXT_BYTES=300M
export CTXRT_EMU_CONTEXT_BYTES
report_of --report "$counted"
has '^ *GPU 0 *1 *0 *0  305\.0 of 4096\.0 MiB$' && has '^ *GPU 1 *0 *2 *0  304\.0 of'
report $? 'the_memory_of_contexts_is_in_the_peak'
unset CTXRT_EMU_CONTEXT_BYTES

# ---- JSON and files ----

report_of --report="$scratch/report.json" "$counted" exit
[ "$status" -eq 3 ] && [ ! -s "$scratch/errors" ]
report $? 'a_file_takes_the_report'
python=$(command -v python3)
json() # expression of `all`, the report, and `one`, its first process
{
    "$python" -c "import json, sys
all = json.load(open(sys.argv[1]))
one = all['processes'][0]
calls = {each['call']: each for each in one['calls']}
sys.exit(0 if ($1) else 1)" "$scratch/report.json"
}
if [ -n "$python" ]; then
    json "all['version'] == 1 and all['status'] == 3 and all['program'][1:] == ['exit'] and all['ns'] > 0 and len(all['processes']) == 1"
    report $? 'the_json_has_the_program_and_its_status'
    json "one['call_count'] == $most == sum(c['count'] for c in one['calls']) and one['ns'] == sum(c['ns'] for c in one['calls'])"
    report $? 'its_sums_are_those_of_the_calls'
    json "calls['cuMemAlloc_v2']['count'] == 6 and calls['cuMemAlloc_v2']['failed'] == 2 and calls['cuCtxCreate_v4']['not_supported'] == 1 and abs(sum(c['share'] for c in one['calls']) - 1) < 1e-6"
    report $? 'calls_have_counts_failures_and_shares'
    json "[(d['device'], d['contexts'], d['primary_retains'], d['peak_bytes']) for d in one['devices']] == [('GPU 0', 1, 0, 5 << 20), ('GPU 1', 0, 2, 4 << 20)]"
    report $? 'and_devices_what_the_text_has'
    json "one['unserved'] == [{'call': 'cuTexRefCreate', 'count': 3}] and [(f['call'], f['count']) for f in one['failures']] == [('cuMemAlloc_v2', 2), ('cuStreamDestroy_v2', 1)] and one['other_failures'] == 0"
    report $? 'failures_are_there_too'
else
    for what in program sums calls devices failures; do
        skip "the_json_has_$what" 'python3 is not installed'
    done
fi
report_of --report="$scratch/report.txt" "$counted"
[ "$status" -eq 0 ] && grep -q "^process [0-9]* counted: $most calls" "$scratch/report.txt"
report $? 'a_file_of_another_name_is_text'
report_of --report=/nowhere/report.json "$counted"
[ "$status" -eq 1 ] && has 'cannot write /nowhere/report.json'
report $? 'a_file_that_cannot_be_written_is_a_failure'
report_of --report=/dev/full "$counted"
[ "$status" -eq 1 ] && has '/dev/full could not be written'
report $? 'so_is_a_full_disk'
report_of --report= "$counted"
failed_with 2 '--report=: name the file'
report $? 'a_file_without_a_name_is_wrong_use'
report_of --report true
[ "$status" -eq 0 ] && [ "$(cat "$scratch/text")" = 'ctxrt run: no process called the driver' ]
report $? 'a_program_without_calls_is_said'
report_of --report no-such-program
[ "$status" -eq 127 ] && has 'cannot run no-such-program'
report $? 'a_program_that_is_not_there_gives_127'

report_of --report="$scratch/report.json" sh -c 'ulimit -f 60 && exec "$0" "$@"' "$checked" begin exit
[ "$status" -eq 3 ] && grep -q '"lost_processes": 1$' "$scratch/report.json"
report $? 'a_process_without_room_for_its_counts_is_in_the_json'
report_of --report sh -c 'ulimit -f 60 && exec "$0" "$@"' "$checked" begin exit
[ "$status" -eq 3 ] && has '^1 process called the driver and could not be counted: there was no room for its file$'
report $? 'and_in_the_text'

# ---- ends ----

ends() # what, exit status, end
{
    report_of --report "$counted" "$3"
    [ "$status" -eq "$2" ] && has "^process [0-9]* counted: $most calls" && calls cuCtxGetCurrent 8000 0
    report $? "all_calls_are_there_when_the_program_$1"
}
ends 'exits' 3 exit
ends 'exits_at_once' 4 _exit
ends 'is_killed' 137 kill
ends 'aborts' 134 abort
report_of --report "$counted" exec
[ "$status" -eq 0 ] && [ "$(grep -c "^process [0-9]* counted: $most calls" "$scratch/text")" -eq 2 ]
report $? 'a_program_that_executes_another_has_two_reports'
report_of --report "$counted" fork
[ "$status" -eq 0 ] && has '^process [0-9]* counted forked from [0-9]*: 2 calls' && calls cuCtxGetCurrent 2 2 &&
    has '^failed: cuCtxGetCurrent, CUDA_ERROR_NOT_INITIALIZED, 2 times'
report $? 'so_has_a_child_that_calls_the_driver'
mkfifo "$scratch/ready"
"$ctxrt" run --report "$counted" hang > "$scratch/ready" 2> "$scratch/text" &
command=$!
{ read -r _ && kill -TERM "$command" && cat > "$scratch/out"; } < "$scratch/ready"
status=0
wait "$command" || status=$?
[ "$status" -eq 143 ] && has "^process [0-9]* counted: $most calls"
report $? 'a_program_that_is_told_to_end_has_its_report'

# ---- other layers and drivers ----

run env CTXRT_LOG=warning CTXRT_LAYERS=check "$ctxrt" run --report "$counted"
cp "$scratch/errors" "$scratch/text"
[ "$status" -eq 0 ] && has "^process [0-9]* counted: $most calls" && has '^ctxrt: check: 1 finding, HANDLE-UNKNOWN 1$'
report $? 'it_joins_the_layers_that_are_asked_for'
mkdir "$scratch/behind"
cp "$top_builddir/lib/shim/cuda-12/.libs/libcuda.so.1" "$scratch/behind"
report_of --report --driver="libcuda=$scratch/behind/libcuda.so.1" "$counted"
[ "$status" -eq 0 ] && has "^process [0-9]* counted: $most calls" && has '^ *GPU 1 *0 *2 *0  4\.0 of 4096\.0 MiB$'
report $? 'it_counts_in_front_of_another_library'
report_of --report "$top_builddir/tests/layer/checked"
[ "$status" -eq 0 ] && [ "$(grep -c '^process' "$scratch/text")" -eq 1 ] && has 'cuDevicePrimaryCtxRetain$'
report $? 'a_program_of_ctxrt_is_counted_once'
run env CTXRT_DRIVER=emulated CTXRT_LAYERS=count CTXRT_REPORT_FOLDER=/nowhere CTXRT_LOG=error "$ctxrt" info
[ "$status" -eq 0 ] && grep -q 'the layer count cannot make its file in CTXRT_REPORT_FOLDER: No such file' "$scratch/errors"
report $? 'a_program_runs_uncounted_where_there_can_be_no_file'
[ -z "$(find "$scratch" -name 'ctxrt-report.*')" ]
report $? 'nothing_is_left_behind'
echo "1..$number"
