#!/bin/sh
# bundle.sh FOLDER: gathers all that gpu-check needs, so that the folder can be carried to another machine. Programs
# are those of the build, without libtool's scripts around them, and with the libraries that are not the system's own.
set -eu
: "${top_srcdir:?}" "${top_builddir:?}"
to=$1
rm -rf "$to"
mkdir -p "$to/programs" "$to/lib" "$to/scenarios" "$to/recorded" "$to/expected" "$to/traces"
to=$(cd "$to" && pwd)

program_of() # its path in the build
{
    if [ -x "$top_builddir/${1%/*}/.libs/${1##*/}" ]; then
        echo "$top_builddir/${1%/*}/.libs/${1##*/}"
    elif [ "${1#*/}" = "$1" ] && [ -x "$top_builddir/.libs/$1" ]; then
        echo "$top_builddir/.libs/$1"
    else
        echo "$top_builddir/$1"
    fi
}

sed '/^#/d' "$top_srcdir/tests/gpu/contents.txt" > "$to/contents.txt"
for bench in "$top_builddir"/bench/bench_*; do
    case ${bench##*/} in
    *.* | bench_check | bench_trace) ;; # these measure over the embedded driver alone
    *) [ ! -x "$bench" ] || echo "bench bench/${bench##*/}" ;;
    esac
done >> "$to/contents.txt"

# runtime_guest is there where the build had nvcc.
: > "$to/libraries"
cp "$to/contents.txt" "$to/wanted.txt"
while read -r kind program rest; do
    built=$(program_of "$program")
    if [ -x "$built" ]; then
        cp "$built" "$to/programs/"
        LD_LIBRARY_PATH=$top_builddir/lib/.libs ldd "$built" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' >> "$to/libraries"
    elif [ "$program" = tests/cuda/runtime_guest ]; then
        grep -v "^$kind $program" "$to/wanted.txt" > "$to/contents.txt"
    else
        echo "bundle.sh: $program has not been built" >&2
        exit 1
    fi
done < "$to/wanted.txt"
rm "$to/wanted.txt"

# The C library's parts belong together, and libcuda to the machine.
while read -r library; do
    case ${library##*/} in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | ld-linux* | libcuda.so.*) ;;
    *) cp -L "$library" "$to/lib/" ;;
    esac
done < "$to/libraries"
rm "$to/libraries"

(cd "$top_srcdir/tests/scenarios" && find . -name '*.scn' | while read -r file; do
    mkdir -p "$to/scenarios/${file%/*}" && cp "$file" "$to/scenarios/$file" || exit 1
done)
cp "$top_srcdir"/tests/recorded/*.probe.txt "$to/recorded/"
cp "$top_srcdir"/samples/expected/*.txt "$to/expected/"
cp "$top_srcdir"/bench/traces/* "$to/traces/"
cp "$top_srcdir/docs/frames.md" "$top_srcdir/docs/semantics.md" "$top_srcdir/docs/gpu-check.md" "$to/"
cp "$top_srcdir/tests/gpu/gpu-check.sh" "$top_srcdir"/tests/gpu/*.awk "$to/"
chmod -R u+w "$to"
chmod +x "$to/gpu-check.sh"
