#!/bin/sh
# libctxrt.so and libinfinirt.so export what their public headers declare, and nothing else. The symbol maps are not asked.
set -u
. "$top_srcdir/tests/support/tap.sh"
library=$top_builddir/lib/.libs/libctxrt.so
infinirt=$top_builddir/lib/.libs/libinfinirt.so

# The names behind CTXRT_API: the last word before the first parenthesis.
declared() # header...
{
    cat "$@" | grep -v '^#' | tr '\n' ' ' | awk -v RS='CTXRT_API(_UNCHECKED)? ' 'NR > 1 {
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

echo 1..9
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

# The functions of InfiniRT's header: __INFINI_C __export infiniStatus_t name(...
sed -n 's/^__INFINI_C __export infiniStatus_t \(infinirt[A-Za-z]*\)(.*/\1/p' "$top_srcdir/include/infinirt/infinirt.h" |
    LC_ALL=C sort > "$scratch/declared"
exported "$infinirt" > "$scratch/exported"
[ "$(uniq "$scratch/declared" | wc -l)" -eq 40 ] && [ "$(wc -l < "$scratch/declared")" -eq 40 ]
report $? 'infinirt_h_declares_40_functions'
diff "$scratch/declared" "$scratch/exported" > "$scratch/out"
report $? 'libinfinirt_exports_these_and_nothing_else'
objdump -p "$infinirt" > "$scratch/out"
grep -q 'SONAME *libinfinirt\.so$' "$scratch/out" && grep -q 'NEEDED *libctxrt\.so\.0$' "$scratch/out"
report $? 'its_soname_is_that_of_the_original_and_it_needs_libctxrt'

# A program that opens the library late finds little room for thread-local variables of the model initial-exec, and all of the
# library's need that room: 1,664 bytes on Debian 13, which such libraries share, and of which 512 are meant for them.
if [ -n "$SANITIZERS" ]; then
    skip 'the_library_can_be_opened_late' 'sanitizers have variables of their own'
else
    size=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
    echo "thread-local: $((size)) bytes" > "$scratch/out"
    [ $((size)) -gt 0 ] && [ $((size)) -le 576 ]
    report $? 'the_library_can_be_opened_late'
fi
