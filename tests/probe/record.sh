#!/bin/sh
# record.sh SET FILE: what the stand-in of that export set does, all of it seen without haste.
set -eu
"$top_builddir/tests/probe/probe" --patience 3000 "$top_builddir/lib/shim/cuda-$1/.libs/libcuda.so.1" > "$2.new"
mv "$2.new" "$2"
