#!/bin/sh
# ctxrt check finds nothing in scenarios that plan no error: all of them in the soak extent, else one of four. They leave
# contexts on the stacks of their threads, which is not told here.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
standin=$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1
folder=$top_srcdir/tests/scenarios
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA

"$ctxrt" check --help > /dev/null 2>&1 || skip_all 'there is no ctxrt check here'

# What a scenario does on purpose, and is told.
misuse_of() # scenario
{
    case $1 in
    primary/set_flags_active.scn) echo PRIMARY-FLAGS ;;               # sets flags of a context that is active
    life/exit_early.scn) echo PROCESS-TEARDOWN ;;                     # calls the driver as the process exits
    peers/copy_waits_for_the_target.scn) echo ORDER-COPY ;;           # copies what another stream fills
    work/streams_of_threads.scn) echo CURRENT-DESTROYED-ELSEWHERE ;;  # destroys a context that a thread has current
    esac
}

# Each step succeeds, has to wait or is not ready, and none asks for what only the player's own driver has.
(cd "$folder" && find . -name '*.scn' | sed 's,^\./,,' | LC_ALL=C sort | xargs "${AWK:-awk}" '
    /host\.(held|refuse)/ { wrong[FILENAME] = 1 }
    { sub(/#.*/, "") }
    match($0, /->/) {
        split(substr($0, RSTART + 2), words, " ")
        count = split(words[1], results, "|")
        for (i = 1; i <= count; i++)
            if (results[i] !~ /^(SUCCESS|NOT_READY|WAITS)$/)
                wrong[FILENAME] = 1
    }
    END {
        for (i = 1; i < ARGC; i++)
            if (!(ARGV[i] in wrong))
                print ARGV[i]
    }') > "$scratch/all"
[ "$(wc -l < "$scratch/all")" -ge 80 ]
report $? 'there_are_such_scenarios'

schedules=threads
if [ "$CTXRT_TEST_EXTENT" = soak ]; then
    mv "$scratch/all" "$scratch/chosen"
    schedules='threads lazy random:1'
else
    { sed -n '1~4p' "$scratch/all"; echo primary/set_flags_active.scn; } | LC_ALL=C sort -u > "$scratch/chosen"
fi
for schedule in $schedules; do
    while read -r scenario; do
        run timeout 120 "$ctxrt" check --ignore STACK-LEFT --ignore STACK-CREATE-LEFT \
            "$ctxrt" play --timeout 60 --schedule "$schedule" --driver="libcuda=$standin" "$folder/$scenario" < /dev/null
        found=$(sed -n 's/^ctxrt check: \(error\|warning\) \([A-Z-]*\): .*/\2/p' "$scratch/errors" | LC_ALL=C sort -u | xargs)
        [ "$status" -eq 0 ] && grep -q 'passed$' "$scratch/out" && [ "$found" = "$(misuse_of "$scenario")" ]
        report $? "$schedule:_$scenario"
    done < "$scratch/chosen"
done
echo "1..$number"
