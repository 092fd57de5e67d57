#!/bin/sh
# unit.sh TEST...: runs tests of this build, and prints those that failed and how many passed; `make unit` starts it. CASE is the name
# of one test, or of one of Check's cases: unit.sh runs that alone. What a test that passes says beside is shown if it is the only one.
set -u
. ./tests/environment.sh
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# choose TEST: tells a Check program what to run: cx_test_add knows tests, and Check itself its cases.
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
    play "$test" 2> "$scratch/errors" | awk -v test="$test" '
        /^ok .*# SKIP/ || /^1\.\.0 # SKIP/ { skipped++; print; next }
        /^ok / { passed++; next }
        /^not ok / { failed++ }
        /^1\.\.[0-9]+$/ { next }
        /^exit status / {
            if ($3 != 0) {
                failed++
                print "not ok - the program ended with exit status " $3
            }
            next
        }
        { print }
        END {
            if (passed + failed + skipped > 0)
                printf "%s: %d passed, %d failed, %d skipped\n", test, passed, failed, skipped
        }' > "$scratch/said"
    [ -s "$scratch/said" ] || continue
    found=1
    if grep -q '^not ok ' "$scratch/said"; then
        failed=1
        cat "$scratch/errors"
    elif [ $# -eq 1 ]; then
        cat "$scratch/errors"
    fi
    cat "$scratch/said"
done
[ $found -eq 1 ] || { echo "unit: there is no test or case ${CASE:-} in $*" >&2; exit 2; }
exit $failed
