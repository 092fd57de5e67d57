#!/bin/sh
# The embedded driver does what the committed recordings say. After a change that is meant: make record-probe.
set -u
. "$top_srcdir/tests/support/tap.sh"
probe=$top_builddir/tests/probe/probe
fault_by='CTXRT_EMU_FAULT=cuMemsetD8Async@1:%:async'
# What the experiments leave behind is theirs to leave.
export CTXRT_LOG=off ASAN_OPTIONS="${ASAN_OPTIONS-}:detect_leaks=0"

library() # set
{
    echo "$top_builddir/lib/shim/cuda-$1/.libs/libcuda.so.1"
}

# On a loaded machine a call that returns can seem to wait: what differs is looked at again, with more patience.
look_again() # set, recording
{
    experiments=$(sed -n 's/^  \([A-Z][0-9]*\.[^ ]*\)\.[^. ]* .*/\1/p' "$scratch/differs" | sort -u)
    set -- "$1" "$2" $(printf -- '--only %s ' $experiments)
    version=$1
    recording=$2
    shift 2
    "$probe" --patience 15000 --fault-by "$fault_by" "$@" "$(library "$version")" > "$scratch/again" || return 1
    for experiment in $experiments; do
        sed -i "/^$experiment\.[^.]* = /d" "$scratch/$version"
    done
    cat "$scratch/again" >> "$scratch/$version"
    "$top_builddir/ctxrt" compare "$recording" "$scratch/$version" > "$scratch/differs"
}

# The runs wait more than they work.
for version in 12 13; do
    "$probe" --fault-by "$fault_by" "$(library "$version")" > "$scratch/$version" 2> "$scratch/errors-$version" &
    eval "run_$version=$!"
done

echo 1..4
for set in 12:12.9 13:13.0; do
    version=${set%:*}
    recording=$top_srcdir/tests/recorded/embedded-${set#*:}.probe.txt
    eval "wait \"\$run_$version\""
    status=$?
    cp "$scratch/errors-$version" "$scratch/out"
    [ "$status" -eq 0 ] && [ ! -s "$scratch/errors-$version" ]
    report $? "every_experiment_ran_on_the_driver_of_$version"
    "$top_builddir/ctxrt" compare "$recording" "$scratch/$version" > "$scratch/differs" || look_again "$version" "$recording"
    status=$?
    cp "$scratch/differs" "$scratch/out"
    [ "$status" -eq 0 ]
    report $? "the_driver_of_${version}_does_what_is_recorded"
done
