#!/bin/sh
# hashcat, which nobody here wrote, compiles its kernels with NVIDIA's compiler library, links and
# loads them by the stand-in, and finds words by their hashes: on the CPU.
set -u
. "$top_srcdir/tests/support/tap.sh"

[ -z "$SANITIZERS" ] || skip_all "a program built without $SANITIZERS cannot load a libcuda built with it"
[ "$CTXRT_TEST_EXTENT" = soak ] || skip_all 'it takes long: ./bootstrap soak runs it, and check-clients others of hashcat'
command -v hashcat > /dev/null || skip_all 'hashcat is not installed'
compiler=$(ls /usr/local/cuda/lib64/libnvrtc.so /usr/lib/x86_64-linux-gnu/libnvrtc.so* 2> /dev/null | head -n 1)
[ -n "$compiler" ] || skip_all 'hashcat needs libnvrtc, of a CUDA toolkit, to compile its kernels'

# Each start compiles the kernels again, which takes most of the time.
crack() # set, hashcat's number of the hash, hash
{
    HOME=$scratch XDG_CACHE_HOME=$scratch/cache XDG_DATA_HOME=$scratch/share \
        LD_LIBRARY_PATH=$top_builddir/lib/shim/$1/.libs:${compiler%/*} CTXRT_EMU_DEVICES=1 \
        timeout 300 hashcat --backend-ignore-opencl --force --potfile-disable --quiet -n 1 -u 1 -T 32 \
        -m "$2" -a 3 "$3" '?l?l?l' < /dev/null > "$scratch/out" 2> "$scratch/errors"
    grep -qx "$3:$4" "$scratch/out"
}

echo 1..2
crack cuda-12 0 900150983cd24fb0d6963f7d28e17f72 abc
report $? 'a word is found by its MD5'
crack cuda-13 1400 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad abc
report $? 'a word is found by its SHA-256'
