#!/bin/sh
# Writes the facts table anew from the installed toolkit and compares it with the committed one.
set -u
if [ -z "$CUDA_DIR" ] || ! [ -f "$CUDA_DIR/include/cudaTypedefs.h" ]; then
    echo '1..0 # SKIP no CUDA toolkit is installed'
    exit 0
fi
if ! grep -q '^#define CUDA_VERSION 13000$' "$CUDA_DIR/include/cuda.h"; then
    echo "1..0 # SKIP $CUDA_DIR is of another version than CUDA 13.0"
    exit 0
fi
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

echo 1..2
sh "$top_srcdir/lib/shim/list-exports.sh" "$CUDA_DIR" > "$scratch/toolkit" 2> "$scratch/errors"
grep '^CX_EXPORT(' "$top_srcdir/lib/shim/exports.def" | grep -v ', 130[12]0)$' > "$scratch/committed"
if [ -s "$scratch/toolkit" ] && diff "$scratch/committed" "$scratch/toolkit" > "$scratch/difference"; then
    echo 'ok 1 - exports.def is what the headers of the toolkit say'
else
    echo 'not ok 1 - exports.def is what the headers of the toolkit say'
    sed 's/^/# /' "$scratch/errors" "$scratch/difference"
fi
rows=$(wc -l < "$scratch/committed")
[ "$rows" -eq 675 ] && echo 'ok 2 - it has 675 rows' || echo "not ok 2 - it has $rows rows, not 675"
