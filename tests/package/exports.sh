#!/bin/sh
# libctxrt.so exports what the public headers declare, and nothing else. The symbol map is not asked.
set -u
. "$top_srcdir/tests/support/tap.sh"
library=$top_builddir/lib/.libs/libctxrt.so

# The names behind CTXRT_API: the last word before the first parenthesis.
declared() # header...
{
    cat "$@" | grep -v '^#' | tr '\n' ' ' | awk -v RS='CTXRT_API ' 'NR > 1 {
        sub(/[(;].*/, "")
        gsub(/[*]/, " ")
        print $NF
    }' | LC_ALL=C sort
}

# Without the node of the symbol map, which is no function.
exported() # library
{
    nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort
}

echo 1..5
declared "$top_srcdir"/include/ctxrt/*.h > "$scratch/declared"
exported "$library" > "$scratch/exported"

[ "$(wc -l < "$scratch/declared")" -ge 50 ] && ! grep -qv '^ctxrt_[a-z0-9_]*$' "$scratch/declared"
report $? 'the_headers_declare_functions'
uniq -d "$scratch/declared" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_function_is_declared_once'
LC_ALL=C comm -23 "$scratch/declared" "$scratch/exported" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_declared_function_exists'
LC_ALL=C comm -13 "$scratch/declared" "$scratch/exported" > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'nothing_else_is_exported'
nm -D --defined-only "$library" | grep -v '@@CTXRT_0$\| A CTXRT_0$' > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'every_symbol_has_its_version'
