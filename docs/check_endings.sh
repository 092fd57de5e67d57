#!/bin/sh
# The tests that docs/endings.md names are the tests of endings that there are.
document=$top_srcdir/docs/endings.md
named=$(mktemp) || exit 99
there=$(mktemp) || exit 99
trap 'rm -f "$named" "$there"' EXIT

sed -n 's/^|.*| `\([a-z0-9_]*\)` |$/\1/p' "$document" | sort >"$named"
sed -n 's/^START_TEST(\([a-z0-9_]*\)).*/\1/p' "$top_srcdir"/tests/runtime/check_ending_*.c | sort >"$there"

echo 1..3
if [ -s "$there" ] && [ -z "$(uniq -d "$named")" ]; then
    echo 'ok 1 - each test is named once'
else
    echo 'not ok 1 - each test is named once'
    uniq -d "$named" | sed 's/^/# /'
fi
if [ -z "$(comm -23 "$named" "$there")" ]; then
    echo 'ok 2 - each test that is named is there'
else
    echo 'not ok 2 - each test that is named is there'
    comm -23 "$named" "$there" | sed 's/^/# /'
fi
if [ -z "$(comm -13 "$named" "$there")" ]; then
    echo 'ok 3 - each test of endings is named'
else
    echo 'not ok 3 - each test of endings is named'
    comm -13 "$named" "$there" | sed 's/^/# /'
fi
