#!/bin/sh
# What ./bootstrap demo runs: demo.sh BUILD [FILE]. A large file goes through 4 emulated GPUs, and a program of the
# plain Driver API runs on the stand-in.
set -eu
build=$1
file=${2:-}

# A large file of the tree: the largest that building made.
if [ -z "$file" ]; then
    file=$(find "$build" -type f \( -name '*.so*' -o -name '*.a' \) -size +100k -exec ls -S {} + 2>/dev/null | head -n 1)
    [ -n "$file" ] || file=$build/config.status
fi

echo "== samples/pipeline: $file through 4 emulated GPUs"
"$build/samples/pipeline/pipeline" --chunk 64K "$file"
echo
echo "== samples/context_tutorial: a Driver API program on the stand-in libcuda.so.1 (ctxrt run)"
"$build/ctxrt" run "$build/samples/context_tutorial"
echo
cat <<NEXT
== Next
  $build/ctxrt lesson         # contexts, step by step, with exercises: docs/teaching.md
  $build/ctxrt run PROGRAM    # a Driver API program on emulated GPUs; ctxrt check PROGRAM explains its misuse
  sudo make -C $build install # the library, headers and tools, in /usr/local: docs/guide.md
NEXT
