#!/bin/sh
# The tests of the runtime once more where nothing runs before something waits for it: a wait that the runtime itself
# forgets shows here. What is mapped and moved also where work runs in any legal order.
set -u
. "$top_srcdir/tests/support/tap.sh"
tests='allocator copy event mapped memory raw stack sticky stream stream_order'

echo 1..11

passes_under() # schedule, test
{
    CTXRT_EMU_SCHEDULE=$1 CTXRT_LOG=error "$top_builddir/tests/runtime/check_$2" > "$scratch/tap" 2> /dev/null &&
        grep -q '^ok' "$scratch/tap" && ! grep '^not ok' "$scratch/tap" > "$scratch/out"
    report $? "check_${2}_passes_under_${1%:*}"
}

for test in $tests; do
    passes_under lazy "$test"
done
passes_under random:7 mapped
