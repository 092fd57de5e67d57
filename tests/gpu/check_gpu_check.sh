#!/bin/sh
# gpu-check from a carried bundle: on the stand-in all of it runs and nothing differs; a driver that is told to differ,
# or to fail, is found out; without a driver there is nothing to run.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$SANITIZERS" ] || skip_all "the libraries of the sanitizers are not carried over"
standin=$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1
carried="$scratch/another place/gpu-check"

check() # folder for what is recorded, [NAME=VALUE...]; the rest of gpu-check's options are $options
{
    to=$1
    shift
    run env "$@" "$carried/gpu-check.sh" --out "$scratch/$to" $options
}

row() # folder, pattern: the difference is in what was printed and in the file
{
    grep -q "$2" "$scratch/out" && grep -q "$2" "$scratch/$1/differences.txt"
}

echo 1..19
run sh "$top_srcdir/tests/gpu/bundle.sh" "$scratch/made/gpu-check"
[ "$status" -eq 0 ] && mkdir "$scratch/another place" && mv "$scratch/made/gpu-check" "$carried"
report $? 'the_bundle_is_made_and_carried_to_another_place'
run "$carried/gpu-check.sh" --list
printed '^scenario stack/pop.scn$' &&
    [ "$(grep -c '^scenario ' "$scratch/out")" -eq "$(find "$top_srcdir/tests/scenarios" -name '*.scn' | wc -l)" ] &&
    [ "$(cut -d ' ' -f 1 "$scratch/out" | sort -u | paste -sd ' ')" = \
        'bench driver_sample guest pipeline probe sample scenario test' ]
report $? 'it_lists_what_it_runs'
for options in '--colour' '--out' '--libcuda' '--only' '--only everything'; do
    run "$carried/gpu-check.sh" $options
    [ "$status" -eq 2 ] && [ ! -s "$scratch/out" ] && grep -q '^usage' "$scratch/errors" || echo "$options: $status"
done > "$scratch/bad"
cp "$scratch/bad" "$scratch/out"
[ ! -s "$scratch/bad" ]
report $? 'wrong_use_is_told_and_gives_2'
run "$carried/gpu-check.sh" --only probe,benches --list
[ "$(cut -d ' ' -f 1 "$scratch/out" | sort -u | paste -sd ' ')" = 'bench probe' ]
report $? 'only_lists_the_kinds_that_are_named'
run "$top_srcdir/tests/gpu/gpu-check.sh"
[ "$status" -eq 2 ] && grep -q 'no bundle' "$scratch/errors"
report $? 'out_of_its_bundle_it_says_how_one_is_made'

options='--quick --libcuda /nowhere/libcuda.so.1'
check nothing
[ "$status" -eq 77 ] && grep -q '^gpu-check: there is no GPU to run on: .*/nowhere/libcuda.so.1' "$scratch/out" &&
    [ ! -e "$scratch/nothing" ]
report $? 'without_a_driver_it_says_so_and_gives_77'
options="--quick --libcuda $standin"
check none CUDA_VISIBLE_DEVICES=-1
[ "$status" -eq 77 ] && grep -q '^gpu-check: there is no GPU to run on: ' "$scratch/out"
report $? 'with_a_driver_that_has_no_device_it_says_so_and_gives_77'

check all
cp "$scratch/out" "$scratch/all.out"
[ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] && grep -q '^[0-9]* agree, 0 differ, ' "$scratch/out" &&
    [ ! -s "$scratch/all/differences.txt" ]
report $? 'the_stand_in_differs_in_nothing'
! grep -q FAILED "$scratch/out" && [ "$(grep -Ec '^samples/[^ ]* +passed$' "$scratch/out")" -eq 13 ] &&
    [ "$(grep -Ec '^tests/[^ ]* +[1-9][0-9]* passed, 0 skipped$' "$scratch/out")" -ge 3 ] &&
    grep -Eq '^scenarios +[1-9][0-9]* played, 0 skipped, steps that differ: 0$' "$scratch/out"
report $? 'scenarios_tests_and_samples_run_on_it'
grep -q '^# recorded on ctxrt emulated GPU, CUDA 13.0, ' "$scratch/all/scenarios/stack-get_none.scn" &&
    grep -q "^# .*$(uname -r)\$" "$scratch/all/scenarios/stack-get_none.scn" &&
    grep -q "^# .*$(uname -r)\$" "$scratch/all/driver.probe.txt" && [ -s "$scratch/all/bench/bench_stack.txt" ] &&
    grep -q '^times\.' "$scratch/all/bench/times.txt"
report $? 'what_the_driver_did_is_recorded_with_the_machine'
run "$top_builddir/ctxrt" play "$scratch"/all/scenarios/stack-*.scn
[ "$status" -eq 0 ]
report $? 'a_recording_plays_again'

options="$options --only tests,samples"
check one CTXRT_EMU_DEVICES=1
cp "$scratch/one/skipped.txt" "$scratch/errors"
[ "$status" -eq 0 ] && grep -q '^sample guest_host: it needs 3 devices' "$scratch/one/skipped.txt" &&
    grep -q '^test check_stack: [a-z_0-9]*: there is no device cuda:' "$scratch/one/skipped.txt"
report $? 'what_needs_more_devices_than_there_are_is_skipped_with_the_reason'

options="--quick --only scenarios,probe,tests --libcuda $top_builddir/lib/shim/cuda-12/.libs/libcuda.so.1"
check many CTXRT_EMU_DEVICES=6
[ "$status" -eq 0 ] && grep -Eq '^tests/runtime/check_stack +[0-9]+ passed, 0 skipped$' "$scratch/out"
report $? 'tests_of_four_devices_run_where_there_are_more'
grep -q '^# recorded on ctxrt emulated GPU, CUDA 12.9, ' "$scratch/many/scenarios/stack-get_none.scn" &&
    grep -q '^# driver: 12.9' "$scratch/many/driver.probe.txt" && grep -q ' agree, 0 differ, ' "$scratch/out"
report $? 'each_driver_is_compared_with_the_embedded_one_of_its_version'
options="--quick --only scenarios --libcuda $standin"
check other CTXRT_EMU_FAULT=cuCtxGetApiVersion@1:UNKNOWN
[ "$status" -eq 0 ] && grep -q ' agree, [1-9][0-9]* differ, ' "$scratch/out" &&
    row other '^Q3  *O  *queries/api_version.scn:2: A: ctx.version a  *SUCCESS 3020  *UNKNOWN untouched$'
report $? 'a_step_that_differs_is_in_the_table_with_its_rule'
options="--quick --only probe,tests,samples --libcuda $standin"
echo more >> "$carried/expected/foreign_push.txt"
check broken CTXRT_EMU_FAULT=cuCtxPopCurrent@1:UNKNOWN
[ "$status" -eq 1 ] && row broken '^S2  *[DOR ]*  S2\.pop.empty  *INVALID_CONTEXT(201)  *UNKNOWN(999)$'
report $? 'what_the_probe_sees_differ_is_in_the_table_with_the_evidence_of_its_rule'
grep -q '^tests/runtime/check_stack  *FAILED: ' "$scratch/out" && grep -q '^samples/hello_device  *FAILED: ' "$scratch/out" &&
    grep -q '^samples/foreign_push  *FAILED: it prints something else' "$scratch/out" && grep -q 'not ok .*check_stack' "$scratch/broken/tests/check_stack.tap"
report $? 'tests_and_samples_that_fail_are_named'

# Its own way of ending what takes too long, where there is no timeout(1).
mkdir "$scratch/few"
ln -s "$(command -v sleep)" "$(command -v sh)" "$scratch/few/"
sed -n '/^limited()/,/^}/p' "$carried/gpu-check.sh" > "$scratch/limited.sh"
for path in "$PATH" "$scratch/few"; do
    for command in '60 true' '60 sh -c "exit 3"' '1 sleep 100'; do
        PATH=$path sh -c ". '$scratch/limited.sh'; limited $command" 2> /dev/null
        status=$?
        [ $status -lt 124 ] || status=ended
        echo "$command: $status"
    done
done > "$scratch/out"
[ "$(sed 's/.*: //' "$scratch/out" | paste -sd ' ')" = '0 3 ended 0 3 ended' ]
report $? 'what_takes_too_long_is_ended_with_timeout_and_without'

run awk -v semantics="$top_srcdir/docs/semantics.md" -f "$carried/table.awk" "$scratch/broken/differences.tsv"
printf 'S6\t-\tS6.a.x\tINVALID_VALUE(1)\tSUCCESS(0)\n' |
    awk -v semantics="$top_srcdir/docs/semantics.md" -f "$carried/table.awk" > "$scratch/out"
grep -q '^S6    ?[R ]* S6.a.x' "$scratch/out"
report $? 'an_open_rule_is_marked'
