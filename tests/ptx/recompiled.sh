#!/bin/sh
# The kernels of tests/ptx/kernels as this machine's nvcc compiles them: they leave the same.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$NVCC_MISSING" ] || skip_all "$NVCC_MISSING"

mkdir "$scratch/ptx"
echo 1..2
run env CLANG= NVCC="$NVCC" sh "$top_srcdir/tests/ptx/kernels/compile.sh" "$scratch/ptx"
report "$status" 'nvcc_compiles_the_kernels'
run env CTXRT_TEST_KERNELS="$scratch/ptx" "$top_builddir/tests/ptx/check_kernels"
[ "$status" -eq 0 ] && ! grep '^not ok' "$scratch/out" > "$scratch/errors"
report $? 'kernels_that_were_just_compiled_leave_what_c_computes'
