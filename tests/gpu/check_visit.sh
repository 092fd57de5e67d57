#!/bin/sh
# The folder of gpu-visit, carried to another place: run.sh leaves a file for each step on both stand-ins, and
# finds nothing that differs; ended in the middle it leaves the files of the steps before.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$SANITIZERS" ] || skip_all "the libraries of the sanitizers are not carried over"
visit="$scratch/another place"
cp -R "$top_builddir/gpu-visit" "$visit"
standins=$top_builddir/gpu-check.parts/standin

visit() # folder of results, CUDA version, option...
{
    results=$scratch/$1 set=$2
    shift 2
    run env CTXRT_EMU_DEVICES=1 "$visit/run.sh" --out "$results" --libcuda "$standins/cuda-$set/libcuda.so.1" "$@"
}

for options in '--colour' '--minutes' '--minutes 0' '--minutes soon' '--only everything' '--out'; do
    # shellcheck disable=SC2086
    run "$visit/run.sh" $options
    [ "$status" -eq 2 ] && [ ! -s "$scratch/out" ] && grep -q '^usage' "$scratch/errors" || echo "$options: $status"
done > "$scratch/bad"
cp "$scratch/bad" "$scratch/out"
[ ! -s "$scratch/bad" ]
report $? 'wrong_use_is_told_and_gives_2'
run "$visit/run.sh" --libcuda /nowhere/libcuda.so.1 --out "$scratch/none"
[ "$status" -eq 77 ] && grep -q 'there is no GPU' "$scratch/out"
report $? 'without_a_driver_it_says_so_and_gives_77'

visit all 13
cp "$results/summary.txt" "$scratch/out"
[ "$(ls -A "$results" | tr '\n' ' ')" = \
    '1-probe.txt 2-scenarios.txt 3-programs.txt 4-benches.txt 5-check.txt 6-trace.html 7-model.txt summary.txt ' ]
report $? 'each_step_leaves_its_file'
! grep -q 'FAILED\|it wrote nothing\|no time was left' "$results/summary.txt" && ! grep '^not ok\|^seed' "$results/7-model.txt" &&
    [ "$(grep -c ' 0 differ ' "$results/summary.txt")" -ge 2 ] && grep -q '^kernels: 21 groups right, 0 wrong$' "$results/summary.txt"
report $? 'nothing_differs_on_the_stand_in'
grep -Eq '^misuse: found [1-9][0-9]+$' "$results/summary.txt" && grep -qx 'misuse: ALARM 0' "$results/summary.txt" &&
    grep -Eq '^misuse: silent [1-9][0-9]+$' "$results/summary.txt"
report $? 'misuse_is_found_through_the_interposer_and_its_twins_are_silent'
grep -q '^ctxrt gpu-check 1$' "$results/1-probe.txt" && grep -q ' S2.pop.empty = ' "$results/1-probe.txt" &&
    grep -q '^== scenario ' "$results/2-scenarios.txt" && grep -q '^== bench ' "$results/4-benches.txt"
report $? 'what_gpu_check_wrote_is_what_tests_recorded_takes'
[ "$(find "$results" -size +16M | wc -l)" -eq 0 ]
report $? 'no_file_has_more_than_16_MiB'

visit twelve 12 --minutes 1 --only probe,model
[ "$(ls -A "$results" | tr '\n' ' ')" = '1-probe.txt 7-model.txt summary.txt ' ] && grep -q '^# driver: 12\| # driver: 12' "$results/1-probe.txt"
report $? 'only_the_steps_that_are_named_run_also_on_cuda_12'

# Ended once the first step is over, while the second one runs.
results=$scratch/ended
mkfifo "$scratch/told"
CTXRT_EMU_DEVICES=1 setsid "$visit/run.sh" --out "$results" --libcuda "$standins/cuda-13/libcuda.so.1" --only probe,model \
    > "$scratch/told" 2>&1 &
child=$!
while read -r line; do
    case $line in
    'probe: '*) break ;;
    esac
done < "$scratch/told"
kill -s KILL -- -$child
wait $child 2> /dev/null
run "$top_builddir/ctxrt" compare "$results/1-probe.txt"
[ "$status" -eq 0 ] && [ ! -e "$results/7-model.txt" ]
report $? 'killed_it_leaves_whole_files_of_the_steps_before'
echo "1..$number"
