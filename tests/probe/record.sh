#!/bin/sh
# record.sh SET FILE: what the stand-in of that export set does, all of it seen without haste. It runs no kernels, so
# it is told to let a fill fail where a kernel would.
set -eu
"$top_builddir/tests/probe/probe" --patience 3000 --fault-by 'CTXRT_EMU_FAULT=cuMemsetD8Async@1:%:async' \
    "$top_builddir/lib/shim/cuda-$1/.libs/libcuda.so.1" > "$2.new"
mv "$2.new" "$2"
