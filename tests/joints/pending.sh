#!/bin/sh
# Each line of `pending` names a point of the issue and a test of check_joints; each fault that planted.sh plants fits the tree; the
# runtime logs what the random mix looks for.
set -u
. "$top_srcdir/tests/support/tap.sh"
folder=$top_srcdir/tests/joints

echo 1..3
while read -r point name; do
    case $point in
    '' | '#'*) continue ;;
    *[!0-9]*) echo "$point is no number" ;;
    esac
    grep -q "$name\\|all_but_one_block_of_##mib" "$folder"/*.c || echo "there is no test $name"
done < "$folder/pending" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_pending_test_is_a_test'

if command -v patch > /dev/null; then
    for fault in "$folder"/faults/*.patch; do
        patch --dry-run -s -f -p1 -d "$top_srcdir" < "$fault" || echo "$fault cannot be planted"
    done > "$scratch/out" 2>&1
    [ ! -s "$scratch/out" ]
    report $? 'every_fault_can_be_planted'
else
    skip 'every_fault_can_be_planted' 'patch is not installed'
fi

# The random mix fails where the runtime logs this.
line=$(sed -n 's/.*strstr(line, "\(.*\)").*/\1/p' "$folder/mix/crowd.c")
[ -n "$line" ] && grep -q "$line" "$top_srcdir/lib/memory/raw_alloc.c"
report $? 'the_line_that_the_mix_looks_for_is_logged'
