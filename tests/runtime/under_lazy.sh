#!/bin/sh
# The tests of the runtime once more where nothing runs before something waits for it: a wait that the runtime itself
# forgets shows here.
set -u
. "$top_srcdir/tests/support/tap.sh"
tests='allocator copy event memory raw stack sticky stream stream_order'

echo 1..9

for test in $tests; do
    CTXRT_EMU_SCHEDULE=lazy CTXRT_LOG=error "$top_builddir/tests/runtime/check_$test" > "$scratch/tap" 2> /dev/null &&
        grep -q '^ok' "$scratch/tap" && ! grep '^not ok' "$scratch/tap" > "$scratch/out"
    report $? "check_${test}_passes_under_lazy"
done
