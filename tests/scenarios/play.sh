#!/bin/sh
# Every scenario on the embedded driver and on the newer stand-in under each schedule, and on the older one. One that is
# skipped on the embedded driver tests nothing there, so it counts as failed. The newer stand-in lacks nothing but a watched host.
set -u
. "$top_srcdir/tests/support/tap.sh"
play="$top_builddir/ctxrt play --timeout 60"
CTXRT_LOG=error
export CTXRT_LOG

find "$top_srcdir/tests/scenarios" -name '*.scn' | LC_ALL=C sort > "$scratch/files"

# One line of TAP for each scenario of what ctxrt play says about all of them in one go.
report_all() # what, why it may be skipped: a pattern, option...
{
    what=$1 may_skip=$2
    shift 2
    xargs $play "$@" < "$scratch/files" > "$scratch/said" 2> "$scratch/wrong"
    "${AWK:-awk}" -v what="$what" -v folder="$top_srcdir/tests/scenarios/" -v may_skip="$may_skip" -v number="$number" '
        FILENAME ~ /files$/ { files[++count] = $0; next }
        match($0, /\.scn: (passed|FAILED|skipped)$/) { verdict[substr($0, 1, RSTART + 3)] = substr($0, RSTART + 6); next }
        match($0, /\.scn: /) && !(substr($0, 1, RSTART + 3) in why) { why[substr($0, 1, RSTART + 3)] = substr($0, RSTART + 6) }
        END {
            for (i = 1; i <= count; i++) {
                file = files[i]
                name = (++number) " - " what ": " substr(file, length(folder) + 1)
                if (verdict[file] == "passed")
                    print "ok " name
                else if (verdict[file] == "skipped" && why[file] ~ may_skip)
                    print "ok " name " # SKIP " why[file]
                else
                    print "not ok " name (verdict[file] == "skipped" ? " (skipped: " why[file] ")" : "")
            }
        }' "$scratch/files" "$scratch/said"
    number=$((number + $(wc -l < "$scratch/files")))
    sed 's/^/# /' "$scratch/wrong"
}

[ -s "$scratch/files" ] || skip_all 'there are no scenarios'
# Where sanitizers watch, each line of the driver once: the stand-ins are the same code behind other entries.
schedules='threads lazy random:1' more=random:2 older=yes newer='threads lazy random:1'
if [ -n "$SANITIZERS" ] && [ "$CTXRT_TEST_EXTENT" != soak ]; then
    schedules=threads more='' older='' newer=threads
    [ "$SANITIZERS" != thread ] || newer=''
fi
for schedule in $schedules $more; do
    report_all "$schedule" "^never$" --schedule "$schedule"
done
[ -z "$older" ] || report_all 'cuda-12, threads' . --schedule threads \
    --driver="libcuda=$top_builddir/lib/shim/cuda-12/.libs/libcuda.so.1"
for schedule in $newer; do
    report_all "cuda-13, $schedule" "host[.](refuse|held) is not" --schedule "$schedule" \
        --driver="libcuda=$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1"
done
echo "1..$number"
