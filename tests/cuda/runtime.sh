#!/bin/sh
# A program that uses the CUDA runtime API, on the GPUs of this machine.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$NVCC_MISSING" ] || skip_all "$NVCC_MISSING"

status=0
"$top_builddir/tests/cuda/runtime_guest" || status=$?
[ "$status" -eq 77 ] || exit "$status" # with 77 it has said why
