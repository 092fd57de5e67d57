#!/bin/sh
# Every public function appears in check_arguments.c.
echo 1..1
missing=
for name in $(awk 'BEGIN { RS = ";" } /CTXRT_API/ { sub(/.*CTXRT_API/, ""); if (match($0, /ctxrt_[a-z0-9_]*\(/)) print substr($0, RSTART, RLENGTH - 1) }' "$top_srcdir"/include/ctxrt/*.h); do
    grep -q "$name(" "$top_srcdir/tests/runtime/check_arguments.c" "$top_srcdir/tests/support/fixture.c" || missing="$missing $name"
done
if [ -z "$missing" ]; then
    echo "ok 1 - every public function is called with bad arguments"
else
    echo "not ok 1 - not called with bad arguments:$missing"
fi
