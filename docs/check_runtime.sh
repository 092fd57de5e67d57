#!/bin/sh
# docs/runtime.md has the functions of the CUDA Runtime library, as lib/runtime has them. `make renew-runtime` writes its table anew.
set -u
. "$top_srcdir/tests/support/tap.sh"
cd "$top_srcdir" || exit 1

awk -f docs/runtime_table.awk lib/driver/symbols.def lib/runtime/calls.def lib/runtime/exports.def lib/runtime/*.c \
    > "$scratch/wanted" 2> "$scratch/errors" && [ -s "$scratch/wanted" ]
made=$?
if [ "${1-}" = --renew ]; then
    [ "$made" -eq 0 ] && sed '/^| function /{n;q}' docs/runtime.md | cat - "$scratch/wanted" > "$scratch/page" &&
        cp "$scratch/page" docs/runtime.md
    exit
fi
report $made 'the_table_is_made'
sed -n '/^| function /,$ p' docs/runtime.md | sed '1,2 d' > "$scratch/found"
diff "$scratch/wanted" "$scratch/found" > "$scratch/out"
report $? 'the_page_has_it'

# Each body is served or refused, and both are told apart.
refused=$(grep -c 'refused: cudaErrorNotSupported' "$scratch/wanted")
served=$(grep -vc 'refused: cudaErrorNotSupported' "$scratch/wanted")
[ "$refused" -gt 0 ] && [ "$served" -ge 250 ]
report $? 'at_least_250_functions_are_served'
echo "1..$number"
