#!/bin/sh
# Compiles the kernels beside this script to PTX: compile.sh FOLDER [NAME...]
# NVCC and CLANG name the compilers; CLANG= leaves its files out.
set -eu
here=$(dirname "$0")
folder=$1
shift
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.cu | sed 's|^\./||; s|\.cu$||')
nvcc=${NVCC:-nvcc}
clang=${CLANG-clang}
targets='80 86 89 90 100'

for name; do
    "$nvcc" -arch=compute_75 -ptx -o "$folder/$name.sm_75.ptx" "$here/$name.cu"
    # The others take turns at the newer targets, not optimised; some as for a debugger.
    target=${targets%% *}
    targets="${targets#* } $target"
    case $name in
    linear | calls | scan) "$nvcc" -arch="compute_$target" -G -ptx -o "$folder/$name.debug.ptx" "$here/$name.cu" ;;
    *) "$nvcc" -arch="compute_$target" -Xcicc -O0 -ptx -o "$folder/$name.plain.ptx" "$here/$name.cu" ;;
    esac
done
