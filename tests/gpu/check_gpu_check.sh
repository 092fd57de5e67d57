#!/bin/sh
# The one file of gpu-check, carried to another place: on the stand-in all of it runs, nothing differs, and it leaves one file; a
# driver that is told to differ, or to fail, is found out; without a driver there is nothing to run.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$SANITIZERS" ] || skip_all "the libraries of the sanitizers are not carried over"
ctxrt=$top_builddir/ctxrt
place="$scratch/another place"
mkdir "$place" "$place/temporary" "$place/home"

check() # name of what is written, [NAME=VALUE...]; the rest of gpu-check's options are $options
{
    to=$1
    shift
    # shellcheck disable=SC2086
    run env TMPDIR="$place/temporary" HOME="$place/home" "$@" "$place/ctxrt-gpu-check" --out "$place/$to.txt" $options
}

sections() # recording, word
{
    grep "^== $2" "$place/$1.txt"
}

run sh "$top_srcdir/tests/gpu/bundle.sh" "$place/ctxrt-gpu-check"
[ "$status" -eq 0 ] && [ "$(ls "$place")" = "ctxrt-gpu-check
home
temporary" ]
report $? 'one_file_is_made_and_carried_to_another_place'
standin=$top_builddir/gpu-check.parts/standin/cuda-13/libcuda.so.1
run "$place/ctxrt-gpu-check" --all --list
printed '^scenario stack/pop.scn$' &&
    [ "$(grep -c '^scenario ' "$scratch/out")" -eq "$(find "$top_srcdir/tests/scenarios" -name '*.scn' | wc -l)" ] &&
    [ "$(cut -d ' ' -f 1 "$scratch/out" | sort -u | paste -sd ' ')" = \
        'bench driver_sample guest pipeline probe sample scenario test' ]
report $? 'it_lists_all_that_it_can_run'
for options in '--colour' '--out' '--libcuda' '--only' '--only everything'; do
    # shellcheck disable=SC2086
    run "$place/ctxrt-gpu-check" $options
    [ "$status" -eq 2 ] && [ ! -s "$scratch/out" ] && grep -q '^usage' "$scratch/errors" || echo "$options: $status"
done > "$scratch/bad"
cp "$scratch/bad" "$scratch/out"
[ ! -s "$scratch/bad" ]
report $? 'wrong_use_is_told_and_gives_2'
run "$place/ctxrt-gpu-check" --all --only probe,benches --list
[ "$(cut -d ' ' -f 1 "$scratch/out" | sort -u | paste -sd ' ')" = 'bench probe' ]
report $? 'only_lists_the_kinds_that_are_named'
run "$top_srcdir/tests/gpu/gpu-check.sh"
[ "$status" -eq 2 ] && grep -q 'make gpu-check-bundle' "$scratch/errors"
report $? 'alone_it_says_how_the_file_is_made'

options='--libcuda /nowhere/libcuda.so.1'
check nothing
[ "$status" -eq 77 ] && grep -q '^gpu-check: there is no GPU to run on: .*/nowhere/libcuda.so.1' "$scratch/out" &&
    [ ! -e "$place/nothing.txt" ]
report $? 'without_a_driver_it_says_so_and_gives_77'
options="--libcuda $standin"
check none CUDA_VISIBLE_DEVICES=-1
[ "$status" -eq 77 ] && grep -q '^gpu-check: there is no GPU to run on: ' "$scratch/out"
report $? 'with_a_driver_that_has_no_device_it_says_so_and_gives_77'

check all
[ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] &&
    grep -q '^ctxrt emulated GPU, CUDA 13.0: 1[0-9]* agree, 0 differ (rules: 0), ' "$scratch/out"
report $? 'the_stand_in_differs_in_nothing'
! grep -q FAILED "$scratch/out" && [ "$(grep -Ec '^samples/[^ ]* +passed$' "$scratch/out")" -eq 13 ] &&
    [ "$(grep -Ec '^tests/[^ ]* +[1-9][0-9]* passed, 0 skipped$' "$scratch/out")" -eq 3 ] &&
    grep -Eq '^scenarios +[1-9][0-9]* played, 0 skipped$' "$scratch/out"
report $? 'scenarios_tests_and_samples_run_on_it'
grep -q "^It writes one file, $place/all.txt,\$" "$scratch/out" && grep -q "^and no GPU's identity\. It works in " "$scratch/out" &&
    [ "$(grep -n '^gpu-check asks' "$scratch/out" | cut -d : -f 1)" -eq 1 ]
report $? 'it_says_first_what_it_will_do'
[ -z "$(ls "$place/temporary")$(ls -A "$place/home")" ] && [ "$(ls "$place")" = "all.txt
ctxrt-gpu-check
home
temporary" ]
report $? 'it_leaves_one_file_and_nothing_else'
[ "$(sed 1q "$place/all.txt")" = 'ctxrt gpu-check 1' ] &&
    sed 3q "$place/all.txt" | grep -q "^ ctxrt emulated GPU .*CUDA 13.0.*$(uname -r)" &&
    [ "$(sections all scenario | wc -l)" -eq 30 ] && [ "$(sections all test | wc -l)" -eq 3 ] &&
    [ "$(sections all sample | wc -l)" -eq 13 ] && sections all 'bench times.txt' > "$scratch/out" &&
    grep -q '^ S2.pop.empty = ' "$place/all.txt"
report $? 'it_has_all_that_the_driver_did_and_on_what_machine'
! grep -n -e "$place" -e "$top_srcdir" "$place/all.txt" > "$scratch/out" && ! grep -nw -e "$(uname -n)" "$place/all.txt" >> "$scratch/out"
report $? 'it_names_no_folder_and_no_machine'
sed -n '/^== probe/,/^== scenario/s/^ \(.* = .*\)/\1/p' "$place/all.txt" > "$scratch/part"
grep -vxFf "$top_srcdir/tests/recorded/embedded-13.0.probe.txt" "$scratch/part" > "$scratch/out"
[ ! -s "$scratch/out" ] && [ "$(grep -c . "$scratch/part")" -gt 500 ]
report $? 'its_observations_are_those_in_the_tree'

options="$options --only tests,samples"
check one CTXRT_EMU_DEVICES=1
[ "$status" -eq 0 ] && grep -q '^ sample guest_host: it needs 3 devices' "$place/one.txt" &&
    grep -q '^ test check_stack: [a-z_0-9]*: there is no device cuda:' "$place/one.txt"
report $? 'what_needs_more_devices_than_there_are_is_skipped_with_the_reason'

options="--only scenarios,probe,tests --libcuda $top_builddir/gpu-check.parts/standin/cuda-12/libcuda.so.1"
check many CTXRT_EMU_DEVICES=6
[ "$status" -eq 0 ] && grep -Eq '^tests/runtime/check_stack +[0-9]+ passed, 0 skipped$' "$scratch/out"
report $? 'tests_of_four_devices_run_where_there_are_more'
grep -q '^ctxrt emulated GPU, CUDA 12.9: .* agree, 0 differ ' "$scratch/out" && grep -q '^ # driver: 12.9' "$place/many.txt"
report $? 'each_driver_is_compared_with_the_embedded_one_of_its_version'
options="--only scenarios --libcuda $standin"
check other CTXRT_EMU_FAULT=cuCtxGetApiVersion@1:UNKNOWN
[ "$status" -eq 0 ] && grep -A 1 '^Q3 ' "$scratch/out" |
    grep -q '  queries-api_version.scn:[0-9]*: A: ctx.version a  *SUCCESS 3020  *UNKNOWN untouched$'
report $? 'a_step_that_differs_is_under_its_rule'
options="--only probe,tests,samples --libcuda $standin"
check broken CTXRT_EMU_FAULT=cuCtxPopCurrent@1:UNKNOWN
[ "$status" -eq 1 ] && grep -q '^  S2\.pop.empty  *INVALID_CONTEXT(201)  *UNKNOWN(999)$' "$scratch/out"
report $? 'what_the_probe_sees_differ_is_under_its_rule'
grep -q '^tests/runtime/check_stack  *FAILED: ' "$scratch/out" && grep -q '^samples/hello_device  *FAILED: ' "$scratch/out" &&
    sections broken 'sample foreign_push.diff' > /dev/null && grep -q '^ not ok .*check_stack' "$place/broken.txt"
report $? 'tests_and_samples_that_fail_are_named'
run "$ctxrt" compare "$place/broken.txt"
[ "$status" -eq 1 ] && grep -q '^  S2\.pop.empty  ' "$scratch/out"
report $? 'what_it_wrote_can_be_compared_anywhere'

# Its own way of ending what takes too long, where there is no timeout(1).
mkdir "$scratch/few"
ln -s "$(command -v sleep)" "$(command -v sh)" "$scratch/few/"
sed -n '/^limited()/,/^}/p' "$top_srcdir/tests/gpu/gpu-check.sh" > "$scratch/limited.sh"
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
echo "1..$number"
