#!/bin/sh
# No line of C is longer than .clang-format says, but for a test's name that no line is long enough for.
set -u
. "$top_srcdir/tests/support/tap.sh"

too_long() # folder...
{
    find "$@" \( -name '*.[ch]' -o -name '*.hpp' -o -name '*.cc' \) -exec awk \
        'length > 100 && !/^(START_TEST\(| *)[a-z0-9_]*\);?$/ { print FILENAME ":" FNR ": " length " columns" }' {} +
}

echo 1..2
(cd "$top_srcdir" && too_long lib include tools bench samples tests) > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'no_line_of_c_is_longer_than_100_columns'

# This test itself.
mkdir "$scratch/lib"
printf '/* %0100d */\n' 0 > "$scratch/lib/planted.c"
too_long "$scratch/lib" > "$scratch/out"
[ "$(cat "$scratch/out")" = "$scratch/lib/planted.c:1: 106 columns" ]
report $? 'a_longer_line_is_found'
