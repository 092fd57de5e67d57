#!/bin/sh
# Asks a machine that has a GPU for all that ctxrt wants to know of it, in the order of worth; docs/gpu-check.md says more.
#
# usage: run.sh [--minutes N] [--out FOLDER] [--libcuda PATH] [--only STEP[,STEP]...] [--list]
#
# The steps are probe, scenarios, programs, benches, check, trace and model. Each has a share of the minutes (8); what one leaves over,
# the later ones have. FOLDER (default: results, beside this file) gets a file for each step once it is over, and summary.txt; what a
# step that was ended had written is not kept, files of steps before are whole. Nothing else is touched.
#
# Exit status: 0 all steps ran, whatever differs; 1 one did not; 2 wrong use; 77 there is no GPU.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 1
minutes=8 out=$here/results libcuda='' only='' list=no
# STEP SHARE FILE
steps='probe 22 1-probe.txt
scenarios 20 2-scenarios.txt
programs 15 3-programs.txt
benches 16 4-benches.txt
check 12 5-check.txt
trace 5 6-trace.html
model 10 7-model.txt'

wrong_use() # what
{
    echo "run.sh: $1" >&2
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --minutes)
        case ${2-} in
        '' | *[!0-9]* | 0*) wrong_use "$1 needs a number" ;;
        esac
        minutes=$2
        shift ;;
    --out | --libcuda | --only)
        [ $# -ge 2 ] && [ -n "$2" ] || wrong_use "$1 needs a value"
        case $1 in
        --out) out=$2 ;;
        --libcuda) libcuda=$2 ;;
        *) only=$2 ;;
        esac
        shift ;;
    --list) list=yes ;;
    --help)
        sed -n 's/^# usage: /usage: /p' "$0"
        exit 0 ;;
    *) wrong_use "$1 is not known" ;;
    esac
    shift
done
for step in $(echo "$only" | tr , ' '); do
    echo "$steps" | grep -q "^$step " || wrong_use "$step is no step"
done
if [ $list = yes ]; then
    echo "$steps" | cut -d ' ' -f 1,3
    exit 0
fi
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
case $libcuda in
/* | '') ;;
*) libcuda=$(pwd)/$libcuda ;;
esac
work=$out/.work
rm -rf "$work" && mkdir "$work" || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
TMPDIR=$work
export TMPDIR
unset CTXRT_LIBCUDA CTXRT_STANDIN_LIBCUDA CTXRT_EMU_SCHEDULE CTXRT_LAYERS
CTXRT_LOG=off
export CTXRT_LOG
[ -z "$libcuda" ] || export CTXRT_LIBCUDA="$libcuda"
driver=libcuda${libcuda:+=$libcuda}
[ -z "$libcuda" ] || { mkdir "$work/libcuda" && ln -s "$libcuda" "$work/libcuda/libcuda.so.1"; }
began=$(date +%s)
total=$((minutes * 60))

say()
{
    echo "$*"
    echo "$*" >> "$out/summary.txt"
}

# Programs of Python and others find the driver that was named.
with_driver() # command...
{
    env -u CTXRT_LIBCUDA LD_LIBRARY_PATH="${libcuda:+$work/libcuda:}${LD_LIBRARY_PATH-}" "$@"
}

watched() # word of ctxrt, option..., -- program...
{
    word=$1
    shift
    env -u CTXRT_LIBCUDA "$here/bin/ctxrt" "$word" --driver="$driver" "$@"
}

gpu_check() # seconds, option...
{
    seconds=$1
    shift
    timeout -k 10 $((seconds + 30)) "$here/ctxrt-gpu-check" --all --seconds "$seconds" --out "$work/part" ${libcuda:+--libcuda "$libcuda"} "$@" \
        > "$work/said" 2>&1
    status=$?
    sed -n '/^$/,$p' "$work/said" | grep -v '^Please send' >> "$out/summary.txt"
    grep ' FAILED: \|^gpu-check: ' "$work/said" >> "$out/summary.txt"
    return $status
}

probe_step()
{
    gpu_check "$1" --only probe
}

scenarios_step()
{
    gpu_check "$1" --only scenarios --jobs 4
}

programs_step()
{
    gpu_check "$1" --only samples,tests
}

# ---- benches ----

# PyTorch's caching allocator beside ctxrt's: its headers are there, so the program is compiled there.
bench_torch() # seconds
{
    torch=$(python3 -c 'import torch, os; print(os.path.dirname(torch.__file__))' 2> /dev/null)
    if [ -z "$torch" ] || ! command -v c++ > /dev/null; then
        echo 'bench allocator_torch: python3 has no torch, or there is no C++ compiler'
        return
    fi
    abi=$(python3 -c 'import torch; print(int(torch.compiled_with_cxx11_abi()))')
    cuda=$(ls -d /usr/local/cuda/include "$torch"/../nvidia/*/include 2> /dev/null | sed 's/^/-isystem /')
    # shellcheck disable=SC2086 # words
    if timeout 120 c++ -O2 -std=c++17 -D_GLIBCXX_USE_CXX11_ABI="$abi" -isystem "$torch/include" $cuda -I"$here/include" \
        "$here/programs/allocator_torch.cc" -o "$work/allocator_torch" -L"$here/lib" -l:libctxrt.so.0 -L"$torch/lib" -lc10_cuda -lc10 \
        -Wl,-rpath,"$here/lib:$torch/lib" > "$work/compiled" 2>&1; then
        with_driver env ${libcuda:+CTXRT_LIBCUDA="$libcuda"} timeout "$1" "$work/allocator_torch" 2>&1
    else
        echo 'bench allocator_torch: it does not compile:'
        tail -n 20 "$work/compiled"
    fi
}

benches_step()
{
    gpu_check $(($1 * 3 / 4)) --only benches
    status=$?
    {
        echo '== allocations beside PyTorch'
        bench_torch $(($1 / 4)) | sed 's/^/ /'
    } >> "$work/part"
    return $status
}

# ---- ctxrt check ----

now_ms()
{
    echo $(($(date +%s%N) / 1000000))
}

# A program as it is, then under `ctxrt check`: no finding is right, and the ratio of the times says what that costs.
judge_client() # seconds, program...
{
    seconds=$1 name=${3##*/}
    shift
    from=$(now_ms)
    with_driver timeout "$seconds" "$@" > "$work/plain" 2>&1 < /dev/null
    plain=$?
    took=$(($(now_ms) - from))
    if [ $plain -ne 0 ]; then
        echo "$name: exit status $plain without ctxrt: $(tail -n 1 "$work/plain")"
        return
    fi
    from=$(now_ms)
    watched check --notes timeout "$seconds" "$@" > "$work/checked" 2>&1 < /dev/null
    checked=$?
    longer=$(($(now_ms) - from))
    echo "$name: $(grep -c '^ctxrt check: \(error\|warning\) ' "$work/checked") errors and warnings, exit status $checked, \
$took ms plain, $longer ms under ctxrt check"
    sed 's/^/    /' "$work/checked" | tail -n 60
}

check_step()
{
    seconds=$1
    : > "$work/part"
    export here work driver
    (cd "$here/misuse" && ls planted/*.expect clean/*.expect) | sed 's/\.expect$//' > "$work/misuse"
    timeout -k 10 $((seconds / 2)) xargs -P 8 -n 1 sh "$here/programs/judge.sh" < "$work/misuse" >> "$work/part" 2>&1
    sort -o "$work/part" "$work/part"
    for verdict in found missed silent ALARM cannot; do
        echo "misuse: $verdict $(grep -c "^[a-z]*/[a-z0-9-]*  *$verdict" "$work/part")"
    done > "$work/counts"
    cat "$work/counts" >> "$out/summary.txt"
    {
        cat "$work/counts"
        for program in torch_two_streams cupy_two_streams numba_two_streams; do
            judge_client $((seconds / 12 + 5)) python3 "$here/programs/$program.py"
        done
    } > "$work/clients"
    grep 'under ctxrt check$\|without ctxrt' "$work/clients" >> "$out/summary.txt"
    cat "$work/clients" >> "$work/part"
}

# ---- ctxrt trace ----

trace_step()
{
    rm -f "$work/trace.html"
    with_driver python3 -c 'import torch; torch.cuda.init()' > /dev/null 2>&1 && set -- "$1" python3 "$here/programs/torch_two_streams.py" ||
        set -- "$1" "$here/misuse/clean/order-copy-1"
    seconds=$1
    shift
    watched trace --events --check -o "$work/trace.html" timeout "$seconds" "$@" > "$work/said" 2>&1 < /dev/null
    status=$?
    tail -n 5 "$work/said" >> "$out/summary.txt"
    [ -s "$work/trace.html" ] && mv "$work/trace.html" "$work/part" && return $status
}

# ---- the model, and kernels ----

model_step()
{
    end=$(($(date +%s) + $1)) seed=1 good=0
    {
        echo '== kernels of tests/ptx, against plain C'
        CTXRT_TEST_KERNELS=$here/kernels timeout -k 5 $(($1 / 2)) "$here/bin/kernels_on_driver" 2>&1
        echo '== random sequences, against the model'
        while [ "$(date +%s)" -lt $end ] && [ $seed -le 500 ]; do
            timeout -k 5 30 "$here/libexec/ctxrt/ctxrt-play" --driver cuda ${libcuda:+--libcuda "$libcuda"} --random $seed,40 \
                > "$work/said" 2>&1 < /dev/null
            status=$?
            [ $status -eq 0 ] && good=$((good + 1)) || { echo "seed $seed: exit status $status"; cat "$work/said"; }
            seed=$((seed + 1))
        done
        echo "$good of $((seed - 1)) sequences went as the model says"
    } > "$work/part"
    {
        echo "kernels: $(grep -c '^ok ' "$work/part") groups right, $(grep -c '^not ok ' "$work/part") wrong"
        tail -n 1 "$work/part"
    } >> "$out/summary.txt"
}

# ---- all of them ----

probe_of_machine=$(env ${libcuda:+CTXRT_LIBCUDA="$libcuda"} CTXRT_DRIVER=libcuda timeout 120 "$here/bin/ctxrt" info 2>&1)
if ! echo "$probe_of_machine" | grep -q '^ *cuda: *[1-9]\|^ *cuda:0'; then
    echo "run.sh: there is no GPU: $(echo "$probe_of_machine" | grep -i 'cuda' | head -n 2)"
    exit 77
fi
: > "$out/summary.txt"
say "ctxrt gpu-visit, $(date -u +%Y-%m-%d), $minutes minutes, driver ${libcuda:-libcuda.so.1}"
echo "$probe_of_machine" >> "$out/summary.txt"
failed=0
echo "$steps" > "$work/steps"
left_shares=$(echo "$steps" | awk -v only=",$only," 'only == ",," || index(only, "," $1 ",") { n += $2 } END { print n }')
while read -r step share file; do
    case ",$only," in
    ,, | *,"$step",*) ;;
    *) continue ;;
    esac
    left=$((began + total - $(date +%s)))
    seconds=$((left * share / left_shares))
    left_shares=$((left_shares - share))
    if [ "$seconds" -lt 3 ]; then
        say "$step: no time was left"
        failed=1
        continue
    fi
    say "== $step, $seconds s at most"
    rm -f "$work/part"
    step_began=$(date +%s) status=0
    "${step}_step" "$seconds" < /dev/null || status=$?
    if [ -s "$work/part" ]; then
        mv "$work/part" "$out/$file"
        say "$step: $(($(date +%s) - step_began)) s, exit status $status: $file"
    else
        say "$step: $(($(date +%s) - step_began)) s, exit status $status: it wrote nothing"
    fi
    [ $status -eq 0 ] || failed=1
done < "$work/steps"
exit $failed
