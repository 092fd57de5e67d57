#!/bin/sh
# Each line of `pending` names a point of the issue and a test of check_joints.
set -u
. "$top_srcdir/tests/support/tap.sh"
folder=$top_srcdir/tests/joints

echo 1..1
while read -r point name; do
    case $point in
    '' | '#'*) continue ;;
    *[!0-9]*) echo "$point is no number" ;;
    esac
    grep -q "$name\\|all_but_one_block_of_##mib" "$folder"/*.c || echo "there is no test $name"
done < "$folder/pending" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_pending_test_is_a_test'
