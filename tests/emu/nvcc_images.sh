#!/bin/sh
# Fat binaries as this machine's nvcc makes them run: compressed in each of its ways, of several architectures, with and
# without machine code.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$NVCC_MISSING" ] || skip_all "$NVCC_MISSING"

# Long enough to be worth compressing.
{
    echo 'extern "C" __global__ void fill(unsigned *out) { out[threadIdx.x] = 2 * threadIdx.x; }'
    for i in 1 2 3 4 5 6 7 8; do
        echo "extern \"C\" __global__ void other$i(float *p, int n) { for (int k = 0; k < n; k++) p[k] = sinf(p[k]) * $i; }"
    done
} > "$scratch/kernels.cu"

# shellcheck disable=SC2086 # words
made_and_runs() # test, flags
{
    name=$1
    shift
    run $NVCC -fatbin "$@" "$scratch/kernels.cu" -o "$scratch/kernels.fatbin"
    if [ "$status" -ne 0 ] && grep -qi 'unknown option\|unsupported\|not supported' "$scratch/errors"; then
        skip "$name" "nvcc does not know $*"
        return
    fi
    [ "$status" -eq 0 ] && run "$top_builddir/tests/emu/load_image" "$scratch/kernels.fatbin"
    report "$status" "$name"
}

ptx='-gencode arch=compute_75,code=compute_75'
echo 1..9
# shellcheck disable=SC2086 # words
{
    made_and_runs as_nvcc_does_it $ptx
    made_and_runs uncompressed $ptx --no-compress
    made_and_runs all_compressed $ptx -Xfatbin -compress-all
    made_and_runs compressed_for_size $ptx -Xfatbin -compress-mode=size
    made_and_runs compressed_for_speed $ptx -Xfatbin -compress-mode=speed
    made_and_runs compressed_in_balance $ptx -Xfatbin -compress-mode=balance
    made_and_runs with_machine_code $ptx -gencode arch=compute_75,code=sm_75
    made_and_runs for_several_architectures $ptx -gencode arch=compute_90,code=compute_90
    made_and_runs for_debuggers $ptx -G
}
