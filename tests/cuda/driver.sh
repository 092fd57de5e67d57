#!/bin/sh
# The same program with the Driver API, on a stand-in's emulated GPUs: the answers of docs/frames.md are right for any
# number of them, and what the program with the runtime API expects can be had.
set -u
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/tests/cuda/driver_guest

on_devices() # set, number, schedule
{
    run env CTXRT_EMU_SCHEDULE="$3" "$top_builddir/ctxrt" run --cuda "$1" --devices "$2" --memory 64M "$program"
    grep -v '^ok' "$scratch/out" > "$scratch/errors"
    lacking=$(grep -c '# SKIP' "$scratch/out")
    grep '^ok' "$scratch/out" > "$scratch/good"
    : > "$scratch/out"
}

echo 1..10
for set in 12 13; do
    [ "$set" = 12 ] && schedule=threads || schedule=lazy
    for devices in 1 2 3 7; do
        on_devices "$set" "$devices" "$schedule"
        [ "$status" -eq 0 ] && [ "$(wc -l < "$scratch/good")" -gt 200 ] && grep -q '^1\.\.' "$scratch/errors" &&
            { [ "$devices" -lt 3 ] || [ "$lacking" -eq 0 ]; }
        report $? "on the stand-in cuda-$set, schedule $schedule, number of GPUs: $devices"
    done
done

run env CTXRT_LIBCUDA=/nowhere/libcuda.so.1 "$program"
[ "$status" -eq 77 ] && grep -q '^1\.\.0 # SKIP no CUDA device: .*/nowhere/libcuda.so.1' "$scratch/out"
report $? 'without a driver the program says so, and exits with 77'
run "$top_builddir/ctxrt" run --cuda 13 "$program" /nowhere/frames.md
[ "$status" -eq 1 ] && grep -q '^not ok .*/nowhere/frames.md' "$scratch/out"
report $? 'without the table the program fails'
