#!/bin/sh
# Every public function appears in every_call.c.
echo 1..1
missing=
for name in $(awk 'BEGIN { RS = ";" } /CTXRT_API/ { sub(/.*CTXRT_API/, ""); if (match($0, /ctxrt_[a-z0-9_]*\(/)) print substr($0, RSTART, RLENGTH - 1) }' "$top_srcdir"/include/ctxrt/*.h); do
    grep -q "$name[(,]" "$top_srcdir/tests/runtime/every_call.c" || missing="$missing $name"
done
if [ -z "$missing" ]; then
    echo "ok 1 - every public function is called where nothing can do its work"
else
    echo "not ok 1 - not called:$missing"
fi
