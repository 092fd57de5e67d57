#!/bin/sh
# Every scenario on the embedded driver under each schedule, and on both stand-ins. One that is skipped on the
# embedded driver tests nothing there, so it counts as failed.
set -u
. "$top_srcdir/tests/support/tap.sh"
play="$top_builddir/ctxrt play --timeout 60"

find "$top_srcdir/tests/scenarios" -name '*.scn' | LC_ALL=C sort > "$scratch/files"

# One line of TAP for each scenario of what ctxrt play says about all of them in one go.
report_all() # what, may be skipped: yes or no, option...
{
    what=$1 may_skip=$2
    shift 2
    xargs $play "$@" < "$scratch/files" > "$scratch/said" 2> "$scratch/wrong"
    while IFS= read -r file; do
        : > "$scratch/out"
        : > "$scratch/errors"
        name="$what: ${file#"$top_srcdir/tests/scenarios/"}"
        verdict=$(sed -n "s,^$file: \(passed\|FAILED\|skipped\)\$,\1,p" "$scratch/said")
        if [ "$verdict" = skipped ] && [ "$may_skip" = yes ]; then
            skip "$name" "$(sed -n "s,^$file: \(line .*\),\1,p" "$scratch/said")"
        else
            cp "$scratch/said" "$scratch/out"
            sed -n "\,^$file:,,\$p" "$scratch/wrong" | head -n 20 > "$scratch/errors"
            [ "$verdict" != passed ] || : > "$scratch/out"
            [ "$verdict" = passed ]
            report $? "$name"
        fi
    done < "$scratch/files"
}

[ -s "$scratch/files" ] || skip_all 'there are no scenarios'
for schedule in threads lazy random:1 random:2; do
    report_all "$schedule" no --schedule "$schedule"
done
report_all cuda-12 yes --libcuda "$top_builddir/lib/shim/cuda-12/.libs/libcuda.so.1"
report_all cuda-13 no --libcuda "$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1"
echo "1..$number"
