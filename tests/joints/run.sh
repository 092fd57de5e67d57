#!/bin/sh
# run.sh NAME [COUNT]: runs one joint (or `all`) COUNT times in a row, 50 unless told, with two busy loops
# beside it. By hand, from the build folder: sh $top_srcdir/tests/joints/run.sh frames_of_a_device_that_is_reset_stay_usable
set -u
name=$1
count=${2:-50}
. ./tests/environment.sh
export JOINTS_ALL=1
[ "$name" = all ] || export CK_RUN_CASE="$name"
while :; do :; done &
first=$!
while :; do :; done &
second=$!
trap 'kill $first $second' EXIT
failed=0
round=0
while [ "$round" -lt "$count" ]; do
    round=$((round + 1))
    said=$(./tests/joints/check_joints 2>&1)
    case $said in
    1..0* | *"not ok"*) failed=$((failed + 1)) && echo "$said" | grep '^not ok\|^1\.\.0' ;;
    esac
done
echo "$failed of $count rounds failed"
[ "$failed" -eq 0 ]
