#!/bin/sh
# visit.sh FOLDER: makes the folder that asks a machine with a GPU for all that ctxrt wants to know of it: ctxrt-gpu-check, ctxrt
# itself as it would be installed, the programs of tests/misuse, kernels of tests/ptx, and visit/run.sh. The programs and the file
# ctxrt-gpu-check are built.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}" "${CC:=cc}"
to=$1
rm -rf "$to"
mkdir -p "$to/lib/ctxrt" "$to/libexec/ctxrt" "$to/bin" "$to/programs" "$to/kernels" "$to/misuse/planted" "$to/misuse/clean"
to=$(cd "$to" && pwd)
parts=$top_builddir/gpu-check.parts
carried=$parts/visit

rm -rf "$carried"
sh "$top_srcdir/tests/gpu/carry.sh" "$carried" ctxrt ctxrt-play tests/ptx/kernels_on_driver
mv "$carried/programs/ctxrt" "$carried/programs/kernels_on_driver" "$to/bin/"
mv "$carried/programs/ctxrt-play" "$to/libexec/ctxrt/"
mv "$carried/lib/libctxrt.so.0" "$to/lib/"
mv "$carried/cuda-12" "$carried/cuda-13" "$to/lib/ctxrt/"
cp "$top_builddir/ctxrt-gpu-check" "$to/"
cp "$top_srcdir"/tests/gpu/visit/*.py "$top_srcdir/tests/gpu/visit/judge.sh" "$top_srcdir/tests/gpu/visit/sequence.sh" \
    "$to/programs/"
cp "$top_srcdir/tests/gpu/visit/run.sh" "$to/"
cp "$top_builddir"/tests/ptx/kernels/*.ptx "$to/kernels/"

# allocator_torch.py calls both allocators by this library.
flags=$(tail -n 1 "$parts/flags")
# shellcheck disable=SC2016,SC2086 # words; $ORIGIN is for the loader
$CC -std=gnu11 -O2 -Wall -Wextra -fPIC -shared -I"$top_srcdir/include" "$top_srcdir/tests/gpu/visit/pairs.c" -o "$to/programs/pairs.so" "-L$to/lib" \
    -l:libctxrt.so.0 -Wl,-rpath,'$ORIGIN/../lib' $flags

# The programs of tests/misuse as one.sh compiles them. Their heads say what is expected of a report.
here=$top_srcdir/tests/misuse
head_says() # source, key
{
    sed -n -e '/^ \*\//q' -e "s/^ \\* $2: *//p" "$1"
}

compile() # options...
{
    # shellcheck disable=SC2086 # words
    $CC -std=gnu11 -O0 -g -DMISUSE_OWN_DECLARATIONS "-I$here" "$@" "-L$to/lib/ctxrt/cuda-12" -l:libcuda.so.1 $flags
}

for source in "$here"/planted/*.c "$here"/clean/*.c; do
    name=$(basename "$source" .c)
    place=$to/misuse/$(basename "$(dirname "$source")")
    module=$(head_says "$source" module)
    if [ -n "$module" ]; then
        [ "$module" != yes ] || module=$name.so
        module=$place/$module
        compile -DMODULE -shared -fPIC "$source" -o "$module" -Wl,-soname,"${module##*/}"
    fi
    # shellcheck disable=SC2016,SC2086 # $ORIGIN is for the loader; no module is no word
    compile "$source" -o "$place/$name" $module -Wl,-rpath,'$ORIGIN' -pthread
    head_says "$source" expect > "$place/$name.expect"
    head_says "$source" provokes > "$place/$name.provokes"
    case $place in
    */clean) echo --leaks --notes ;;
    *) head_says "$source" options ;;
    esac > "$place/$name.options"
done
chmod -R u+w "$to"
du -sm "$to" | cut -f 1 > "$parts/size"
[ "$(cat "$parts/size")" -le 60 ] || { echo "visit.sh: $to has $(cat "$parts/size") MB, more than 60" >&2; exit 1; }
