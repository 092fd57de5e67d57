#!/bin/sh
# The tests that docs/graphs.md names are there.
echo 1..1
missing=
named=$(sed -n 's/^|.*| `\([a-z0-9_]*\)` |$/\1/p' "$top_srcdir/docs/graphs.md")
for name in $named; do
    grep -q "^START_TEST($name)" "$top_srcdir"/tests/graph/check_*.c || missing="$missing $name"
done
if [ -n "$named" ] && [ -z "$missing" ]; then
    echo 'ok 1 - each test that docs/graphs.md names is there'
else
    echo "not ok 1 - not there:$missing"
fi
