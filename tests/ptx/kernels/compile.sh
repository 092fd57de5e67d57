#!/bin/sh
# Compiles the kernels beside this script to PTX: compile.sh FOLDER [NAME...]
# The tree keeps the files compressed: zstd -19 --rm tests/ptx/kernels/*.ptx.
# NVCC and CLANG name the compilers, with flags; an empty one is left out.
# shellcheck disable=SC2086 # the compilers have flags
set -eu
here=$(dirname "$0")
folder=$1
shift
nvcc=${NVCC-nvcc}
clang=${CLANG-clang}
targets='80 86 89 90 100'

with_nvcc() # name
{
    if [ "$1" = modern ]; then
        $nvcc -arch=compute_80 -ptx -o "$folder/$1.sm_80.ptx" "$here/$1.cu"
        $nvcc -arch=compute_90 -Xcicc -O0 -ptx -o "$folder/$1.plain.ptx" "$here/$1.cu"
        return
    fi
    if [ "$1" = cluster ] || [ "$1" = pairs ]; then
        $nvcc -arch=compute_90 -ptx -o "$folder/$1.sm_90.ptx" "$here/$1.cu"
        $nvcc -arch=compute_100 -Xcicc -O0 -ptx -o "$folder/$1.plain.ptx" "$here/$1.cu"
        return
    fi
    $nvcc -arch=compute_75 -ptx -o "$folder/$1.sm_75.ptx" "$here/$1.cu"
    # Newer targets take turns: not optimised, or as for a debugger.
    target=${targets%% *}
    targets="${targets#* } $target"
    case $1 in
    linear | calls | scan) $nvcc -arch="compute_$target" -G -ptx -o "$folder/$1.debug.ptx" "$here/$1.cu" ;;
    *) $nvcc -arch="compute_$target" -Xcicc -O0 -ptx -o "$folder/$1.plain.ptx" "$here/$1.cu" ;;
    esac
}

# Only those that need no library of NVIDIA's.
with_clang() # name
{
    case $1 in
    linear | matrix | stencil | histogram | scan | calls) level=-O2 ;;
    sort | text | graph) level=-O0 ;;
    *) return 0 ;;
    esac
    $clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx63 -nocudainc \
        -nocudalib -include "$here/clang.h" -S "$level" -o "$folder/$1.clang.ptx" "$here/$1.cu"
}

if [ $# -eq 0 ]; then
    for file in "$here"/*.cu; do
        set -- "$@" "$(basename "$file" .cu)"
    done
fi
for name; do
    [ -z "$nvcc" ] || with_nvcc "$name"
    [ -z "$clang" ] || with_clang "$name"
done
