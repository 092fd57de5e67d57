#!/bin/sh
# ctxrt replay: what it replays, where it stops, and every way to use it wrongly. And CTXRT_ALLOCATOR_TRACE, whose
# files it replays.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
CTXRT_DRIVER=emulated
export CTXRT_DRIVER

echo 1..18
cd "$scratch" || exit 99
case $ctxrt in /*) ;; *) ctxrt=$OLDPWD/$ctxrt ;; esac
hta=$top_builddir/bench/traces/hta_df_index.csv
case $hta in /*) ;; *) hta=$OLDPWD/$hta ;; esac

replay() # option..., with the lines of the file in
{
    status=0
    "$ctxrt" replay "$@" - < in > "$scratch/out" 2> "$scratch/errors" || status=$?
}

run "$ctxrt" replay --help
printed '--memory'
report $? 'help_lists_the_options'
printf 'a,0,1000\na,7,5000\nf,0\na,0,1\n' > in; replay
printed '^-: 4 operations, at most 2 live with 6000 bytes: all served$'
report $? 'lines_are_replayed'
printf 'a,0,1000\nf,0\n' > in; replay --raw
printed ' 2 operations, .*all served$'
report $? 'lines_are_replayed_with_raw_pointers'
: > in; replay
printed ': 0 operations'
report $? 'no_line_is_a_trace_too'
run "$ctxrt" replay --memory 4G "$hta"
printed ': 26770 operations, .*all served$'
report $? 'a_recording_is_replayed'

printf 'a,0,1000000\na,1,1000000\nf,0\na,0,1000000\na,2,1000001\nf,0\n' > in; replay --memory 4M --limit 3000000
failed_with 1 '^ctxrt replay: -:5: a,2,1000001: .*limit'
report $? 'the_request_beyond_the_limit_is_named'
printf 'a,0,3000000\na,9,8000000\nf,0\n' > in; replay --memory 8M
failed_with 1 '^ctxrt replay: -:2: a,9,8000000: '
report $? 'the_request_beyond_the_memory_is_named'

printf 'a,0,10\nb,1,10\n' > in; replay
failed_with 2 '^ctxrt replay: -:2: neither'
report $? 'a_line_that_is_none_is_named'
number_of_bad=0
for line in 'a,0' 'a,0,' 'a,0,0' 'a,,5' 'a,-1,5' 'a,0,5,' 'a,0, 5' 'a,0,99999999999999999999' ' a,0,5' 'f,0,5' 'f,' '' 'a,0,5 '; do
    printf 'a,5,10\n%s\n' "$line" > in; replay
    failed_with 2 '^ctxrt replay: -:2: neither' || { number_of_bad=$((number_of_bad + 1)); echo "# '$line' passed"; }
done
[ $number_of_bad -eq 0 ]
report $? 'lines_that_are_nearly_right_are_none'
printf 'a,3,10\na,3,10\n' > in; replay
failed_with 2 '^ctxrt replay: -:2: the slot holds memory already'
report $? 'a_slot_that_is_taken_is_named'
printf 'a,3,10\nf,3\nf,3\n' > in; replay
failed_with 2 '^ctxrt replay: -:3: the slot that is freed is empty'
report $? 'a_slot_that_is_empty_is_named'
printf 'a,16777216,10\n' > in; replay
failed_with 2 '^ctxrt replay: -:1: slots are numbered'
report $? 'a_slot_that_is_too_high_is_named'

run "$ctxrt" replay
failed_with 2 'name the file.*ctxrt replay --help'
report $? 'no_file_is_wrong_use'
run "$ctxrt" replay "$scratch/none.csv"
failed_with 2 'none.csv cannot be read'
report $? 'a_file_that_there_is_not_is_wrong_use'
run "$ctxrt" replay --memory lots -
failed_with 2 '--memory lots'
report $? 'a_bad_size_is_wrong_use'

CTXRT_ALLOCATOR_TRACE=$scratch/trace.csv "$ctxrt" replay --memory 4G "$hta" > "$scratch/out" 2> "$scratch/errors"
grep '^a' "$hta" | cut -d , -f 3 > "$scratch/asked"
head -n "$(wc -l < "$hta")" "$scratch/trace.csv" | grep '^a' | cut -d , -f 3 | cmp -s - "$scratch/asked"
report $? 'what_a_program_allocates_is_traced'
run "$ctxrt" replay --memory 4G "$scratch/trace.csv"
printed ': [0-9]* operations, at most 725 live .*all served$'
report $? 'a_trace_of_a_program_is_replayed'
status=0
CTXRT_ALLOCATOR_TRACE=$scratch/none/trace.csv "$ctxrt" replay "$hta" > "$scratch/out" 2> "$scratch/errors" || status=$?
[ "$status" -eq 0 ] && grep -q 'trace of an allocator could not be written to .*none/trace.csv: No such file' "$scratch/errors"
report $? 'a_trace_that_cannot_be_written_is_told_and_harms_nothing'
