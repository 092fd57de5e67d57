#!/bin/sh
# bench_alloc runs, its traces are the published ones, and no block overlaps another. Nothing is timed.
set -u
. "$top_srcdir/tests/support/tap.sh"
bench=$top_builddir/bench/bench_alloc
[ "$SANITIZERS" != thread ] || skip_all 'ThreadSanitizer lets no child of a process with threads start more of them'

echo 1..9

run "$bench" --measure trace
printed '^  *gpu  *1000002  *10050.*  *53\.667$' && printed '^  *small  *1000002 .* 1\.241$' &&
    printed '^  *train  *1000920 .* 0\.957$'
report $? 'the_synthetic_traces_have_the_published_peaks'
printed '^  *hta  *26770 ' && printed '^  *minimalloc A  *308 ' && printed '^  *minimalloc E  *430 '
report $? 'the_recorded_traces_are_read'

run "$bench" --verify --count 600
[ "$status" -eq 0 ] && [ "$(grep -c 'no block lost its contents$' "$scratch/out")" -eq 4 ]
report $? 'no_block_overlaps_another'

run "$bench" --count 200 --rounds 1 --trace small
printed '^  *small  *ctxrt object ' && printed '^  *small alloc  *ctxrt object ' &&
    printed '^  *small, 1.10 x peak  *ctxrt object ' && printed '^capacity '
report $? 'every_measure_is_taken'
run "$bench" --count 200 --rounds 1 --trace train --fast --json
if command -v python3 > /dev/null; then
    [ "$status" -eq 0 ] && python3 -c '
import json, sys
tables = {table["table"]: table["rows"] for table in json.load(open(sys.argv[1]))["tables"]}
taken = {name for name, rows in tables.items() if any(row["subject"] == "ctxrt raw" for row in rows)}
assert {"one", "two", "handing", "latency"} <= taken, taken
assert all(row["cpu_best_ns"] >= 0 for row in tables["one"])' "$scratch/out" 2> "$scratch/errors"
    report $? 'the_json_can_be_read'
else
    skip 'the_json_can_be_read' 'there is no python3'
fi

run "$bench" --count 300 --rounds 1 --measure many
printed '^  *100, 300 live  *ctxrt direct, CPU ' && printed '^  *100, 300 live  *ctxrt direct, GPU '
report $? 'direct_allocations_are_timed_beside_few_and_many_blocks'
run "$bench" --rounds 0
[ "$status" -eq 2 ] && grep -q '0 is not a number' "$scratch/errors"
report $? 'a_bad_number_is_wrong_use'
run "$bench" --faster
[ "$status" -eq 2 ] && grep -q '^usage' "$scratch/errors"
report $? 'an_unknown_option_is_wrong_use'
mkdir "$scratch/traces"
printf 'a,0,10\nf,0\nf,0\n' > "$scratch/traces/hta_df_index.csv"
run "$bench" --measure trace --count 100 --traces "$scratch/traces"
[ "$status" -eq 0 ] && grep -q 'hta_df_index.csv:3: the slot that is freed is empty' "$scratch/errors"
report $? 'a_trace_that_is_wrong_is_told_with_its_line'
