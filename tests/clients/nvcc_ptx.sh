#!/bin/sh
# In front of nvcc: where machine code is asked for (--cubin) it has nvcc write PTX to the file of that name.
set -eu
nvcc=$CUDA_HOME/bin/nvcc
case " $* " in
*' --cubin '*) ;;
*) exec "$nvcc" "$@" ;;
esac
for word in "$@"; do
    shift
    case $word in
    --cubin) set -- "$@" --ptx ;;
    *.cu) set -- "$@" "$word" -o "${word%.cu}.cubin" ;;
    *) set -- "$@" "$word" ;;
    esac
done
exec "$nvcc" "$@"
