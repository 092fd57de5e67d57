#!/bin/sh
# Builds the samples of the CUDA Runtime API as their heads say, runs them on emulated GPUs and compares what they print with
# samples/runtime/expected/NAME.txt; then ctxrt check finds nothing in them, and names what they mean to show.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -n "$NVCC" ] || skip_all "${NVCC_MISSING:-there is no nvcc}"
[ -z "$SANITIZERS" ] || skip_all 'nvcc builds programs without sanitizers'
. "$top_srcdir/samples/reader.sh"
CTXRT_NVCC=${NVCC%% *}
export CTXRT_NVCC
folder=$top_srcdir/samples/runtime
cd "$scratch" || exit 1
cp "$folder"/*.cu .


for sample in vector_add peer_copies streams runtime_mix; do
    sed -n '1,/\*\//s/^ \*     \(ctxrt .*\)/\1/p' "$sample.cu" | sed 's, \*/$,,' > "$sample.sh"
    run sh -e "$sample.sh"
    grep -v '^ctxrt check\|^  alive' "$scratch/errors" >> "$scratch/out"
    [ "$status" -eq 0 ] && diff "$folder/expected/$sample.txt" "$scratch/out" > "$scratch/errors" 2>&1
    report $? "$sample prints what is expected"
done
for sample in vector_add peer_copies streams; do
    run ctxrt check --leaks "./$sample"
    grep -q '^ctxrt check: 0 errors, 0 warnings$' "$scratch/errors"
    report $? "nothing is wrong with $sample"
done
run ctxrt check --devices 3 ./runtime_mix
grep -q 'STACK-SET-FOREIGN: cudaSetDevice replaced a context' "$scratch/errors" &&
    grep -q 'the thread works on cuda:0, frame 3 of 3, scope at ' "$scratch/errors"
report $? 'a device that is set within a scope is told with the frame'

# The event that orders the streams, left out.
sed '/cudaStreamWaitEvent(right/d' streams.cu > race.cu
run sh -ec 'ctxrt nvcc -g -o race race.cu && ctxrt check ./race'
grep -q 'error ORDER-KERNEL' "$scratch/errors" && grep -q 'cudaLaunchKernel in stream' "$scratch/errors" &&
    grep -q 'race.cu:[0-9]' "$scratch/errors"
report $? 'a race is told with its lines, in the words of the runtime'

# A copy names no device: the pointers do.
cat > anywhere.cu << 'CU'
int main(void)
{
    int *there, here = 5, back = 0;
    cudaMalloc(&there, sizeof here);
    cudaSetDevice(1);
    cudaFree(0);
    cudaMemcpy(there, &here, sizeof here, cudaMemcpyDefault);
    cudaMemcpy(&back, there, sizeof here, cudaMemcpyDeviceToHost);
    cudaFree(there);
    return back == 5 ? 0 : 1;
}
CU
run sh -ec 'ctxrt nvcc -o anywhere anywhere.cu && ctxrt check ./anywhere'
[ "$status" -eq 0 ] && grep -q '^ctxrt check: 0 errors, 0 warnings$' "$scratch/errors"
report $? 'a copy from a thread on another device is no mistake'

# A stream of another device.
sed 's/must(cudaStreamSynchronize(right).*/must(cudaSetDevice(1), "set"); add<<<1, 1, 0, right>>>(a, b); cudaGetLastError(); &/' streams.cu > other.cu
run sh -ec 'ctxrt nvcc -g -o other other.cu && ctxrt check ./other'
grep -q 'OWNER-FUNCTION: a kernel was launched in a stream of another device: cudaLaunchKernel gave cudaErrorInvalidResourceHandle' \
    "$scratch/errors" && grep -q 'called by thread 1 "main", other.cu:[0-9]* in main()' "$scratch/errors"
report $? 'a launch in a stream of another device is told with its line'

# Why a program does not run, before it starts.
told() # pattern
{
    grep -q "$1" "$scratch/errors"
}
run sh -ec '"$CTXRT_NVCC" -o static vector_add.cu && { ctxrt run ./static || true; }'
told 'ctxrt run: ./static has NVIDIA.s CUDA Runtime linked in.*ctxrt nvcc'
report $? 'a runtime that is linked in is told'
run sh -ec '"$CTXRT_NVCC" -cudart shared -gencode arch=compute_75,code=sm_75 -o machine vector_add.cu && { ctxrt run ./machine || true; }'
told 'ctxrt run: ./machine has machine code without PTX'
report $? 'machine code without PTX is told'
run sh -ec 'ctxrt nvcc -arch sm_60 -cudart static -o old vector_add.cu && ctxrt run ./old'
printed '^1000 sums are right$'
report $? 'ctxrt nvcc makes an old makefile work'

# CMake as the guide says it: its own nvcc, no option of ours in the project.
what='a project of CMake needs two variables'
variables=$(sed -n 's/^cmake -S \. -B build \(-DCMAKE_CUDA_RUNTIME_LIBRARY=.*\)/\1/p' "$top_srcdir/docs/guide.md")
if [ -z "$variables" ]; then
    false
    report $? "$what"
elif ! command -v cmake > commands 2>&1; then
    skip "$what" 'there is no CMake'
else
    printf '%s\n' 'cmake_minimum_required(VERSION 3.20)' 'project(guide LANGUAGES CXX CUDA)' 'add_executable(program vector_add.cu)' > CMakeLists.txt
    # shellcheck disable=SC2086 # they are words
    run env CUDACXX="$CTXRT_NVCC" cmake -S . -B cmake $variables && [ "$status" -eq 0 ] && run cmake --build cmake && [ "$status" -eq 0 ] &&
        run ctxrt run cmake/program && printed '^1000 sums are right$'
    report $? "$what"
fi

# A timeline has calls of the runtime around the calls of the driver.
run ctxrt trace -o timeline.json ./vector_add
[ "$status" -eq 0 ] && grep -q '"cat":"runtime","name":"cudaLaunchKernel"' timeline.json &&
    grep -q '"cat":"call","name":"cuLaunchKernel"' timeline.json
report $? 'a timeline has calls of the runtime'
echo "1..$number"
