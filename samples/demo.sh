#!/bin/sh
# What ./bootstrap demo runs: demo.sh BUILD [FILE]. A large file goes through 4 emulated GPUs, ctxrt check finds a planted
# mistake, and a picture and a timeline are made to look at. Its output has at most 40 lines.
set -eu
build=$1
file=${2:-}
top=$(cd "$(dirname "$0")/.." && pwd)
made=${DEMO:-$build/demo} # tests put it elsewhere
mkdir -p "$made"

# A large file of the tree: the largest that building made.
if [ -z "$file" ]; then
    file=$(find "$build" -type f \( -name '*.so*' -o -name '*.a' \) -size +100k -exec ls -S {} + 2>/dev/null | head -n 1)
    [ -n "$file" ] || file=$build/config.status
fi

echo "== $file goes through 4 emulated GPUs (samples/pipeline)"
status=0
"$build/ctxrt" trace -o "$made/timeline.html" "$build/samples/pipeline/pipeline" --driver libcuda --chunk 64K \
    --snapshot "$made/stacks.json" "$file" > "$made/pipeline.txt" || status=$?
# A line for each thread: its frames from the top.
awk '/^thread [0-9]/ { thread = $1 " " $2; next }
    thread != "" && /^ +(->)? +[0-9]+ +[a-z]+:/ { sub(/->/, " "); frames = frames (frames == "" ? "" : " above ") $2; left = $1
        if (left == 0) { print "  " thread ": " frames; thread = frames = "" }; next }
    /^memory of/ || /^$/ { next }
    { print }' "$made/pipeline.txt"
[ "$status" = 0 ] || exit "$status"
"$build/ctxrt" draw -o "$made/stacks.svg" "$made/stacks.json"
echo

# The lessons are programs with a mistake each. This one reads what a copy has not brought yet.
mistake=samples/lessons/08-what-synchronises/mistake.c
echo "== ctxrt check finds the mistake of $mistake"
${CC:-cc} -std=gnu11 -g -DLESSON_OWN_DECLARATIONS "-I$top/samples/lessons" "$top/$mistake" -o "$made/mistake" \
    "$build/lib/shim/cuda-13/.libs/libcuda.so.1" -pthread
"$build/ctxrt" check "$made/mistake" > "$made/said.txt" 2> "$made/check.txt" || true
grep -v '^  alive at the end' "$made/check.txt"
echo
cat <<NEXT
== To look at, in a browser
  $made/stacks.svg       # every thread's stack at that moment
  $made/timeline.html    # every driver call, every stack, the work of every stream
== Next
  $build/ctxrt lesson              # contexts, step by step, with exercises: docs/teaching.md
  $build/ctxrt nvcc -g -o a x.cu   # an nvcc program without a GPU: ctxrt run ./a, ctxrt check ./a
  sudo make -C $build install      # the library, headers and tools, in /usr/local: docs/guide.md
NEXT
