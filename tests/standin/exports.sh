#!/bin/sh
# Compares what each export set exports with the facts table, and with the toolkit's stub where it is.
set -u
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
number=0

report() # status, what, file with the differences
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$3"
    fi
}

exported() # library
{
    nm -D --defined-only "$1" | awk '{ print $3 }' | LC_ALL=C sort
}

facts() # newest CUDA version
{
    sed -n 's/^CX_EXPORT(\(.*\))$/\1/p' "$top_srcdir/lib/shim/exports.def" |
        awk -F ', *' -v newest="$1" '$4 <= newest { print $1 $2 $3 }' | LC_ALL=C sort
}

echo 1..5
for set in 12:12090 13:13020; do
    library=$top_builddir/lib/shim/cuda-${set%:*}/.libs/libcuda.so.1
    exported "$library" > "$scratch/exported"
    facts "${set#*:}" > "$scratch/facts"
    [ -s "$scratch/facts" ] && diff "$scratch/facts" "$scratch/exported" > "$scratch/difference"
    report $? "cuda-${set%:*} exports what the table says and nothing else" "$scratch/difference"

    objdump -p "$library" | grep SONAME > "$scratch/soname"
    grep -q 'SONAME *libcuda\.so\.1$' "$scratch/soname"
    report $? "the soname of cuda-${set%:*} is libcuda.so.1" "$scratch/soname"
done

# Names that no toolkit's stub has: the graphics calls, and three that clients look up.
grep -oE '^CX_EXPORT\(cu(GL|EGL|VDPAU|D3D11|GraphicsGL|GraphicsEGL|GraphicsVDPAU|GraphicsD3D11|GraphicsResourceGetMappedEglFrame|EventCreateFromEGLSync).*\)$' \
    "$top_srcdir/lib/shim/exports.def" | sed 's/^CX_EXPORT(\(.*\))$/\1/' |
    awk -F ', *' '{ print $1 $2 $3 }' > "$scratch/more"
what='cuda-13 exports what the stub of CUDA 13.0 exports, and the graphics calls'
stub=
for folder in lib64/stubs lib/stubs; do
    [ -n "$CUDA_DIR" ] && [ -f "$CUDA_DIR/$folder/libcuda.so" ] && stub=$CUDA_DIR/$folder/libcuda.so
done
if [ -z "$stub" ]; then
    echo "ok 5 - $what # SKIP no toolkit with a stub libcuda.so is installed"
elif ! grep -q '^#define CUDA_VERSION 13000$' "$CUDA_DIR/include/cuda.h"; then
    echo "ok 5 - $what # SKIP $CUDA_DIR is of another version than CUDA 13.0"
else
    exported "$stub" | LC_ALL=C sort - "$scratch/more" > "$scratch/stub"
    facts 13000 | diff "$scratch/stub" - > "$scratch/difference"
    report $? "$what" "$scratch/difference"
fi
