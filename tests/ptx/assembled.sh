#!/bin/sh
# The texts of these tests are PTX: the toolkit's assembler takes them all.
set -u
. "$top_srcdir/tests/support/tap.sh"
ptxas=$CUDA_DIR/bin/ptxas
[ -x "$ptxas" ] || skip_all "there is no $ptxas"

# Assembles each text for its own target; says which ones are refused.
assemble() # folder
{
    refused=0
    for text in "$1"/*.ptx; do
        target=$(sed -n 's/^\.target *\(sm_[0-9a-z]*\).*/\1/p' "$text" | head -n 1)
        "$ptxas" -arch="$target" "$text" -o "$scratch/cubin" > "$scratch/said" 2>&1 && continue
        refused=$((refused + 1))
        cat "$text" "$scratch/said"
    done > "$scratch/errors"
    [ "$refused" -eq 0 ]
}

set -- async composed grammar matrix
echo "1..$#"
for name; do
    mkdir "$scratch/$name"
    CTXRT_TEST_TEXTS=$scratch/$name "$top_builddir/tests/ptx/check_$name" > "$scratch/out" 2>&1
    assemble "$scratch/$name"
    report $? "the_assembler_takes_the_texts_of_$name"
done
