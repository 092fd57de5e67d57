#!/bin/sh
# bench_graph runs to its end, and every row is there. Nothing is timed.
set -u
. "$top_srcdir/tests/support/tap.sh"
bench=$top_builddir/bench/bench_graph

echo 1..3

run "$bench" --rounds 1 --count 20 --nodes 10
[ "$status" -eq 0 ] && [ "$(grep -cE '( +[0-9]+\.[0-9]){4} +[0-9]+\.[0-9][0-9]$' "$scratch/out")" -eq 6 ] &&
    printed '^planning  *[0-9.]*$'
report $? 'every_row_is_printed'

run "$bench" --nodes 0
[ "$status" -eq 2 ] && grep -q '0 is not a number' "$scratch/errors"
report $? 'a_bad_number_is_wrong_use'
run "$bench" --faster
[ "$status" -eq 2 ] && grep -q '^usage' "$scratch/errors"
report $? 'an_unknown_option_is_wrong_use'
