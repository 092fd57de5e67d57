#!/bin/sh
# Runs all of ctxrt that a real driver can be asked, and writes what that driver does into one text file, to be sent back.
# docs/gpu-check.md says more. It needs sh, awk, sed, grep, tar, gzip and coreutils, and neither network nor root.
#
# usage: ctxrt-gpu-check [--all] [--libcuda PATH] [--out FILE] [--only KIND[,KIND]...] [--seconds N] [--jobs N] [--list]
#
# KIND is scenarios, probe, tests, samples or benches. After --seconds N nothing more begins; what ran is written. --jobs N plays so
# many scenarios at once.
#
# Exit status: 0 all ran, whatever differs; 1 a test or a sample of ctxrt failed, or something did not run to its end;
# 2 wrong use; 77 there is no GPU.
set -u
LC_ALL=C
export LC_ALL
tab=$(printf '\t')
here=$(cd "$(dirname "$0")" && pwd) || exit 1
libcuda='' out='' quick=yes list=no only=scenarios,probe,tests,samples,benches seconds=86400 jobs=1

usage()
{
    sed -n 's/^# usage: /usage: /p' "$0"
}

wrong_use() # what
{
    echo "gpu-check: $1" >&2
    usage >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --libcuda | --out)
        [ $# -ge 2 ] && [ -n "$2" ] || wrong_use "$1 needs a path"
        [ "$1" = --out ] && out=$2 || libcuda=$2
        shift ;;
    --only)
        [ $# -ge 2 ] && [ -n "$2" ] || wrong_use "$1 needs a kind"
        for kind in $(echo "$2" | tr , ' '); do
            case $kind in
            scenarios | probe | tests | samples | benches) ;;
            *) wrong_use "$kind is no kind" ;;
            esac
        done
        only=$2
        shift ;;
    --seconds | --jobs)
        case ${2-} in
        '' | *[!0-9]* | 0*) wrong_use "$1 needs a number" ;;
        esac
        [ "$1" = --jobs ] && jobs=$2 || seconds=$2
        shift ;;
    --all) quick=no ;;
    --list) list=yes ;;
    --help)
        usage
        exit 0 ;;
    *) wrong_use "$1 is not known" ;;
    esac
    shift
done
[ -d "$here/programs" ] || wrong_use "$here has no programs: make gpu-check-bundle makes the file that has them"

scenarios() # those to be played
{
    (cd "$here/scenarios" && find . -name '*.scn') | sed 's,^\./,,' | sort |
        awk -F / -v quick=$quick 'quick == "no" || ++count[$1] <= 2'
}

programs() # kind: lines of PROGRAM NEEDS
{
    awk -v kind="$1" -v quick=$quick '
        $1 == kind && (quick == "no" || kind != "bench" && (kind != "test" || ++count <= 2)) { print $2, $3 + 0 }' "$here/contents.txt"
}

wanted() # kind
{
    case ,$only, in
    *,"$1",*) ;;
    *) return 1 ;;
    esac
}

list() # kind of program...
{
    for kind; do
        programs "$kind" | sed "s/^\([^ ]*\) .*/$kind \1/"
    done
}

if [ $list = yes ]; then
    ! wanted scenarios || scenarios | sed 's/^/scenario /'
    ! wanted probe || echo probe
    ! wanted tests || list test guest
    ! wanted samples || list sample driver_sample pipeline
    ! wanted benches || list bench
    exit 0
fi

began=$(date +%s)

# The seconds that are left; never less than 1, since nothing may wait for ever.
time_left()
{
    left=$((began + seconds - $(date +%s)))
    [ "$left" -ge 1 ] || left=1
    echo "$left"
}

time_is_over()
{
    [ "$(($(date +%s) - began))" -ge "$seconds" ]
}

# SECONDS, or those that are left if they are fewer.
at_most()
{
    left=$(time_left)
    [ "$left" -lt "$1" ] && echo "$left" || echo "$1"
}

# libcuda is given by its path, or is the machine's own.
case $libcuda in
/* | '') ;;
*/*) libcuda=$(pwd)/$libcuda ;;
esac
unset top_srcdir top_builddir CTXRT_FOREIGN CTXRT_ALLOCATOR CTXRT_EMU_SCHEDULE CTXRT_TEST_DRIVER CTXRT_LIBCUDA
CTXRT_DRIVER=libcuda CTXRT_LOG=off CK_FORK=yes CK_DEFAULT_TIMEOUT=240
export CTXRT_DRIVER CTXRT_LOG CK_FORK CK_DEFAULT_TIMEOUT
[ -z "$libcuda" ] || export CTXRT_LIBCUDA="$libcuda"
driver=${libcuda:-libcuda.so.1}

# Runs a command for so many seconds at most. It gives 124 or more if it was ended. timeout(1) puts it into a group of its own, so a signal
# that ends this script is passed on.
limited() # seconds, command...
{
    if command -v timeout > /dev/null 2>&1; then
        timeout -k 10 "$@" <&0 &
        child=$!
        trap 'kill $child 2> /dev/null; exit 143' HUP INT TERM
        status=0
        wait $child || status=$?
        trap - HUP INT TERM
        return $status
    fi
    left=$1
    shift
    "$@" &
    child=$!
    (
        while [ "$left" -gt 0 ] && kill -0 $child 2> /dev/null; do
            sleep 1
            left=$((left - 1))
        done
        kill -KILL $child 2> /dev/null
    ) &
    watcher=$!
    status=0
    wait $child 2> /dev/null || status=$?
    kill $watcher 2> /dev/null
    return $status
}

head=$(limited 120 "$here/programs/probe" --only I2.init "$driver" 2>&1)
status=$?
if [ $status -ne 0 ] && [ $status -ne 2 ]; then
    echo "gpu-check: the programs do not run on this machine: $head" >&2
    exit 1
fi
devices=$(echo "$head" | sed -n 's/^# devices: \([1-9][0-9]*\)$/\1/p')
if [ -z "$devices" ]; then
    why=$(echo "$head" | sed -n 's/^# devices: /its devices: /p; s/^probe: //p')
    echo "gpu-check: there is no GPU to run on: $driver: ${why:-$head}"
    exit 77
fi

: "${out:=ctxrt-gpu-check-$(date -u +%Y%m%d-%H%M%S).txt}"
case $out in
/*) ;;
*) out=$(pwd)/$out ;;
esac
: > "$out" || exit 1
file=$out
out=$here/recording
mkdir -p "$out/scenarios" "$out/log" "$out/tests" "$out/samples" "$out/bench" || exit 1
duration='about a minute'
[ $quick = yes ] || duration='some ten minutes'
cat << WORDS
gpu-check asks $driver for $duration: scenarios of driver calls, a probe of the driver's rules, and programs of ctxrt.
It writes one file, $file,
with the GPU's name, the versions of driver and kernel, the date, and the driver's answers: no name of a user, machine or folder,
and no GPU's identity. It works in $here, which goes at the end, and sends nothing.
WORDS
: > "$out/skipped.txt"
failed=0

device=$(echo "$head" | sed -n 's/^# device: //p')
version=$(echo "$head" | sed -n 's/^# driver: //p')
kernel_driver=$(cat /sys/module/nvidia/version 2> /dev/null)
machine="${kernel_driver:+NVIDIA driver $kernel_driver, }$(uname -s) $(uname -r)"
emulated=no
case $device in *emulated*) emulated=yes ;; esac
echo "$device (devices: $devices), CUDA $version, $machine, $(uname -m), $(date -u +%Y-%m-%d)" > "$out/machine.txt"
echo "gpu-check: $(cat "$out/machine.txt")"

told() # what, verdict
{
    printf '%-34s %s\n' "$1" "$2"
}

lost() # what, how it ended
{
    told "$1" "FAILED: $2"
    failed=$((failed + 1))
}

skipped() # what, why
{
    printf '%s: %s\n' "$1" "$2" >> "$out/skipped.txt"
}

count_of() # lines of a file
{
    wc -l < "$1" | tr -d ' '
}

# A recording says on which machine it was made.
sign_recording() # file
{
    sed "1a\\
# $machine" "$1" > "$1.new" && mv "$1.new" "$1"
}

# A line for each scenario of the standard input: played, lacking, late, or how it was lost.
play_each() # the number of this job
{
    while read -r file_name; do
        name=${file_name%.scn}
        recording=$out/scenarios/$(echo "$file_name" | tr / -)
        said=$out/log/scenario.$1.txt
        if time_is_over; then
            skipped "scenario $name" 'no time was left'
            echo late
            continue
        fi
        status=0
        (cd "$here/scenarios" && limited "$(at_most 300)" "$here/programs/ctxrt-play" --driver "libcuda=$driver" \
            --record "$out/scenarios" "$file_name") > "$said" 2>&1 < /dev/null || status=$?
        case $status in
        0 | 1)
            echo played
            [ ! -f "$recording" ] || sign_recording "$recording" ;;
        77)
            echo lacking
            skipped "scenario $name" "$(sed -n "s,^$file_name: \(line .*\),\1,p" "$said" | sed 1q)" ;;
        *)
            if time_is_over; then
                skipped "scenario $name" 'no time was left'
                echo late
            else
                { echo "$file_name"; cat "$said"; } >> "$out/log/scenarios.txt"
                echo "scenario $name: exit status $status"
            fi ;;
        esac
        rm -f "$said"
    done
}

play_scenarios()
{
    scenarios > "$out/log/scenarios.list"
    job=0
    while [ $job -lt "$jobs" ]; do
        awk -v jobs="$jobs" -v job=$job 'NR % jobs == job' "$out/log/scenarios.list" | play_each $job > "$out/log/played.$job" &
        job=$((job + 1))
    done
    wait
    cat "$out"/log/played.* > "$out/log/played"
    sed -n 's/^\(scenario .*\): \(exit status .*\)/\1|\2/p' "$out/log/played" > "$out/log/scenarios.lost"
    while IFS='|' read -r name how; do
        lost "$name" "$how"
    done < "$out/log/scenarios.lost"
    late=$(grep -cx late "$out/log/played")
    told scenarios "$(grep -cx played "$out/log/played") played, $(grep -cx lacking "$out/log/played") skipped$(
        [ "$late" -eq 0 ] || echo ", $late too late")"
}

probe() # file, option...
{
    to=$1
    shift
    [ $emulated = no ] || set -- --fault-by 'CTXRT_EMU_FAULT=cuMemsetD8Async@1:%:async' "$@"
    limited "$(at_most 3600)" "$here/programs/probe" "$@" "$driver" > "$to" 2>> "$out/log/probe.txt" < /dev/null
}

observe()
{
    mine=$out/driver.probe.txt
    set -- --patience 3000
    [ $quick = no ] || set -- "$@" --only life --only context --only stack --only query --only primary
    if ! probe "$mine" "$@"; then
        if ! time_is_over || [ ! -s "$mine" ]; then
            lost probe "see log/probe.txt"
            return
        fi
        skipped probe 'no time was left for the rest'
    fi
    # A call that returns can seem to wait on a loaded machine: what differs is seen again with more patience.
    again=$("$here/programs/ctxrt" compare "$mine" | sed -n 's/^  \([A-Z][0-9]*\.[^ ]*\)\.[^. ]* .*/\1/p' | sort -u)
    if [ -n "$again" ] && ! time_is_over; then
        set -- --patience 15000 # one option for each name
        for experiment in $again; do
            set -- "$@" --only "$experiment"
        done
        probe "$mine.again" "$@" && awk '
            !/ = / { if (FNR == NR) next; print; next }
            FNR == NR { value[$1] = $0; next }
            { print ($1 in value) ? value[$1] : $0 }' "$mine.again" "$mine" > "$mine.new" && mv "$mine.new" "$mine"
        rm -f "$mine.again"
    fi
    sign_recording "$mine"
    told probe "$(grep -c ' = ' "$mine") observations"
}

# A test that was skipped in the middle said so in a line before its own.
mark_skips()
{
    awk '/^# SKIP / { reason = $0; next }
        /^ok / { if (reason != "") $0 = $0 " " reason }
        /^(not )?ok / { reason = "" }
        { print }'
}

# Lines of TAP without number, source, suite and verdict.
bare_names()
{
    sed -e 's/ok [0-9]* - /ok /' -e 's,ok [^ :]*\.c:[^:]*:,ok ,' -e 's/: Passed # SKIP/ # SKIP/'
}

run_test() # program, NAME=VALUE...
{
    name=${1##*/}
    program=$1
    shift
    document=
    case $name in *_guest) document=$here/frames.md ;; esac
    status=0
    limited "$(at_most 900)" env "$@" "$here/programs/$name" ${document:+"$document"} > "$out/log/test.txt" 2> "$out/tests/$name.errors" < /dev/null || status=$?
    mark_skips < "$out/log/test.txt" > "$out/tests/$name.tap"
    rm -f "$out/log/test.txt"
    [ -s "$out/tests/$name.errors" ] || rm -f "$out/tests/$name.errors"
    tap=$out/tests/$name.tap
    planned=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$tap")
    skips=$(grep -c '^ok .*# SKIP' "$tap")
    bad=$(grep -c '^not ok' "$tap")
    ran=$(grep -c '^\(not \)\{0,1\}ok ' "$tap")
    grep '^ok .*# SKIP' "$tap" | bare_names | sed "s,^ok,test $name:,; s/ # SKIP /: /" >> "$out/skipped.txt"
    if [ $status -eq 77 ]; then
        skipped "test $name" "$(sed -n 's/^1\.\.0 # SKIP //p' "$tap")"
        told "$program" skipped
    elif [ $status -ge 124 ]; then
        lost "$program" "it was ended after $ran tests: exit status $status"
    elif [ "$bad" -ne 0 ] || [ $status -ne 0 ] || [ "$ran" != "$planned" ]; then
        lost "$program" "$bad of ${planned:-?} tests, $ran ran, exit status $status: tests/$name.tap"
        grep '^not ok' "$tap" | bare_names | sed 's/^/    /'
    else
        told "$program" "$((ran - skips)) passed, $skips skipped"
    fi
}

run_tests()
{
    programs test > "$out/log/tests.list"
    programs guest >> "$out/log/tests.list"
    four=$(echo "${CUDA_VISIBLE_DEVICES:-0,1,2,3}" | cut -d , -f 1-4)
    while read -r program needs; do
        if time_is_over; then
            skipped "test ${program##*/}" 'no time was left'
            continue
        fi
        case $program in
        */*_guest) run_test "$program" ;;
        *) # written for 4 devices
            if [ "$devices" -gt 4 ]; then
                run_test "$program" CUDA_VISIBLE_DEVICES="$four" CTXRT_TEST_DRIVER=libcuda
            else
                run_test "$program" CTXRT_TEST_DRIVER=libcuda
            fi ;;
        esac
    done < "$out/log/tests.list"
}

# What differs from run to run and from tree to tree.
settle()
{
    sed -e 's/0x[0-9a-f]\{4,\}/ADDRESS/g' -e 's/thread [0-9]\{1,\}/thread N/g' \
        -e 's/context [0-9]\{1,\}/context N/g' -e 's/[0-9.]\{1,\} ms/T ms/g' \
        -e 's#[^ ]*\(samples/[a-z_]*\.c\):[0-9]\{1,\}#\1:LINE#g'
}

sample_prints() # file, command...
{
    to=$1
    shift
    limited 120 "$@" > "$to.raw" 2>&1 < /dev/null
    status=$?
    settle < "$to.raw" > "$to"
    rm -f "$to.raw"
    return $status
}

judge_sample() # program, its exit status; what it printed against what was expected
{
    name=${1##*/}
    if [ "$2" -ne 0 ]; then
        lost "$1" "exit status $2: samples/$name.txt"
    elif ! diff "$out/samples/$name.expected" "$out/samples/$name.txt" > "$out/samples/$name.diff" 2>&1; then
        lost "$1" "it prints something else: samples/$name.diff"
    else
        rm -f "$out/samples/$name.diff" "$out/samples/$name.expected"
        told "$1" passed
    fi
}

# Samples of ctxrt print on the driver's GPUs what they print on as many embedded ones.
run_samples() # kind
{
    programs "$1" > "$out/log/samples.list"
    while read -r program needs; do
        name=${program##*/}
        if time_is_over; then
            skipped "sample $name" 'no time was left'
            continue
        fi
        if [ "$needs" -gt "$devices" ]; then
            skipped "sample $name" "it needs $needs devices; the driver has $devices"
            told "$program" skipped
            continue
        fi
        status=0
        case $1 in
        sample)
            sample_prints "$out/samples/$name.expected" env CTXRT_DRIVER=emulated CTXRT_EMU_DEVICES="$devices" \
                "$here/programs/$name"
            sample_prints "$out/samples/$name.txt" "$here/programs/$name" || status=$? ;;
        driver_sample)
            cp "$here/expected/$name.txt" "$out/samples/$name.expected"
            sample_prints "$out/samples/$name.txt" env LD_LIBRARY_PATH="$with_libcuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
                "$here/programs/$name" || status=$? ;;
        pipeline)
            echo 'the same bytes, the same histogram' > "$out/samples/$name.expected"
            limited 300 "$here/programs/$name" --driver libcuda --devices "$devices" --chunk 64K \
                "$here/programs/ctxrt-play" > "$out/log/pipeline.txt" 2>&1 || status=$?
            grep '^the same bytes' "$out/log/pipeline.txt" > "$out/samples/$name.txt" ;;
        esac
        judge_sample "$program" $status
    done < "$out/log/samples.list"
}

# Where time is short each bench answers what asks the driver.
bench_options() # name
{
    if [ $quick = yes ]; then
        echo '--rounds 1 --count 1000'
    elif [ "$seconds" -lt 3600 ] && [ "$1" = bench_alloc ]; then
        echo '--trace gpu --measure one --rounds 3 --count 10000'
    elif [ "$seconds" -lt 3600 ]; then
        echo '--rounds 5'
    fi
}

time_calls()
{
    if limited "$(at_most 120)" "$here/programs/probe" --times "$driver" > "$out/bench/times.txt" 2>> "$out/log/probe.txt" < /dev/null; then
        told 'probe --times' bench/times.txt
    elif time_is_over; then
        skipped 'probe --times' 'no time was left'
    else
        lost 'probe --times' 'see log/probe.txt'
    fi
}

# Each has its share of the time that is left.
run_benches()
{
    programs bench > "$out/log/benches.list"
    to_run=$(($(count_of "$out/log/benches.list") + 1))
    time_calls
    while read -r program needs; do
        name=${program##*/}
        echo "# $(sed 1q "$out/machine.txt")" > "$out/bench/$name.txt"
        to_run=$((to_run - 1))
        if time_is_over; then
            skipped "bench $name" 'no time was left'
            continue
        fi
        limit=$(($(time_left) / to_run + 1)) status=0
        [ $limit -lt 900 ] || limit=900
        # shellcheck disable=SC2046 # words
        limited $limit "$here/programs/$name" --driver libcuda $(bench_options "$name") >> "$out/bench/$name.txt" 2>&1 < /dev/null || status=$?
        case $status in
        0) told "$program" "bench/$name.txt" ;;
        77)
            skipped "bench $name" "$(tail -n 1 "$out/bench/$name.txt")"
            told "$program" skipped ;;
        *)
            if time_is_over || { [ $status -ge 124 ] && [ $limit -lt 900 ]; }; then
                skipped "bench $name" 'no time was left for the rest'
            else
                lost "$program" "see bench/$name.txt"
            fi ;;
        esac
    done < "$out/log/benches.list"
}

run_all_samples()
{
    run_samples sample
    run_samples driver_sample
    run_samples pipeline
}

with_libcuda=
if [ -n "$libcuda" ]; then
    with_libcuda=$out/log/libcuda
    mkdir -p "$with_libcuda" && ln -sf "$libcuda" "$with_libcuda/libcuda.so.1"
fi
! wanted scenarios || play_scenarios
! wanted probe || observe
! wanted tests || run_tests
! wanted samples || run_all_samples
! wanted benches || run_benches

# Sections of what came of it: a title, and lines behind a blank.
section() # title, file
{
    [ -s "$2" ] || return 0
    echo "== $1"
    sed 's/^/ /' "$2"
}

sections() # word, file...
{
    word=$1
    shift
    for one; do
        section "$word ${one##*/}" "$one"
    done
}

# Paths and the identities of GPUs stay here.
private_names()
{
    for name in "$here" "${HOME-}"; do
        case $name in
        '' | / | ? | ??) ;;
        *) printf '%s\n' "$name" | sed 's,[].[*^$\\/],\\&,g; s,.*,s/&/.../g,' ;;
        esac
    done
    echo 's/GPU-[0-9a-f]\{8\}-[0-9a-f-]*/GPU-.../g'
}

private_names > "$out/log/private.sed"
{
    echo 'ctxrt gpu-check 1'
    section machine "$out/machine.txt"
    section skipped "$out/skipped.txt"
    section probe "$out/driver.probe.txt"
    sections scenario "$out"/scenarios/*.scn
    sections test "$out"/tests/*
    sections sample "$out"/samples/*
    sections bench "$out"/bench/*
    sections log "$out"/log/probe.txt "$out"/log/scenarios.txt
} | sed -f "$out/log/private.sed" > "$file" || exit 1

echo
if [ -s "$out/driver.probe.txt" ] || [ "$(ls "$out/scenarios")" ]; then
    "$here/programs/ctxrt" compare "$file"
    [ $? -le 1 ] || failed=$((failed + 1))
fi
echo "$(count_of "$out/skipped.txt") skipped"
[ $failed -eq 0 ] || echo "$failed failed or did not run to their end"
echo "Please send $file: docs/gpu-check.md says where"
[ $failed -eq 0 ]
