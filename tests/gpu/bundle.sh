#!/bin/sh
# bundle.sh FILE: makes the one file that asks a driver on another machine: programs of this build, linked anew by carry.sh, what
# they read, and gpu-check.sh, behind unpack.sh. The programs are built.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
file=$1
to=$top_builddir/gpu-check.parts/folder
rm -rf "$to"
mkdir -p "$to/scenarios" "$to/expected" "$to/traces"

# runtime_guest, which nvcc links, stays here; so do benches that measure without a GPU, or link other libraries. The others are in the
# order of worth.
sed '/^#/d' "$top_srcdir/tests/gpu/contents.txt" > "$to/contents.txt"
for bench in runtime_api stack graph alloc; do
    [ ! -x "$top_builddir/bench/bench_$bench" ] || echo "bench bench/bench_$bench"
done >> "$to/contents.txt"
# shellcheck disable=SC2046 # words
sh "$top_srcdir/tests/gpu/carry.sh" "$to" $(cut -d ' ' -f 2 "$to/contents.txt")
mkdir -p "$top_builddir/gpu-check.parts/standin"
for set in cuda-12 cuda-13; do
    rm -rf "$top_builddir/gpu-check.parts/standin/$set"
    mv "$to/$set" "$top_builddir/gpu-check.parts/standin/"
done

(cd "$top_srcdir/tests/scenarios" && find . -name '*.scn' | while read -r one; do
    mkdir -p "$to/scenarios/${one%/*}" && cp "$one" "$to/scenarios/$one" || exit 1
done)
cp "$top_srcdir"/samples/expected/*.txt "$to/expected/"
cp "$top_srcdir/bench/traces/LICENSES.md" "$top_builddir"/bench/traces/*.csv "$to/traces/"
cp "$top_srcdir/docs/frames.md" "$top_srcdir/LICENSE" "$top_srcdir/tests/gpu/gpu-check.sh" "$to/"
chmod -R u+w "$to"
chmod +x "$to/gpu-check.sh"

unpack=$top_srcdir/tests/gpu/unpack.sh
{
    sed "s/+LINES/+$(($(wc -l < "$unpack") + 1))/" "$unpack"
    tar -cf - --owner=0 --group=0 --numeric-owner -C "$to" . | gzip -9n
} > "$file.new"
chmod +x "$file.new"
mv "$file.new" "$file"
