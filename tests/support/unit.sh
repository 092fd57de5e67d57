#!/bin/sh
# unit.sh TEST...: runs tests of this build, and prints those that failed and how many passed; `make unit` starts it. CASE is the name
# of one test, or of one of Check's cases: unit.sh runs that alone.
set -u
. ./tests/environment.sh

# choose TEST: tells a Check program what to run, as Check knows cases and cx_test_chosen knows tests.
choose()
{
    unset CK_RUN_CASE CTXRT_TEST_NAME
    [ -n "${CASE:-}" ] || return 0
    if grep -q "START_TEST($CASE)" "$top_srcdir/$1.c" 2> /dev/null; then
        export CTXRT_TEST_NAME="$CASE"
    else
        export CK_RUN_CASE="$CASE"
    fi
}

# play TEST: what it says, and how it ended.
play()
{
    case $1 in
    *.sh) "$top_srcdir/$1" ;;
    *) "./$1" ;;
    esac
    echo "exit status $?"
}

failed=0 found=0
for test; do
    choose "$test"
    said=$(play "$test" | awk -v test="$test" '
        /^ok .*# SKIP/ { skipped++; print > "/dev/stderr"; next }
        /^ok/ { passed++; next }
        /^not ok/ { failed++ }
        /^1\.\.0 # SKIP/ { skipped++ }
        /^exit status / { if ($3 != 0) { failed++; print "not ok - " test " ended with " $0 > "/dev/stderr" }; next }
        /^1\.\.[1-9]/ || /^1\.\.0$/ { next }
        { print > "/dev/stderr" }
        END { print passed + 0, failed + 0, skipped + 0 }')
    case $said in
    '0 0 0') continue ;;
    *' 0 '*) ;;
    *) failed=1 ;;
    esac
    found=1
    echo "$said" | awk -v test="$test" '{ printf "%s: %d passed, %d failed, %d skipped\n", test, $1, $2, $3 }'
done
[ $found -eq 1 ] || { echo "unit: there is no test or case ${CASE:-} in $*" >&2; exit 2; }
exit $failed
