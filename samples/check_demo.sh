#!/bin/sh
# The demo shows its best on one screen: every thread in mid-flight, a finding with its file and line, and pages that are there.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -x "$top_builddir/samples/pipeline/pipeline" ] || skip_all 'the pipeline is not built'
[ -z "${SANITIZERS-}" ] || skip_all 'its mistake is a program without sanitizers'
seq 1 500000 > "$scratch/numbers"
mkdir "$scratch/made"

run env DEMO="$scratch/made" "$top_srcdir/samples/demo.sh" "$top_builddir" "$scratch/numbers"
[ "$status" -eq 0 ] && printed '^the same bytes, the same histogram$'
report $? 'the_demo_sends_a_file_through_the_devices'
[ "$(grep -Ec '^  thread [0-9]+: cuda:[0-3] above cuda:[0-3]$' "$scratch/out")" -eq 8 ]
report $? 'all_eight_threads_are_in_mid_flight'
line=$(sed -n 's/^  called by thread .*, mistake\.c:\([0-9]*\) in main()$/\1/p' "$scratch/out")
printed '^ctxrt check: error ORDER-HOST: ' && sed -n "${line:-1}p" "$top_srcdir/samples/lessons/08-what-synchronises/mistake.c" | grep -q cuMemcpyHtoD
report $? 'check_names_the_line_of_the_planted_mistake'
[ "$(cat "$scratch/out" "$scratch/errors" | wc -l)" -le 40 ] && [ ! -s "$scratch/errors" ]
report $? 'it_has_at_most_40_lines'
grep -q '<svg ' "$(sed -n 's/^ *\([^ ]*\.svg\) .*/\1/p' "$scratch/out")" &&
    grep -q 'cuMemcpyPeerAsync' "$(sed -n 's/^ *\([^ ]*\.html\) .*/\1/p' "$scratch/out")"
report $? 'the_pages_that_it_names_are_there'
[ "$(grep -c '>thread [0-9]*<' "$scratch/made/stacks.svg")" -eq 8 ] && [ "$(grep -c 'class="box frame"' "$scratch/made/stacks.svg")" -eq 16 ]
report $? 'the_picture_has_two_frames_of_each_thread'
run env DEMO="$scratch/made" "$top_srcdir/samples/demo.sh" "$top_builddir" "$scratch/none"
[ "$status" -ne 0 ] && grep -q 'cannot read .*none: No such file' "$scratch/errors"
report $? 'a_file_that_is_not_there_is_told'
echo "1..$number"
