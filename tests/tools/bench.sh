#!/bin/sh
# ctxrt bench: each bench by name and in each form, the tables of docs/performance.md, plots. Nothing is timed.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
[ -x "$top_builddir/bench/bench_stack" ] || skip_all 'the benches are not built'
names='alloc check count cudart graph infinirt kernels plan ptx stack trace'
TMPDIR=$scratch
export TMPDIR

bench() # argument...
{
    run timeout 300 "$ctxrt" bench "$@"
}

bench
[ "$status" -eq 0 ] && [ "$(sed -n 's/^\([a-z]*\)  .*/\1/p' "$scratch/out" | tr '\n' ' ')" = "$names " ] &&
    grep -q '^Plots are drawn by .*gnuplot' "$scratch/out"
report $? 'without_a_name_the_benches_are_listed'
for name in $names; do
    grep -q "^\\.It Cm $name\$" "$top_srcdir/docs/man/ctxrt-bench.1" || echo "$name"
done > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'the_manual_page_has_each'

# ---- forms ----

bench --quick stack
[ "$(grep -cE '^[a-z_,+ 0-9]*( +-?[0-9]+\.[0-9]){6}$' "$scratch/out")" -eq 8 ] && printed '^operation  *bare, best ns'
report $? 'a_bench_prints_a_table'
bench stack --quick --rounds 2 --count 10
printed '^push + pop '
report $? 'arguments_behind_the_name_are_its_own'
bench --all --quick --json
cp "$scratch/out" "$scratch/all.json"
if command -v python3 > /dev/null; then
    [ "$status" -eq 0 ] && python3 -c '
import json, sys
benches = json.load(open(sys.argv[1]))
assert [each["bench"] for each in benches] == sys.argv[2].split(), benches
for bench in benches:
    assert bench["driver"] == "emulated" and bench["quick"] and bench["processors"] > 0
    assert len(bench["tables"]) >= 1, bench
    for table in bench["tables"]:
        assert len(table["rows"]) >= 1 and table["table"], table
        assert len({row["name"] for row in table["rows"]}) == len(table["rows"]), table
        for row in table["rows"]:
            figures = [value for value in row.values() if not isinstance(value, str)]
            assert bench["bench"] == "alloc" or len(figures) >= 1, row' "$scratch/all.json" "$names" 2> "$scratch/errors"
    report $? 'all_of_them_make_one_json'
else
    skip 'all_of_them_make_one_json' 'python3 is not installed'
fi

# Rows and headings of the tables of the page are what the benches print; figures are not compared. A library of malloc
# that is not installed has no figures, and the driver's own calls are left out of quick runs.
without_figures()
{
    sed -e '/^| /{' -e 's/ [-0-9][-0-9.]* / N /g' -e 's/ [-0-9][-0-9.]* / N /g' -e 's/N [/] N/N/g' -e '}' "$1"
}
bench --all --quick --markdown
cp "$scratch/out" "$scratch/all.md"
run "${AWK:-awk}" -f "$top_srcdir/bench/performance.awk" "$scratch/all.md" "$top_srcdir/docs/performance.md"
[ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ]
report $? 'each_mark_of_the_page_has_its_table'
without_figures "$scratch/out" > "$scratch/new"
without_figures "$top_srcdir/docs/performance.md" | sed "/^| cuMem/d" > "$scratch/old"
# The library of malloc that this machine lacks comes last.
sort "$scratch/new" > "$scratch/new.sorted"
sort "$scratch/old" | diff - "$scratch/new.sorted" > "$scratch/out"
report $? 'the_tables_of_the_page_are_what_the_command_prints'
[ "$(grep -c '^<!-- bench ' "$top_srcdir/docs/performance.md")" -ge 8 ]
report $? 'the_page_has_marks'
sed 's/^<!-- bench stack: calls/<!-- bench stack: falls/' "$top_srcdir/docs/performance.md" > "$scratch/page.md"
run "${AWK:-awk}" -f "$top_srcdir/bench/performance.awk" "$scratch/all.md" "$scratch/page.md"
[ "$status" -eq 1 ] && grep -q 'bench stack: falls --> was not printed' "$scratch/errors"
report $? 'a_mark_without_a_table_is_said'

# ---- plots ----

mkdir "$scratch/bin" "$scratch/none"
for tool in ls sed cat; do # for libtool's start of the command
    ln -s "$(command -v $tool)" "$scratch/none"
done
cat > "$scratch/bin/gnuplot" << 'END'
#!/bin/sh
cat > "$PLOT_SCRIPT"
exit "${PLOT_STATUS:-0}"
END
chmod +x "$scratch/bin/gnuplot"
PLOT_SCRIPT=$scratch/script
export PLOT_SCRIPT
run env PATH="$scratch/bin:$PATH" "$ctxrt" bench --plot "$scratch/plot.svg" --quick stack
[ "$status" -eq 0 ] && [ ! -s "$scratch/out" ] && grep -q "^set output '$scratch/plot.svg'\$" "$scratch/script" &&
    grep -q '^name bare_best_ns ctxrt_best_ns$' "$scratch/script" && grep -q '^"push + pop" [0-9.]* [0-9.]*$' "$scratch/script"
report $? 'a_plot_has_the_best_times_of_both_sides'
run env PATH="$scratch/bin:$PATH" PLOT_STATUS=1 "$ctxrt" bench --plot "$scratch/plot.svg" --quick stack
[ "$status" -eq 1 ] && grep -q 'gnuplot could not draw' "$scratch/errors"
report $? 'a_plot_that_gnuplot_cannot_draw_is_a_failure'
run env PATH="$scratch/none" "$ctxrt" bench --plot "$scratch/plot.svg" --quick stack
failed_with 1 'gnuplot is not installed'
report $? 'without_gnuplot_there_is_no_plot'
run env PATH="$scratch/none" "$ctxrt" bench
printed '^Plots are drawn by gnuplot, which is not installed$'
report $? 'and_the_list_says_so'
if command -v gnuplot > /dev/null; then
    bench --plot "$scratch/plot.svg" --quick stack
    [ "$status" -eq 0 ] && grep -q '<svg' "$scratch/plot.svg" && grep -q 'push + pop' "$scratch/plot.svg"
    report $? 'gnuplot_draws_it'
else
    skip 'gnuplot_draws_it' 'gnuplot is not installed'
fi

# ---- failures and wrong use ----

run env CTXRT_FOREIGN=nobody "$ctxrt" bench --all --quick
[ "$status" -eq 1 ] && grep -q 'the bench stack failed' "$scratch/errors" && grep -q '^bench ptx: ' "$scratch/out" &&
    grep -q '^float FMA ' "$scratch/out"
report $? 'a_bench_that_fails_is_said_and_the_others_run'
while IFS='|' read -r what words wanted message; do
    # shellcheck disable=SC2086
    bench $words
    [ "$status" -eq "$wanted" ] && grep -q -- "$message" "$scratch/errors"
    report $? "wrong_use:_$what"
done << 'END'
an_unknown_bench|stock|2|there is no bench 'stock'
all_and_a_name|--all stack|2|name a bench, or say --all
a_form_without_a_bench|--json|2|name a bench, or say --all
a_plot_without_a_bench|--plot plot.svg|2|it draws one bench
a_plot_of_json|--plot plot.svg --json stack|2|it draws one bench
an_option_that_the_bench_lacks|stack --faster|2|^usage: bench_stack
a_number_that_is_none|stack --rounds 0|2|0 is not a number from 1 to
a_driver_that_is_none|ptx --driver cpu|2|--driver cpu: it can be emulated or libcuda
END
echo "1..$number"
