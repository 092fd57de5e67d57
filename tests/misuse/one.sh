#!/bin/sh
# Compiles one program of tests/misuse, runs it under `ctxrt check`, and compares the report with its head. Nothing is
# printed if they agree. run.sh calls it with the environment that it needs.
set -u
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

options=$(head_says options)
[ "$kind" != clean ] || options="$options --leaks --notes"
for schedule in $(head_says driver | grep . || echo threads); do
    status=0
    # shellcheck disable=SC2086 # options are words
    CTXRT_EMU_SCHEDULE=$schedule "$top_builddir/ctxrt" check --json "$place/report.json" $options "$place/$name" \
        > "$place/out" 2>&1 || status=$?
    if ! "$top_builddir/tests/misuse/judge" "$source" "$place/report.json" "$status" > "$place/differences" 2>&1; then
        echo "under the schedule $schedule:"
        cat "$place/differences" "$place/out"
    fi
    rm -f "$place/report.json"
done
