#!/bin/sh
# ctxrt check: each option, the exit status, and a whole report however the program and its children end.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
checked=$top_builddir/tests/tools/checked
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_CHECK_FOLDER

check() # argument...
{
    run timeout 600 "$ctxrt" check "$@"
}

# Findings of the last report as "SEVERITY KIND", in order.
findings()
{
    sed -n 's/^ctxrt check: \(error\|warning\|note\) \([A-Z-]*\):.*/\1 \2/p' "$scratch/errors"
}

found() # finding...
{
    for wanted; do
        echo "$wanted"
    done > "$scratch/wanted"
    findings | cmp -s - "$scratch/wanted"
}

said() # pattern
{
    grep -q -- "$1" "$scratch/errors"
}

# The report ends with its summary: these counts, and what is alive in each process.
summed() # errors, warnings, processes
{
    said "^ctxrt check: $1 errors\{0,1\}, $2 warnings\{0,1\}$" &&
        [ "$(grep -c '^  alive at the end of process ' "$scratch/errors")" -eq "$3" ]
}

# Functions are named where the origins are the program's.
if [ -n "$SANITIZERS" ]; then
    names=
else
    names=yes
fi

# ---- statuses ----

check "$checked" begin clean
[ "$status" -eq 0 ] && found && summed 0 0 1 && said '^  alive at the end of .*: nothing$'
report $? 'a_program_without_misuse_has_its_own_status_and_no_finding'
check "$checked" begin clean exit
[ "$status" -eq 3 ] && found && summed 0 0 1
report $? 'and_so_has_one_that_fails_itself'
check "$checked" begin use_ended exit
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' && summed 1 0 1
report $? 'with_an_error_the_status_is_1'
check --error-exitcode 77 "$checked" begin use_ended exit
[ "$status" -eq 77 ] && found 'error HANDLE-ENDED'
report $? 'or_what_error_exitcode_says'
check --error-exitcode 77 "$checked" begin clean exit
[ "$status" -eq 3 ]
report $? 'which_is_for_errors_alone'
check --error-exitcode 0 "$checked" begin use_ended exit
[ "$status" -eq 3 ] && found 'error HANDLE-ENDED'
report $? 'error_exitcode_0_leaves_the_programs_status'
check --leaks "$checked" begin exit
[ "$status" -eq 3 ] && found 'warning LIFE-CONTEXT' && summed 0 1 1
report $? 'a_warning_leaves_it_too'
if [ "$(id -u)" = 0 ]; then
    check "$checked" other_user begin use_ended exit
    [ "$status" -eq 1 ] && found 'error HANDLE-ENDED' && summed 1 0 1
    report $? 'a_process_that_becomes_another_user_first_is_reported'
else
    skip 'a_process_that_becomes_another_user_first_is_reported' 'only root may become another user'
fi
check true
[ "$status" -eq 0 ] && found && said '^  no process called the driver$'
report $? 'a_program_without_calls_is_said'
check no-such-program
[ "$status" -eq 127 ] && said 'cannot run no-such-program'
report $? 'a_program_that_is_not_there_gives_127'
check "$scratch"
[ "$status" -eq 126 ]
report $? 'and_one_that_cannot_be_executed_126'

# ---- wrong use ----

while IFS='|' read -r what words message; do
    # shellcheck disable=SC2086
    check $words
    failed_with 2 "$message"
    report $? "wrong_use:_$what"
done << 'END'
no_program||name the program to check
an_unknown_kind|--only POP true|there is no kind 'POP': ctxrt check --list
an_unknown_kind_to_ignore|--ignore stack-left true|there is no kind 'stack-left'
a_limit_that_is_no_number|--limit few true|--limit few: it is a number from 0
a_negative_limit|--limit -1 true|--limit -1: it is a number from 0
a_status_above_255|--error-exitcode 256 true|--error-exitcode 256: it is a number from 0 to 255
a_file_of_suppressions_that_is_not_there|-s /nowhere/file true|cannot read /nowhere/file
a_driver_that_is_none|--driver cuda true|--driver cuda: it can be emulated, libcuda
no_devices|--devices 0 true|--devices 0: it is a number from 1
END

# ---- which findings are told ----

both='begin use_ended pop_empty'
check $checked $both
found 'error HANDLE-ENDED' 'error STACK-POP-EMPTY' && summed 2 0 1 &&
    said '^  STACK-POP-EMPTY  *1$' && said '^  HANDLE-ENDED  *1$'
report $? 'the_summary_counts_each_kind'
check --ignore STACK-POP-EMPTY $checked $both
found 'error HANDLE-ENDED' && summed 1 0 1
report $? 'ignore_leaves_out_a_kind'
check --ignore STACK-POP-EMPTY --ignore HANDLE-ENDED $checked $both
[ "$status" -eq 0 ] && found && summed 0 0 1
report $? 'what_is_left_out_is_no_error'
check --only STACK-POP-EMPTY $checked $both
found 'error STACK-POP-EMPTY'
report $? 'only_leaves_out_all_others'
check --only STACK-POP-EMPTY --only HANDLE-ENDED --only LIFE-STREAM $checked $both leave_stream
found 'error HANDLE-ENDED' 'error STACK-POP-EMPTY' 'warning LIFE-STREAM'
report $? 'only_can_name_several_leaks_too'
check --limit 1 "$checked" begin use_ended use_ended_again pop_empty
found 'error HANDLE-ENDED' 'error STACK-POP-EMPTY' && summed 3 0 1 && said '^  HANDLE-ENDED  *2$'
report $? 'limit_prints_so_many_of_each_kind_and_counts_the_rest'
check --limit 0 "$checked" begin use_ended use_ended_again
found 'error HANDLE-ENDED' 'error HANDLE-ENDED'
report $? 'limit_0_is_none'
check --json "$scratch/report" "$checked" begin pop_often
found 'error STACK-POP-EMPTY' && grep -q '"count": 5' "$scratch/report"
report $? 'the_same_from_the_same_place_is_told_once_and_counted'
check "$checked" begin leave_stream copy_pageable
found && summed 0 0 1 && said '^  alive at the end of .*: 1 context, 1 stream$'
report $? 'neither_leaks_nor_notes_are_told_unasked'
check --leaks "$checked" begin leave_stream copy_pageable
found 'warning LIFE-CONTEXT' 'warning LIFE-STREAM'
report $? 'leaks_are_told_with_leaks'
check --notes "$checked" begin leave_stream copy_pageable
found 'note MEMORY-PAGEABLE' && said '^ctxrt check: 0 errors, 0 warnings, 1 note$'
report $? 'and_notes_with_notes'
check --list
[ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] &&
    [ "$(grep -c '^[A-Z-]*  *\(error\|warning\|note\)  *[a-zA-Z]' "$scratch/out")" -eq "$(wc -l < "$scratch/out")" ] &&
    [ "$(wc -l < "$scratch/out")" -eq "$(grep -c '^CX_KIND(' "$top_srcdir/lib/layer/check/kinds.def")" ]
report $? 'list_has_each_kind_with_its_severity_and_title'

# ---- suppressions ----

suppressed() # what, line, finding left...
{
    what=$1
    printf '# a comment\n\n%s\n' "$2" > "$scratch/rules"
    shift 2
    check --suppress "$scratch/rules" "$checked" begin use_ended pop_empty
    found "$@"
    report $? "a_suppression_$what"
}
suppressed 'of_a_kind' STACK-POP-EMPTY 'error HANDLE-ENDED'
suppressed 'of_a_pattern_of_kinds' 'STACK-*' 'error HANDLE-ENDED'
suppressed 'of_every_kind' '*'
suppressed 'of_a_kind_in_a_module' 'STACK-* module:checke?' 'error HANDLE-ENDED'
suppressed 'of_another_module_fits_nothing' '* module:other' 'error HANDLE-ENDED' 'error STACK-POP-EMPTY'
if [ -n "$names" ] && said ' in use_ended()'; then
    suppressed 'of_a_function' '* function:pop_*' 'error HANDLE-ENDED'
    suppressed 'of_a_function_further_out' '* function:main'
    suppressed 'of_a_place_of_a_note' 'HANDLE-ENDED function:begin_stream' 'error STACK-POP-EMPTY'
    suppressed 'needs_both_in_one_frame' '* module:libc.so.6 function:main' 'error HANDLE-ENDED' 'error STACK-POP-EMPTY'
    suppressed 'of_both' '* module:checked function:pop_empty' 'error HANDLE-ENDED'
else
    skip 'suppressions of functions' 'functions are not named here'
fi
printf 'STACK-* module:x\nSTACK-* file:x\n' > "$scratch/rules"
check -s "$scratch/rules" true
failed_with 2 'rules:2: a suppression is KIND \[module:PATTERN\]'
report $? 'a_line_that_is_no_suppression_is_wrong_use'
echo STACK-POP-EMPTY > "$scratch/rules"
echo HANDLE-ENDED > "$scratch/more"
check -s "$scratch/rules" -s "$scratch/more" "$checked" $both
[ "$status" -eq 0 ] && found
report $? 'there_can_be_several_files_of_suppressions'

# ---- ends of the program ----

ends() # what, status without findings, end; a finding before the end is whole
{
    check --error-exitcode 0 "$checked" begin use_ended "$3"
    [ "$status" -eq "$2" ] && found 'error HANDLE-ENDED' && summed 1 0 1 &&
        said '^  alive at the end of .*: 1 context$' && said '^  advice: '
    report $? "the_report_is_whole_when_the_program_$1"
}
ends 'returns' 0 return
ends 'exits' 3 exit
ends 'exits_at_once' 6 _exit
ends 'exits_quickly' 5 quick_exit
ends 'is_killed' 137 kill
said 'the program was ended by signal 9'
report $? 'and_the_signal_is_told'
ends 'is_terminated' 143 term
ends 'crashes' 139 segv
ends 'aborts' 134 abort
ends 'ends_by_cancelling_its_main_thread' 0 pthread_exit

check "$checked" begin use_ended exec begin pop_empty exit
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' 'error STACK-POP-EMPTY' && summed 2 0 2
report $? 'a_program_that_executes_another_is_reported_and_the_other_one_too'
check --error-exitcode 0 "$checked" begin use_ended exit_from_thread
[ "$status" -eq 7 ] && findings | grep -v PROCESS-TEARDOWN > "$scratch/seen"
printf 'error HANDLE-ENDED\nerror STACK-POP-EMPTY\n' | cmp -s - "$scratch/seen" && said '^ctxrt check: 2 errors' &&
    said '^  alive at the end of process '
report $? 'a_thread_that_exits_while_others_are_in_calls_leaves_a_whole_report'
check "$checked" begin dlclose use_ended
found 'error HANDLE-ENDED' && summed 1 0 1
report $? 'the_library_goes_on_checking_when_it_is_closed'
check --only LIFE-STREAM "$checked" begin leave_stream _exit
found 'warning LIFE-STREAM'
report $? 'what_is_alive_is_judged_when_the_program_exits_at_once'
check --only LIFE-STREAM "$checked" begin leave_stream kill
found && [ "$status" -eq 137 ]
report $? 'and_not_when_it_is_killed'

# ---- a signal to the command ----

mkfifo "$scratch/ready"
"$ctxrt" check "$checked" begin use_ended wait > "$scratch/ready" 2> "$scratch/errors" &
command=$!
read -r _ < "$scratch/ready"
kill -TERM "$command"
status=0
wait "$command" || status=$?
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' && summed 1 0 1 && said 'ended by signal 15'
report $? 'a_signal_to_the_command_goes_to_the_program_and_the_report_is_whole'

# ---- children ----

check "$checked" begin use_ended fork pop_empty
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' 'error PROCESS-FORKED' && summed 2 0 2 &&
    said '^  called by .* of process [0-9]* (checked) forked from [0-9]*' &&
    [ "$(grep -c '^  process [0-9]* (checked).*: 1 error, 0 warnings$' "$scratch/errors")" -eq 2 ]
report $? 'the_child_of_a_fork_is_reported_by_itself'
check "$checked" begin use_ended spawn begin pop_empty
found 'error HANDLE-ENDED' 'error STACK-POP-EMPTY' && summed 2 0 2 && said '^  called by .* of process [0-9]* (checked),'
report $? 'and_a_program_that_a_child_executes'
check "$checked" fork begin use_ended segv
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' && summed 1 0 1
report $? 'a_child_that_crashes_is_reported'
check --leaks "$checked" begin clean spawn begin leave_stream
found 'warning LIFE-CONTEXT' 'warning LIFE-STREAM' && summed 0 2 2
report $? 'what_a_child_leaves_is_judged'
if [ -n "$SANITIZERS" ]; then
    skip 'children_forked_while_other_threads_are_in_calls_go_on' \
        "the sanitizers' backtrace of gcc 14 takes a lock that a fork leaves locked in the child"
else
    check "$checked" begin fork_many
    [ "$(findings | sort -u)" = 'error PROCESS-FORKED' ] && summed 40 0 41
    report $? 'children_forked_while_other_threads_are_in_calls_go_on'
fi
check sh -c 'for i in 1 2 3; do "$0" begin use_ended; done' "$checked"
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' 'error HANDLE-ENDED' 'error HANDLE-ENDED' && summed 3 0 3
report $? 'each_program_of_a_shell_is_reported'

# Each has a file; a sanitizer makes them slow to start.
if [ -z "$SANITIZERS" ]; then
    check --limit 1 sh -c 'i=0; while [ $i -lt 260 ]; do "$0" begin use_ended _exit; i=$((i + 1)); done' "$checked"
    [ "$status" -eq 1 ] && summed 260 0 260 && ! said 'than there is room for'
    report $? 'a_test_suite_of_many_processes_is_reported_whole'
fi

# ---- children that outlive the program ----

# One of a program that does not wait for it: it has made its mistake and says so when the program goes on.
mkfifo "$scratch/begun"
# shellcheck disable=SC2016
check sh -c '"$0" begin use_ended wait > "$1" & read -r _ < "$1"' "$checked" "$scratch/begun"
left=$(sed -n 's/^  process \([0-9]*\) still runs: what it does from now on is not reported$/\1/p' "$scratch/errors")
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' && summed 1 0 1 && [ -n "$left" ] && kill -0 "$left"
report $? 'a_process_that_outlives_the_program_is_named'
[ -z "$left" ] || kill -KILL "$left"
# All processes that the program made have this lock, whether they called the driver or not.
# shellcheck disable=SC2016
check --timeout 1 sh -c 'exec 9> "$1" && flock 9 && sleep 1000 & "$0" begin fork wait' "$checked" "$scratch/lock" < /dev/null
[ "$status" -eq 124 ] && flock -n "$scratch/lock" true
report $? 'a_timeout_ends_the_children_of_the_program_too'
for limit in 1 10 60; do # until the program gets there in time
    # shellcheck disable=SC2016
    check --timeout $limit sh -c 'exec 9> "$1" && flock 9 && exec "$0" begin use_ended fork pop_empty wait' "$checked" "$scratch/lock"
    findings | grep -q PROCESS-FORKED && break
done
found 'error HANDLE-ENDED' 'error PROCESS-FORKED' && flock -n "$scratch/lock" true && ! said 'still runs'
report $? 'and_reports_what_they_did'

# ---- drivers ----

check --devices 2 --memory 64M "$ctxrt" info
[ "$status" -eq 0 ] && grep -q '2 devices' "$scratch/out"
report $? 'devices_and_memory_are_those_of_ctxrt_run'
mkdir "$scratch/behind"
cp -L "$top_builddir/lib/shim/cuda-12/.libs/libcuda.so.1" "$scratch/behind"
check --driver "libcuda=$scratch/behind/libcuda.so.1" "$checked" begin use_ended exit
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' && summed 1 0 1
report $? 'calls_are_seen_in_front_of_another_libcuda'

# ---- JSON ----

valid() # what, argument...
{
    what=$1
    shift
    check --json "$scratch/report" "$@"
    run "$top_builddir/tests/tools/validate" "$top_srcdir/docs/check.schema.json" "$scratch/report"
    [ "$status" -eq 0 ] && [ ! -s "$scratch/out" ]
    report $? "the_report_fits_the_schema:_$what"
}
valid 'nothing_found' "$checked" begin clean
valid 'no_process' true
valid 'all_severities' --leaks --notes "$checked" begin use_ended leave_stream copy_pageable
valid 'children' --leaks "$checked" begin use_ended fork pop_empty
valid 'a_crash' "$checked" begin use_ended segv
grep -q '"status": 139' "$scratch/report"
report $? 'the_report_has_the_programs_status'
valid 'bytes_that_are_no_text' sh -c 'exit 0' "$(printf 'a\377b')"
valid 'a_limit' --limit 1 "$checked" begin use_ended use_ended_again
[ "$(grep -c '"kind": "HANDLE-ENDED"' "$scratch/report")" -eq 2 ]
report $? 'and_all_findings_whatever_the_limit'
# A row of kinds.def: the first line of its explanation, its advice and its rules.
row=$(sed -n '/^CX_KIND(HANDLE_ENDED,/,/)$/p' "$top_srcdir/lib/layer/check/kinds.def")
in_report() # key, what it begins with
{
    [ -n "$2" ] && grep -qF "\"$1\": \"$2" "$scratch/report"
}
in_report explanation "$(echo "$row" | sed -n '3s/^ *"\(.*\)"$/\1/p')" &&
    in_report advice "$(echo "$row" | sed -n '$s/^ *"\(.*\)", ".*/\1/p')\"," &&
    in_report rules "$(echo "$row" | sed -n '$s/.*, "\(.*\)")$/\1/p')\","
report $? 'a_finding_has_the_explanation_the_advice_and_the_rules_of_its_kind'
check --json - "$checked" begin use_ended
mv "$scratch/out" "$scratch/report"
run "$top_builddir/tests/tools/validate" "$top_srcdir/docs/check.schema.json" "$scratch/report"
[ "$status" -eq 0 ]
report $? 'json_goes_to_the_standard_output_too'
check --json /nowhere/report "$checked" begin clean
[ "$status" -eq 1 ] && said 'cannot write /nowhere/report'
report $? 'a_report_that_cannot_be_written_is_a_failure'
check --json /dev/full "$checked" begin clean
[ "$status" -eq 1 ] && said 'cannot write /dev/full'
report $? 'also_where_the_disk_is_full'
sed 's/"kind": "HANDLE-ENDED"/"kind": 5/; s/"count": 1,/"count": 0, "other": 1,/' "$scratch/report" > "$scratch/bad"
run "$top_builddir/tests/tools/validate" "$top_srcdir/docs/check.schema.json" "$scratch/bad"
[ "$status" -eq 1 ] && grep -q '/findings/0/kind: is of another type' "$scratch/out" &&
    grep -q '/findings/0/count: is less than the minimum' "$scratch/out" &&
    grep -q '/findings/0/other: is no property' "$scratch/out"
report $? 'the_validator_finds_what_does_not_fit'

# ---- room ----

# The files of the program have at most so many kilobytes; "ulimit -f" of a POSIX shell counts in halves of them.
limited() # kilobytes, deed...
{
    kilobytes=$1
    shift
    # shellcheck disable=SC2016
    check --json "$scratch/report" sh -c 'ulimit -f "$0" && exec "$@"' $((2 * kilobytes)) "$checked" "$@"
}

# Objects begin behind 25.9 MB in a file, most of which is only in its numbers.
limited 25700 begin leave_many_events use_ended exit
alive=$(sed -n 's/^  alive at the end of .* \([0-9]*\) events\{0,1\}.*/\1/p' "$scratch/errors")
missing=$(sed -n 's/^  \([0-9]*\) more objects of process [0-9]* had no room$/\1/p' "$scratch/errors")
[ "$status" -eq 1 ] && found 'error HANDLE-ENDED' && [ "$alive" -gt 1000 ] && [ "$missing" -gt 10000 ] &&
    [ $((alive + missing)) -eq 60001 ] && grep -q "\"lost_objects\": $missing,\{0,1\}\$" "$scratch/report"
report $? 'objects_without_room_are_counted_and_the_program_goes_on'
run "$top_builddir/tests/tools/validate" "$top_srcdir/docs/check.schema.json" "$scratch/report"
[ "$status" -eq 0 ] && [ ! -s "$scratch/out" ]
report $? 'the_report_fits_the_schema:_no_room'
limited 100 begin use_ended fork pop_empty
[ "$status" -eq 0 ] && found && grep -q '"lost_processes": 2$' "$scratch/report" &&
    [ "$(grep -c 'ctxrt: warning: check: HANDLE-ENDED: ' "$scratch/errors")" -eq 1 ] &&
    said '^  2 processes called the driver, but .* had no room for a file: their findings are in their log only$'
report $? 'processes_without_room_are_counted_and_log_their_findings'

# What was found before stays found. A sanitizer stands in the place of malloc itself.
if [ -z "$SANITIZERS" ]; then
    check --json "$scratch/report" --leaks "$checked" begin pop_empty lack_memory leave_stream use_ended exit
    [ "$status" -eq 1 ] && found 'error STACK-POP-EMPTY' && grep -q '"gave_up": true$' "$scratch/report" &&
        said '^  process [0-9]* had no memory for what is kept of it: later calls, and what it left alive, are not judged$' &&
        ! said 'alive at the end'
    report $? 'without_memory_for_what_is_kept_the_program_goes_on_and_the_report_says_so'
    run "$top_builddir/tests/tools/validate" "$top_srcdir/docs/check.schema.json" "$scratch/report"
    [ "$status" -eq 0 ] && [ ! -s "$scratch/out" ]
    report $? 'the_report_fits_the_schema:_no_memory'
fi

# File systems of this process and its children alone: /dev/shm, and TMPDIR as the first argument says. /tmp takes no new files.
# The pages of a file that is larger than its file system would be signals.
with_room() # size of /dev/shm, size of TMPDIR, argument...
{
    # shellcheck disable=SC2016
    run timeout 600 unshare -rm sh -c 'mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp && mount -t tmpfs -o size="$1" none /dev/shm &&
        mount -t tmpfs -o size="$2" none "$0" && TMPDIR=$0 && export TMPDIR && shift 2 && exec "$@"' "$scratch/tiny" "$@"
}

mkdir "$scratch/tiny"
if with_room 80m 60k true && [ "$status" -eq 0 ]; then
    for size in 60k 300k 1m; do
        with_room $size $size "$ctxrt" check "$checked" begin leave_many_events exit
        [ "$status" -eq 3 ] && found && said ' had no room'
        report $? "no_signal_comes_where_the_file_system_has_$size"
    done
    with_room 80m 60k "$ctxrt" check "$checked" begin use_ended exit
    [ "$status" -eq 1 ] && found 'error HANDLE-ENDED' && summed 1 0 1 && ! said ' had no room'
    report $? 'the_report_is_whole_where_the_disk_of_TMPDIR_is_full_and_memory_has_room'
else
    skip 'files_where_the_file_system_is_small' 'this user cannot mount one'
fi

# ---- the folder ----

mkdir "$scratch/temporary"
TMPDIR=$scratch/temporary check "$checked" begin use_ended fork pop_empty
found 'error HANDLE-ENDED' 'error PROCESS-FORKED' && [ -z "$(ls "$scratch/temporary")" ]
report $? 'nothing_is_left_in_the_folder_of_temporary_files'
echo "1..$number"
