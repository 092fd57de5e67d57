#!/bin/sh
# The loop of CONTRIBUTING.md: no file of tests is left out, a test runs by its own name in the program that it shares, and
# tests/support/unit.sh says what failed.
set -u
. "$top_srcdir/tests/support/tap.sh"

: > "$scratch/out"
for file in "$top_srcdir"/tests/*/check_*.c; do
    name=${file#"$top_srcdir/"}
    grep -hqw "$name" "$top_srcdir"/tests/*/local.mk || echo "no local.mk has $name" >> "$scratch/out"
done
[ ! -s "$scratch/out" ]
report $? 'each_file_of_tests_is_in_a_program'

# files PROGRAM ARGUMENT...: whose tests it ran.
files()
{
    run "$@"
    sed -n 's/^ok .*\/\(check_[a-z_]*\)\.c:.*/\1/p' "$scratch/out" | sort -u | tr '\n' ' '
}
base=$top_builddir/tests/base
if [ -x "$base/checks_base" ]; then
    [ "$(files "$base/check_fork")" = 'check_fork ' ]
    report $? 'a_link_runs_the_file_of_its_name_alone'
    [ "$(files "$base/checks_base" section check_fork)" = 'check_fork check_section ' ]
    report $? 'arguments_name_files'
    [ "$(files "$base/checks_base")" = 'check_base check_fork check_section ' ]
    report $? 'a_program_by_its_own_name_runs_all_files'
    run "$base/checks_base" forks
    failed_with 2 'there is no test file forks$'
    report $? 'a_file_that_is_not_there_is_an_error'
else
    skip 'programs of many files' 'tests/base/checks_base is not built'
fi

# A build whose programs say what they are told.
mkdir -p "$scratch/build/tests/room"
: > "$scratch/build/tests/environment.sh"
cd "$scratch/build" || exit 99
program() # name; its text comes from the standard input
{
    { echo '#!/bin/sh' && cat; } > "tests/room/$1"
    chmod +x "tests/room/$1"
}
unit() # test...
{
    run sh "$top_srcdir/tests/support/unit.sh" "$@"
}
program check_good << 'WORDS'
echo a word of its own >&2
[ "${CK_RUN_CASE-}" = other ] && exit
printf 'ok 1 - a.c:case:first: Passed\nok 2 - a.c:case:second: Passed\n1..2\n'
WORDS
program check_bad << 'WORDS'
echo why it failed >&2
printf 'ok 1 - b.c:case:first: Passed\nnot ok 2 - b.c:case:second: 1 == 2\n1..2\n# failed at b.c:7: 1 == 2\n'
WORDS
program check_crash << 'WORDS'
echo 'ok 1 - c.c:case:first: Passed'
exit 3
WORDS

unit tests/room/check_good
[ $status -eq 0 ] && [ "$(cat "$scratch/out")" = 'a word of its own
tests/room/check_good: 2 passed, 0 failed, 0 skipped' ]
report $? 'tests_that_pass_are_counted'

unit tests/room/check_good tests/room/check_bad
[ $status -eq 1 ] && [ "$(cat "$scratch/out")" = 'tests/room/check_good: 2 passed, 0 failed, 0 skipped
why it failed
not ok 2 - b.c:case:second: 1 == 2
# failed at b.c:7: 1 == 2
tests/room/check_bad: 1 passed, 1 failed, 0 skipped' ]
report $? 'a_test_that_fails_is_shown_with_its_line_and_what_it_said'

unit tests/room/check_crash
[ $status -eq 1 ] && grep -q '^tests/room/check_crash: 1 passed, 1 failed' "$scratch/out"
report $? 'a_program_that_does_not_end_well_has_failed'

run env CASE=other sh "$top_srcdir/tests/support/unit.sh" tests/room/check_good
[ $status -eq 2 ] && grep -q 'there is no test or case other in tests/room/check_good' "$scratch/errors"
report $? 'a_case_that_is_not_there_is_an_error'
echo "1..$number"
