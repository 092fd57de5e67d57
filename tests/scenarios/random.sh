#!/bin/sh
# Random scenarios against the model: no mismatch, under each schedule and on a stand-in; every rule often enough, and
# legal and illegal steps both.
set -u
. "$top_srcdir/tests/support/tap.sh"
play="$top_builddir/ctxrt play --timeout 60"
few=24
[ -z "$SANITIZERS" ] && few=200
[ "$SANITIZERS" != thread ] || few=8
sequences=${CTXRT_TEST_SEQUENCES:-$few}
seed=${CTXRT_TEST_SEED:-1}

compare() # what, sequences, option...
{
    what=$1 count=$2
    shift 2
    $play --random "$seed,200" --count "$count" "$@" > "$scratch/out" 2> "$scratch/errors"
    report $? "$what: $(sed -n 's/^random: //p' "$scratch/out")"
}

compare threads "$sequences"
cp "$scratch/out" "$scratch/coverage"
if [ "$sequences" -lt 200 ]; then
    skip 'legal and illegal steps' "$sequences sequences are too few to tell"
    skip 'every rule of the model is exercised at least 10 times' "$sequences sequences are too few to tell"
else
    awk '/^steps:/ { exit !($4 > 30 && $4 < 70) }' "$scratch/coverage"
    report $? "legal and illegal steps: $(sed -n 's/^steps: //p' "$scratch/coverage")"
    sed -n 's/^rules: //p' "$scratch/coverage" | tr ' ' '\n' | paste -d ' ' - - | awk '$2 < 10' > "$scratch/out"
    [ ! -s "$scratch/out" ]
    report $? "every rule of the model is exercised at least 10 times"
fi
compare lazy "$((sequences / 4))" --schedule lazy
compare random:3 "$((sequences / 4))" --schedule random:3
compare cuda-13 "$((sequences / 4))" --driver="libcuda=$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1"

# This test itself: a driver that goes wrong is found, and the shortest scenario that shows it is one that plays.
if [ "$SANITIZERS" = thread ]; then
    skip 'a_driver_that_goes_wrong_is_found' 'making it short takes long under ThreadSanitizer'
    echo "1..$number"
    exit
fi
export CTXRT_EMU_FAULT=cuCtxSetCurrent@3
wrong=$seed status=0
while [ "$status" = 0 ] && [ "$wrong" -lt $((seed + 10)) ]; do # not every scenario makes the call so often
    $play --random "$wrong,200" > "$scratch/out" 2> "$scratch/errors"
    status=$?
    wrong=$((wrong + 1))
done
[ "$status" = 1 ] && grep -q 'mismatches$' "$scratch/out"
report $? 'a_driver_that_goes_wrong_is_found'
sed -n '/^# seed/,/^random:/p' "$scratch/out" | grep -v '^random:' > "$scratch/short.scn"
$play "$scratch/short.scn" > "$scratch/out" 2> "$scratch/errors"
[ $? = 1 ] && [ "$(grep -c -- '->' "$scratch/short.scn")" -le 6 ]
report $? 'it_is_shown_with_few_steps'
unset CTXRT_EMU_FAULT
$play "$scratch/short.scn" > "$scratch/out" 2> "$scratch/errors"
report $? 'a_driver_that_is_right_passes_them'
echo "1..$number"
