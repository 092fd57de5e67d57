#!/bin/sh
# A large program comes to a driver through the stand-in as without it: whatever symbol and name it asks for, in children too. The
# driver is a stand-in with exports that ctxrt does not know.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
larger=$top_builddir/tests/standin/.libs/larger.so
loads=$top_builddir/tests/standin/loads
export TMPDIR="$scratch/tmp"
mkdir "$TMPDIR"

# Where sanitizers watch, one version of eight.
chosen=p
[ -z "$SANITIZERS" ] || [ "$CTXRT_TEST_EXTENT" = soak ] || chosen='1~8p'

rows()
{
    sed -n 's/^CX_EXPORT(\(.*\))$/\1/p' "$top_srcdir/lib/shim/exports.def"
}
{
    rows | awk -F ', *' '{ print "symbol " $1 $2 $3 }'
    for symbol in cuOfNobodyFlag cuOfNobodySum cuOfNobodySwap cuOfNobodyCall_v3 cuOfNobodyAtAll cudbgGetAPI malloc; do
        echo "symbol $symbol"
    done
    { rows | awk -F ', *' '{ print $1 }'; echo cuOfNobodySum; echo cuOfNobodyCall; echo cuOfNobodyAtAll; echo cuInit_v2; } | sort -u | sed 's/^/name /'
    { rows | awk -F ', *' '{ print $4 }'; echo 0; echo 1000; echo 12090; echo 20000; } | sort -nu | sed -n "$chosen" | sed 's/^/version /'
} > "$scratch/list"

load() # output, command...
{
    to=$scratch/$1
    shift
    status=0
    "$@" < "$scratch/list" > "$to" 2> "$scratch/errors" || status=$?
}

mkdir "$scratch/bare"
ln -s "$larger" "$scratch/bare/libcuda.so.1"
load bare.txt env LD_LIBRARY_PATH="$scratch/bare" "$loads"
cp "$scratch/bare.txt" "$scratch/out"
[ "$status" -eq 0 ] && [ "$(grep -c '^symbol .*: 1 1$' "$scratch/out")" -gt 600 ] &&
    grep -Eq '^name cuMemAlloc, flags 0, from [3-9][0-9]+: 0 cuMemAlloc_v2, 0 0 cuMemAlloc_v2, 0 cuMemAlloc_v2$' "$scratch/out" &&
    grep -qx 'swapped: 6 5 1' "$scratch/out" && [ "$(grep -c '^worker . .* ended with 0$' "$scratch/out")" -eq 8 ]
report $? 'a_program_that_loads_all_of_the_driver_finds_it'

for way in run "check --error-exitcode 0" "trace -o $scratch/trace.html"; do
    word=${way%% *}
    # shellcheck disable=SC2086 # words
    load "$word.txt" "$ctxrt" $way --driver "libcuda=$larger" "$loads"
    diff "$scratch/bare.txt" "$scratch/$word.txt" > "$scratch/out" && [ "$status" -eq 0 ]
    report $? "it_finds_the_same_under_ctxrt_$word"
done
load counted.txt "$ctxrt" run --report="$scratch/report" --driver "libcuda=$larger" "$loads"
diff "$scratch/bare.txt" "$scratch/counted.txt" > "$scratch/out" && [ "$status" -eq 0 ]
report $? 'and_with_a_report'
grep -q ' cuDeviceGetCount$' "$scratch/report"
report $? 'while_its_calls_pass_the_stand_in'
[ -z "$(ls -A "$TMPDIR")" ]
report $? 'nothing_is_left_behind'

run "$ctxrt" run --driver "libcuda=$larger" sh -c 'exit 37'
[ "$status" -eq 37 ]
report $? 'the_exit_status_is_the_programs'
run env TMPDIR=tmp sh -c 'cd "$1" && exec "$2" run --driver "libcuda=$3" sh -c "cd / && exec \"\$1\" < \"\$2\"" sh "$4" "$1/list"' \
    sh "$scratch" "$ctxrt" "$larger" "$loads"
diff "$scratch/bare.txt" "$scratch/out" > "$scratch/difference" && [ "$status" -eq 0 ]
report $? 'a_relative_TMPDIR_serves_a_program_that_goes_elsewhere'
echo "1..$number"
