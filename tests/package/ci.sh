#!/bin/sh
# .ci/run: one line of counts at the end, of all jobs, and an exit status that says whether any test failed.
set -u
. "$top_srcdir/tests/support/tap.sh"

echo 1..10
mkdir "$scratch/.ci"
cp "$top_srcdir/.ci/run" "$scratch/.ci/run"
printf '#!/bin/sh\n. "$(dirname "$0")/$2"\n' > "$scratch/bootstrap"
chmod +x "$scratch/bootstrap"
printf 'echo "  plain: 2 passed, 0 failed, 0 skipped"\necho "1200 passed, 0 failed, 3 skipped"\n' > "$scratch/check"
printf 'echo "40 passed, 0 failed, 2 skipped"\n' > "$scratch/sanitize"
printf 'echo "  [fuzz] skipped" >&2\necho "2 passed, 0 failed, 1 skipped"\n' > "$scratch/package"

run "$scratch/.ci/run"
[ "$status" -eq 0 ] && [ "$(tail -n 1 "$scratch/out")" = '1242 passed, 0 failed, 6 skipped' ]
report $? 'the_last_line_has_the_sum_of_all_jobs'
[ "$(grep -c '^[0-9]* passed' "$scratch/out")" -eq 1 ]
report $? 'there_is_one_such_line'
grep -q '^  plain: 2 passed' "$scratch/out" && grep -q 'fuzz. skipped' "$scratch/out"
report $? 'what_the_jobs_print_is_printed'

for job in check sanitize package; do
    cp "$scratch/$job" "$scratch/kept"
    printf 'echo "7 passed, 1 failed, 0 skipped"\nexit 1\n' > "$scratch/$job"
    run "$scratch/.ci/run"
    [ "$status" -eq 1 ] && tail -n 1 "$scratch/out" | grep -q '^[0-9]* passed, 1 failed, [0-9]* skipped$'
    report $? "a_failure_of_${job}_is_counted"
    printf 'printf "no compiler"\nexit 1\n' > "$scratch/$job"
    run "$scratch/.ci/run"
    [ "$status" -eq 1 ] && grep -q 'no compiler' "$scratch/out" &&
        tail -n 1 "$scratch/out" | grep -q '^[0-9]* passed, 1 failed, [0-9]* skipped$'
    report $? "a_${job}_that_ends_early_is_a_failure"
    cp "$scratch/kept" "$scratch/$job"
done
run sh -c 'cd / && "$1/.ci/run"' sh "$scratch"
[ "$status" -eq 0 ]
report $? 'it_runs_from_any_folder'
