#!/bin/sh
# Programs that know infinirt.h and nothing else, on every device of every driver: the CPU alone, with emulated GPUs, and
# with GPUs behind libcuda.so.1, for which the stand-in stands.
set -u
. "$top_srcdir/tests/support/tap.sh"
CTXRT_EMU_DEVICES=2
export CTXRT_EMU_DEVICES
clients=client_c
[ ! -x "$top_builddir/tests/infinirt/client_cxx" ] || clients='client_c client_cxx'

# A sanitizer takes long over the largest sizes, and they go no other way than the smaller ones.
largest=24
[ -z "$SANITIZERS" ] || largest=18

plays() # client, driver, devices
{
    run "$top_builddir/tests/infinirt/$1" $largest
    printed "^$3 devices$"
    report $? "$1, $2: $3 devices"
}

for client in $clients; do
    CTXRT_DRIVER=none
    export CTXRT_DRIVER
    plays "$client" 'the CPU alone' 1
    CTXRT_DRIVER=emulated
    plays "$client" 'emulated GPUs' 3
    unset CTXRT_DRIVER
    CTXRT_LIBCUDA=$top_builddir/lib/shim/cuda-13/.libs/libcuda.so.1
    export CTXRT_LIBCUDA
    plays "$client" 'GPUs of a libcuda' 3
    unset CTXRT_LIBCUDA
done
[ -x "$top_builddir/tests/infinirt/client_cxx" ] || skip 'client_cxx' 'there is no C++ compiler'
echo "1..$number"
