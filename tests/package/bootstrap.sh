#!/bin/sh
# ./bootstrap: which jobs configure and test what, how it shows where it is, and what it says of tests that fail and are skipped.
# The tree here is bootstrap itself beside a configure and a make that only say what they were called for.
set -u
. "$top_srcdir/tests/support/tap.sh"

tree=$scratch/tree
mkdir -p "$tree/tests/emu" "$scratch/bin"
cp "$top_srcdir/bootstrap" "$tree/bootstrap"
cat > "$tree/configure" << 'END'
#!/bin/sh
echo "configure $*" >> "$CALLS"
touch Makefile
END
cat > "$scratch/bin/make" << 'END'
#!/bin/sh
[ "$1" = -C ] && folder=$2 && shift 2
case " $* " in
*' -n '*) printf 'echo "  CC      " one.lo;gcc\necho "  CC      " two.lo;gcc\ngcc three.c\n'; exit ;;
esac
echo "make $folder $*" | sed "s|$TREE/||" >> "$CALLS"
case " $* " in
*' check'*' '*) ;;
*) printf '  CC       one.lo\n  CC       two.lo\n'; exit "${BUILD_STATUS:-0}" ;;
esac
case " $* " in
*' check-programs '*) printf '  CC       one.lo\n  CC       two.lo\n'; exit "${BUILD_STATUS:-0}" ;;
esac
echo '# 2 test programs'
cat "$CHECK_LOG"
! grep -q '^FAIL' "$CHECK_LOG"
END
chmod +x "$tree/configure" "$scratch/bin/make"
cat > "$scratch/good" << 'END'
PASS: tests/emu/check_event 1 - first
SKIP: tests/emu/check_event 2 - second # SKIP no GPU
PASS: tests/tools/draw.sh 1 - it_draws
# TOTAL: 3
# PASS:  2
# SKIP:  1
# XFAIL: 0
# FAIL:  0
# XPASS: 0
# ERROR: 0
END
cat > "$scratch/bad" << 'END'
FAIL: tests/emu/check_event 1 - ../tests/emu/check_event.c:event:first: Assertion 'a == b' failed
PASS: tests/tools/draw.sh 1 - it_draws
FAIL: tests/tools/draw.sh 2 - it_draws_again
# PASS:  1
# SKIP:  0
# FAIL:  2
END
mkdir -p "$tree/tests/tools"
printf '#!/bin/sh\n\nreport $? '"'it_draws_again'\n" > "$tree/tests/tools/draw.sh"
mkdir -p "$tree/build/tests/emu" "$tree/build/tests/tools"
printf 'not ok 1 - first\n# failed at ../tests/emu/check_event.c:12: a == b\n1..1\n' > "$tree/build/tests/emu/check_event.log"
printf 'not ok 2 - it_draws_again\n# nothing was drawn\n' > "$tree/build/tests/tools/draw.log"

CALLS=$scratch/calls TREE=$tree CHECK_LOG=$scratch/good PATH=$scratch/bin:$PATH
export CALLS TREE CHECK_LOG PATH

bootstrap() # argument...
{
    : > "$CALLS"
    find "$tree/build" -name Makefile -exec rm {} +
    run "$tree/bootstrap" --no-install "$@"
}

bootstrap check
[ "$status" -eq 0 ] && [ "$(tail -n 1 "$scratch/out")" = '2 passed, 0 failed, 1 skipped' ]
report $? 'the_last_line_of_check_has_the_counts'
[ "$(grep -c '^configure' "$CALLS")" -eq 1 ] && ! grep -q sanitize "$CALLS" && [ "$(grep -c ' check-tree' "$CALLS")" -eq 1 ]
report $? 'check_runs_the_plain_tests_alone'
grep -qx 'bootstrap: building: compiling 2 of 2' "$scratch/errors" &&
    grep -qx 'bootstrap: plain: tests of 2 of 2 programs: 2 passed, 0 failed, 1 skipped' "$scratch/errors"
report $? 'it_says_how_much_was_compiled_and_tested'
[ "$(grep -c '^SKIP\|  .*SKIP' "$scratch/out")" -eq 0 ] && grep -q '1 skipped (--verbose says which, and why)$' "$scratch/out"
report $? 'skipped_tests_are_one_line'
bootstrap check --verbose
grep -qF '[plain] SKIP: tests/emu/check_event 2 - second # SKIP no GPU' "$scratch/out"
report $? 'and_each_is_told_where_that_is_asked_for'

bootstrap sanitize
[ "$status" -eq 0 ] && [ "$(tail -n 1 "$scratch/out")" = '4 passed, 0 failed, 2 skipped' ] &&
    [ "$(grep '^configure' "$CALLS" | grep -c -e '--enable-sanitizers=address,undefined ' -e '--enable-sanitizers=thread ')" -eq 2 ] &&
    [ "$(grep -c '^configure' "$CALLS")" -eq 2 ] && [ "$(grep -c ' check-sanitized' "$CALLS")" -eq 2 ]
report $? 'sanitize_builds_and_tests_with_both_kinds_of_sanitizers_and_nothing_else'
rm -f "$tree/build/Makefile"
bootstrap demo
grep -q ' demo-programs$' "$CALLS" && ! grep -q 'check' "$CALLS"
report $? 'the_demo_builds_what_it_shows'

run "$tree/bootstrap" --no-install check
[ "$(grep -c 'TEST_LDFLAGS=-Wl,--strip-debug' "$CALLS")" -eq 2 ]
report $? 'and_a_check_behind_it_still_links_tests_without_debug_information'

name='a_terminal_is_shown_one_line_that_changes'
if command -v script > /dev/null; then
    find "$tree/build" -name Makefile -exec rm {} +
    run script -qec "$tree/bootstrap --no-install check" /dev/null
    [ "$status" -eq 0 ] && grep -q "$(printf '\r')bootstrap: building: compiling 2 of 2" "$scratch/out"
    report $? "$name"
else
    skip "$name" 'script of bsdutils is not installed'
fi

# ---- failures ----

CHECK_LOG=$scratch/bad
bootstrap check
[ "$status" -eq 1 ] && [ "$(tail -n 1 "$scratch/out")" = '1 passed, 2 failed, 0 skipped' ]
report $? 'failed_tests_are_counted'
sed -n '/^failed:$/,$p' "$scratch/out" > "$scratch/told"
grep -q 'FAIL: tests/emu/check_event 1 - .*:event:first: ' "$scratch/told" &&
    grep -q '# failed at ../tests/emu/check_event.c:12: a == b$' "$scratch/told"
report $? 'a_failed_check_program_tells_test_and_line_at_the_end'
grep -q 'FAIL: tests/tools/draw.sh 2 - it_draws_again$' "$scratch/told" && grep -q ' at tests/tools/draw.sh:3$' "$scratch/told" &&
    grep -q '# nothing was drawn$' "$scratch/told"
report $? 'so_does_a_test_in_shell_with_what_it_said'
grep -q 'alone: make -C build check TESTS=tests/emu/check_event$' "$scratch/told" &&
    grep -q 'alone: make -C build check TESTS=tests/tools/draw.sh$' "$scratch/told"
report $? 'and_how_to_run_it_alone'
CHECK_LOG=$scratch/good
bootstrap check
[ "$status" -eq 0 ] && ! grep -q '^failed' "$scratch/out"
report $? 'the_next_run_tells_none_of_them'
BUILD_STATUS=2
export BUILD_STATUS
bootstrap check
[ "$status" -eq 1 ] && grep -q 'make failed; all of it is in .*/build/bootstrap.log' "$scratch/errors" && ! grep -q check-tree "$CALLS"
report $? 'nothing_is_tested_where_the_build_fails'
echo "1..$number"
