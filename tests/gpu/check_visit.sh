#!/bin/sh
# The folder of gpu-visit, carried to another place: run.sh leaves a file for each step on both stand-ins, and finds nothing that differs;
# ended in the middle it leaves the files of the steps before. A missing program is a line.
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
    grep -qx 'misuse: BROKEN 0' "$results/summary.txt" &&
    grep -Eq '^misuse: silent [1-9][0-9]+$' "$results/summary.txt"
report $? 'misuse_is_found_through_the_interposer_and_its_twins_are_silent'
grep -q '^ctxrt gpu-check 1$' "$results/1-probe.txt" && grep -q ' S2.pop.empty = ' "$results/1-probe.txt" &&
    grep -q '^== scenario ' "$results/2-scenarios.txt" && grep -q '^== bench ' "$results/4-benches.txt"
report $? 'what_gpu_check_wrote_is_what_tests_recorded_takes'
[ "$(find "$results" -size +16M | wc -l)" -eq 0 ]
report $? 'no_file_has_more_than_16_MiB'
! grep -qi 'uuid' "$results/summary.txt" && grep -q '^nvidia-smi ' "$results/summary.txt"
report $? 'the_summary_names_the_machine_but_no_identity'

# A machine without Python, nvcc and compiler.
mkdir "$scratch/few"
for tool in /usr/bin/* /bin/*; do
    case ${tool##*/} in
    python* | nvcc* | *cc | *c++ | nvidia-smi) ;;
    *) [ -e "$scratch/few/${tool##*/}" ] || ln -s "$tool" "$scratch/few/" ;;
    esac
done
results=$scratch/bare
run env PATH="$scratch/few" CTXRT_EMU_DEVICES=1 "$visit/run.sh" --minutes 2 --out "$results" --libcuda "$standins/cuda-13/libcuda.so.1" \
    --only check,trace
cp "$results/summary.txt" "$scratch/out"
[ "$(ls -A "$results" | tr '\n' ' ')" = '5-check.txt 6-trace.html summary.txt ' ] && [ "$status" -eq 0 ] &&
    [ "$(grep -c '^python3 has no \|^nvcc is not there$' "$results/summary.txt")" -eq 4 ] &&
    [ "$(grep -c 'without ctxrt' "$results/summary.txt")" -eq 3 ]
report $? 'what_the_machine_lacks_is_one_line_each'

visit twelve 12 --minutes 1 --only probe,model
[ "$(ls -A "$results" | tr '\n' ' ')" = '1-probe.txt 7-model.txt summary.txt ' ] && grep -q '^# driver: 12\| # driver: 12' "$results/1-probe.txt"
report $? 'only_the_steps_that_are_named_run_also_on_cuda_12'

# Ended by a signal once a step is over, while the next one runs.
mkfifo "$scratch/told"
end_after() # step, signal, steps...
{
    results=$scratch/ended-$1-$2
    CTXRT_EMU_DEVICES=1 setsid "$visit/run.sh" --out "$results" --libcuda "$standins/cuda-13/libcuda.so.1" --minutes 4 --only "$3" \
        > "$scratch/told" 2>&1 &
    child=$!
    exec 3< "$scratch/told" # and stays open: it has more to tell
    while read -r line <&3; do
        case $line in
        "$1: "*) break ;;
        esac
    done
    kill -s "$2" -- -$child
    wait $child 2> /dev/null
    exec 3<&-
    ls -A "$results" > "$scratch/out"
}

end_after probe KILL probe,model
run "$top_builddir/ctxrt" compare "$results/1-probe.txt"
[ "$status" -eq 0 ] && [ ! -e "$results/7-model.txt" ]
report $? 'killed_it_leaves_whole_files_of_the_steps_before'
end_after programs KILL programs,trace,model
[ ! -e "$results/7-model.txt" ] && [ "$(sed 1q "$results/3-programs.txt")" = 'ctxrt gpu-check 1' ] &&
    grep -q '^ ok .*check_stress' "$results/3-programs.txt" && [ "$(tail -c 1 "$results/3-programs.txt")" = '' ]
report $? 'also_in_its_first_step_but_one'
end_after trace TERM programs,trace,model
[ "$(tr '\n' ' ' < "$scratch/out")" = '3-programs.txt 6-trace.html summary.txt ' ] && tail -n 1 "$results/6-trace.html" | grep -q '</html>'
report $? 'told_to_end_it_does_so_at_once_and_tidies_up'

# ---- programs of others ----

torch() # what the fake PyTorch has besides
{
    mkdir -p "$scratch/$1/torch/lib"
    cat > "$scratch/$1/torch/__init__.py" << 'END'
__version__ = "0"
class cuda:
    init = staticmethod(lambda: None)
    caching_allocator_alloc = staticmethod(lambda size: size)
    caching_allocator_delete = staticmethod(lambda memory: None)
END
    run env PYTHONPATH="$scratch/$1" CTXRT_LIBCUDA="$standins/cuda-13/libcuda.so.1" python3 "$visit/programs/allocator_torch.py"
    [ "$status" -eq 0 ] && [ "$(grep -Ec '^[1-9][0-9]+ ( +[0-9.]+){5}$' "$scratch/out")" -eq 4 ]
}
if command -v python3 > /dev/null; then
    torch old && grep -q 'PyTorch 0 has no C interface' "$scratch/out"
    report $? 'an_older_PyTorch_is_measured_by_Python'
    mkdir -p "$scratch/new/torch/lib"
    ${CC:-cc} -shared -fPIC -x c -o "$scratch/new/torch/lib/libtorch_cuda.so" - << 'END'
int aoti_torch_cuda_caching_allocator_raw_alloc(unsigned long bytes, void **memory) { return *memory = memory, bytes == 0; }
int aoti_torch_cuda_caching_allocator_raw_delete(void *memory) { return memory == 0; }
END
    torch new && ! grep -q PyTorch "$scratch/out"
    report $? 'PyTorch_is_measured_by_its_C_interface'
    run env PYTHONPATH=/nowhere python3 -I "$visit/programs/allocator_torch.py"
    [ "$status" -eq 0 ] && [ "$(wc -l < "$scratch/out")" -eq 1 ] && grep -q '^allocator_torch: not run: ' "$scratch/out"
    report $? 'a_missing_PyTorch_is_one_line'
else
    for what in an_older_PyTorch_is_measured_by_Python PyTorch_is_measured_by_its_C_interface a_missing_PyTorch_is_one_line; do
        skip "$what" 'python3 is not installed'
    done
fi
echo "1..$number"
