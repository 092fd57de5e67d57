#!/bin/sh
# Compiles one program of tests/misuse, runs it under `ctxrt check`, and compares the report with its head and, if it is the
# first planted program of its kind, with the text that docs/check shows. Nothing is printed if they agree. run.sh calls it
# with the environment that it needs. In $scratch/KIND/NAME it leaves `plain`, the report as docs/check shows it, and
# `compared` if it has compared that. With compare_reports=no it does not.
set -u
. "$top_srcdir/tests/misuse/report.sh"
source=$1
kind=$(basename "$(dirname "$source")")
name=$(basename "$source" .c)
place=$scratch/$kind/$name
mkdir -p "$place" || exit 99

head_says() # key
{
    sed -n -e '/^ \*\//q' -e "s/^ \\* $1: *//p" "$source"
}

# Their call stacks are what findings are compared by: no optimisation, no calls at the ends of functions.
# shellcheck disable=SC2086 # the compiler and its options are words
compile() # options...
{
    $CC -std=gnu11 -O0 -g -Wall -Wextra -Werror -DMISUSE_OWN_DECLARATIONS ${SANITIZERS:+-fsanitize=$SANITIZERS} \
        "-I$top_srcdir/tests/misuse" "$@"
}

library=$top_builddir/lib/shim/cuda-12/.libs
module=$(head_says module)
if [ -n "$module" ]; then
    [ "$module" != yes ] || module=$name.so
    module=$place/$module
    compile -DMODULE -shared -fPIC "$source" -o "$module" "-L$library" -l:libcuda.so.1 || exit 1
fi
# shellcheck disable=SC2016 # $ORIGIN is for the loader
compile "$source" -o "$place/$name" $module "-L$library" -l:libcuda.so.1 -Wl,-rpath,'$ORIGIN' -pthread || exit 1

is_shown() # the page shows this program, and its report can be compared here
{
    case $kind/$name in planted/*-1) [ -z "$(not_comparable)" ] ;; *) false ;; esac
}

compare_with_page()
{
    plain_report "$name" "$place/out" > "$place/plain"
    [ "${compare_reports:-yes}" = yes ] || return 0
    shown_report "$name" > "$place/shown" && : > "$place/compared"
    diff "$place/shown" "$place/plain" && return
    echo "(the lines with > are the report, those with < what $(page_of "$name") shows: docs/check_kinds.sh --renew)"
    return 1
}

# The first two schedules, unless there is time for all.
schedules()
{
    case $CTXRT_TEST_EXTENT in
    short) head_says driver | cut -d ' ' -f 1-2 ;;
    *) head_says driver ;;
    esac | grep . || echo threads
}

options=$(head_says options)
[ "$kind" != clean ] || options="$options --leaks --notes"
for schedule in $(schedules); do
    status=0
    # The program's own output goes elsewhere, so that it does not stand among the lines of the report.
    # shellcheck disable=SC2016,SC2086 # $0 and $1 are for the inner shell; options are words
    CTXRT_EMU_SCHEDULE=$schedule "$top_builddir/ctxrt" check --json "$place/report.json" $options \
        sh -c 'exec "$0" > "$1" 2>&1' "$place/$name" "$place/printed" > "$place/out" 2>&1 || status=$?
    agrees=yes
    "$top_builddir/tests/misuse/judge" "$source" "$place/report.json" "$status" > "$place/differences" 2>&1 || agrees=no
    ! is_shown || compare_with_page >> "$place/differences" 2>&1 || agrees=no
    if [ $agrees = no ]; then
        echo "under the schedule $schedule:"
        cat "$place/differences" "$place/printed" "$place/out"
    fi
    rm -f "$place/report.json"
done
