#!/bin/sh
# Asks a machine that has a GPU for all that ctxrt wants to know of it, in the order of worth; docs/gpu-check.md says more.
#
# usage: run.sh [--minutes N] [--out FOLDER] [--libcuda PATH] [--only STEP[,STEP]...] [--list]
#
# The steps are probe, scenarios, programs, benches, check, trace and model. Each has a share of the minutes (8) and is ended when that is
# over; what one leaves over, the later ones have. FOLDER (default: results, beside this file) gets a file for each step once it is over,
# and summary.txt. A visit that is ended in the middle keeps the whole files of the steps before. Nothing else is touched.
#
# Exit status: 0 all steps ran, whatever differs; 1 one did not; 2 wrong use; 77 there is no GPU.
set -u
LC_ALL=C
export LC_ALL
here=$(cd "$(dirname "$0")" && pwd) || exit 1
minutes=8 out=$here/results libcuda='' only='' list=no
# STEP SHARE FILE
steps='probe 28 1-probe.txt
scenarios 20 2-scenarios.txt
programs 12 3-programs.txt
benches 15 4-benches.txt
check 11 5-check.txt
trace 5 6-trace.html
model 9 7-model.txt'

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
step=${CTXRT_VISIT_STEP-} # set by this script for the process of one step
if [ -z "$step" ]; then
    rm -rf "$work" && mkdir "$work" || exit 1
    # A signal may come in when a step's process has begun, and the shell knows it as $! alone.
    running=no before=
    end() # signal
    {
        if [ $running = yes ] && [ "${!-}" != "$before" ]; then
            kill -s TERM $! 2> /dev/null
            wait $!
        fi
        exit "$1"
    }
    # What was just ended may still write, on a busy machine for seconds.
    tidy_up()
    {
        tries=0
        until rm -rf "$work" 2> /dev/null || [ "$((tries += 1))" -ge 20 ]; do
            sleep 1
        done
    }
    trap tidy_up EXIT
    trap 'end 129' HUP
    trap 'end 130' INT
    trap 'end 143' TERM
fi
TMPDIR=$work
export TMPDIR
unset CTXRT_LIBCUDA CTXRT_STANDIN_LIBCUDA CTXRT_EMU_SCHEDULE CTXRT_LAYERS CTXRT_VISIT_STEP
CTXRT_LOG=off
export CTXRT_LOG
[ -z "$libcuda" ] || export CTXRT_LIBCUDA="$libcuda"
driver=libcuda${libcuda:+=$libcuda}
[ -z "$libcuda" ] || [ -n "$step" ] || { mkdir "$work/libcuda" && ln -s "$libcuda" "$work/libcuda/libcuda.so.1"; }
began=$(date +%s)
total=$((minutes * 60))

# A signal that ends the visit may end `date` first: arithmetic with nothing would end the shell without tidying up.
look_at_clock()
{
    now=$(date +%s)
    now=${now:-${began:-0}}
}

say()
{
    echo "$*"
    echo "$*" >> "$out/summary.txt"
}

# Programs of Python and others find the driver that was named.
with_driver() # command...
{
    env -u CTXRT_LIBCUDA ${libcuda:+LD_LIBRARY_PATH="$work/libcuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"} "$@"
}

watched() # word of ctxrt, option..., -- program...
{
    word=$1
    shift
    env -u CTXRT_LIBCUDA "$here/bin/ctxrt" "$word" --driver="$driver" "$@"
}

# After four fifths of the time nothing more begins, so that what ran is compared and written.
gpu_check() # seconds, option...
{
    seconds=$(($1 * 4 / 5))
    shift
    "$here/ctxrt-gpu-check" --all --seconds "$seconds" --out "$work/part" ${libcuda:+--libcuda "$libcuda"} "$@" \
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

# PyTorch's caching allocator beside ctxrt's.
bench_torch() # seconds
{
    with_driver env ${libcuda:+CTXRT_LIBCUDA="$libcuda"} timeout -k 5 "$1" python3 "$here/programs/allocator_torch.py" 2>&1 < /dev/null
    status=$?
    [ $status -eq 0 ] || echo "allocator_torch: exit status $status"
}

benches_step()
{
    gpu_check $(($1 * 3 / 4)) --only benches
    status=$?
    {
        echo '== allocations beside PyTorch'
        bench_torch $(($1 / 5)) | sed 's/^/ /'
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
    limit=$1 name=${3##*/}
    shift
    from=$(now_ms)
    with_driver timeout -k 5 "$limit" "$@" > "$work/plain" 2>&1 < /dev/null
    plain=$?
    took=$(($(now_ms) - from))
    if [ $plain -ne 0 ]; then
        echo "$name: exit status $plain without ctxrt: $(tail -n 1 "$work/plain")"
        return
    fi
    from=$(now_ms)
    watched check --notes timeout -k 5 "$limit" "$@" > "$work/checked" 2>&1 < /dev/null
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
    timeout -k 5 $((seconds / 2)) xargs -P 8 -n 1 sh "$here/programs/judge.sh" < "$work/misuse" >> "$work/part" 2>&1
    sort -o "$work/part" "$work/part"
    for verdict in found missed silent ALARM cannot BROKEN; do
        echo "misuse: $verdict $(grep -c "^[a-z]*/[a-z0-9-]*  *$verdict" "$work/part")"
    done > "$work/counts"
    cat "$work/counts" >> "$out/summary.txt"
    {
        cat "$work/counts"
        for program in torch_two_streams cupy_two_streams numba_two_streams; do
            judge_client $((seconds / 15 + 2)) python3 "$here/programs/$program.py"
        done
    } > "$work/clients"
    grep 'under ctxrt check$\|without ctxrt' "$work/clients" >> "$out/summary.txt"
    cat "$work/clients" >> "$work/part"
}

# ---- ctxrt trace ----

trace_step()
{
    rm -f "$work/trace.html"
    with_driver timeout -k 5 $(($1 / 3 + 1)) python3 -c 'import torch; torch.cuda.init()' > /dev/null 2>&1 < /dev/null && set -- "$1" python3 "$here/programs/torch_two_streams.py" ||
        set -- "$1" "$here/misuse/clean/order-copy-1"
    seconds=$1
    shift
    watched trace --events --check -o "$work/trace.html" timeout -k 5 $((seconds / 2 + 1)) "$@" > "$work/said" 2>&1 < /dev/null
    status=$?
    tail -n 5 "$work/said" >> "$out/summary.txt"
    [ -s "$work/trace.html" ] && mv "$work/trace.html" "$work/part" && return $status
}

# ---- the model, and kernels ----

model_step()
{
    sequences_end=$(($(date +%s) + $1 * 4 / 5))
    export here work libcuda sequences_end
    {
        echo '== kernels of tests/ptx, against plain C'
        CTXRT_TEST_KERNELS=$here/kernels timeout -k 5 $(($1 / 3 + 1)) "$here/bin/kernels_on_driver" 2>&1
        echo '== random sequences, against the model'
        seq 500 | xargs -P 4 -n 1 sh "$here/programs/sequence.sh" > "$work/sequences" 2>&1
        grep -v '^good$' "$work/sequences"
        echo "$(grep -c '^good$' "$work/sequences") of $(grep -c '^good$\|^seed ' "$work/sequences") sequences went as the model says"
    } > "$work/part"
    {
        echo "kernels: $(grep -c '^ok ' "$work/part") groups right, $(grep -c '^not ok ' "$work/part") wrong"
        tail -n 1 "$work/part"
    } >> "$out/summary.txt"
}

# ---- the machine ----

# In a line each, also what is missing. No name of a user or machine, and no GPU's identity.
say_machine()
{
    timeout -k 5 20 nvidia-smi --query-gpu=name,driver_version,memory.total,persistence_mode,compute_mode --format=csv,noheader 2> /dev/null ||
        echo 'nvidia-smi is not there, or fails'
    timeout -k 5 20 nvcc --version 2> /dev/null | tail -n 1 | grep . || echo 'nvcc is not there'
    for package in torch cupy numba; do
        timeout -k 5 20 python3 -c 'import importlib.metadata as m, sys
for name in sorted({d.metadata["Name"] or "" for d in m.distributions()}):
    if name.split("-")[0] == sys.argv[1]:
        print(name, m.version(name))' $package 2> /dev/null | grep . || echo "python3 has no $package"
    done
}

# ---- all of them ----

if [ -n "$step" ]; then
    "${step}_step" "$minutes" < /dev/null
    exit
fi
probe_of_machine=$(env ${libcuda:+CTXRT_LIBCUDA="$libcuda"} CTXRT_DRIVER=libcuda timeout -k 5 120 "$here/bin/ctxrt" info 2>&1)
if ! echo "$probe_of_machine" | grep -q '^ *cuda: *[1-9]\|^ *cuda:0'; then
    echo "run.sh: there is no GPU: $(echo "$probe_of_machine" | grep -i 'cuda' | head -n 2)"
    exit 77
fi
[ -n "$only" ] || : > "$out/summary.txt"
say "ctxrt gpu-visit, $(date -u +%Y-%m-%d), $minutes minutes, driver ${libcuda:-libcuda.so.1}"
{
    echo "$probe_of_machine" | grep -v '^ *uuid '
    say_machine
} >> "$out/summary.txt"

# A process of its own has its own limit, and lets this one hear signals meanwhile.
run_step() # step, seconds
{
    before=${!-} running=yes
    CTXRT_VISIT_STEP=$1 timeout -k 5 "$2" sh "$here/run.sh" --minutes "$2" --out "$out" ${libcuda:+--libcuda "$libcuda"} < /dev/null &
    wait $!
    status=$?
    running=no
    return $status
}

# At most 16 MB each.
keep_part() # file
{
    if [ "$(wc -c < "$work/part")" -gt 16000000 ]; then
        gzip -9 "$work/part" && mv "$work/part.gz" "$out/$1.gz" && rm -f "$out/$1"
    else
        mv "$work/part" "$out/$1" && rm -f "$out/$1.gz"
    fi
}

failed=0
echo "$steps" > "$work/steps"
left_shares=$(echo "$steps" | awk -v only=",$only," 'only == ",," || index(only, "," $1 ",") { n += $2 } END { print n }')
while read -r step share file; do
    case ",$only," in
    ,, | *,"$step",*) ;;
    *) continue ;;
    esac
    look_at_clock
    left=$((began + total - now))
    seconds=$((left * share / left_shares))
    left_shares=$((left_shares - share))
    rm -f "$work/part"
    if [ "$seconds" -lt 3 ]; then
        say "$step: no time was left"
        failed=1
        continue
    fi
    say "== $step, $seconds s at most"
    step_began=$now status=0
    run_step "$step" "$seconds" || status=$?
    [ "$status" -lt 124 ] || say "$step: it was ended"
    look_at_clock
    if [ -s "$work/part" ]; then
        keep_part "$file"
        say "$step: $((now - step_began)) s, exit status $status: $file"
    else
        say "$step: $((now - step_began)) s, exit status $status: it wrote nothing"
    fi
    [ "$status" -eq 0 ] || failed=1
done < "$work/steps"
exit $failed
