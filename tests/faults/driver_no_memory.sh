#!/bin/sh
# The tests of the embedded driver once more, with host memory that fails: in each call the first allocation, then, since
# the call says so, the second, and so on until it is done (tests/faults/retried.c). What is above the calls sees no
# difference, so each test passes as before. Soak begins at later allocations too, which are behind one that a call did
# without, and lets the calls that wait run the work (lazy). Every call of the driver is done so, or stands here.
set -u
. "$top_srcdir/tests/support/tap.sh"

# They are never done: there is no such object, process, device or kind of memory; no array is sparse, has planes, or has
# its memory mapped later.
never='cuArrayGetMemoryRequirements cuArrayGetPlane cuArrayGetSparseProperties cuMipmappedArrayGetMemoryRequirements
    cuMipmappedArrayGetSparseProperties cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessLock
    cuCheckpointProcessRestore cuCheckpointProcessUnlock cuDeviceGetLuid cuFlushGPUDirectRDMAWrites cuImportExternalMemory
    cuLibraryGetUnifiedFunction cuMemMapArrayAsync'
# Another call with the same code is done: an older ABI, or the same for a file.
others='cuGraphAddKernelNode cuGraphExecEventWaitNodeSetEvent cuGraphExecKernelNodeSetParams cuGraphKernelNodeGetParams
    cuGraphKernelNodeSetParams cuLibraryLoadFromFile cuMemRangeGetAttributes cuMemcpy3DBatchAsync_v2
    cuMemcpy3DWithAttributesAsync cuModuleLoad cuModuleLoadFatBinary'
# Only the sweep does them, which soak runs.
swept='cuCtxResetPersistingL2Cache cuDeviceSetGraphMemAttribute cuFuncSetCacheConfig cuFuncSetSharedMemConfig
    cuGraphInstantiate_v2 cuMemcpy3DPeerAsync cuModuleEnumerateFunctions cuModuleGetFunctionCount
    cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuStreamBeginCapture'
# Tests of time, and of many threads or calls. The check of what kernels touch counts the launches that were refused, too.
slow='sweep schedule endless stress graph_stress random_schedule'
# Where memory lacks, what kernels do is not told. Tests of forged handles have processes of other users, who cannot write the log, and count descriptors.
left_out='touched hazard file_hostile ipc_forged ipc_hostile'
# Under lazy they fail without this, since they wait for what nothing waits for.
not_lazy='capture fault graph_exec order primary virtual_memory'

[ -z "${SANITIZERS##*thread*}" ] && [ -n "$SANITIZERS" ] && skip_all 'the sanitizer stands in the place of malloc itself'
# Where the file of a large segment fails, each allocation has a small one of its own, thousands at once.
ulimit -n "$(ulimit -H -n)"
[ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -ge 20000 ] || left_out="$left_out memory"
programs=$(grep -o 'tests/emu/check_[a-z_0-9]*\.c' "$top_srcdir/tests/emu/local.mk" | sort -u | sed 's/.*check_//; s/\.c//')
numbers=1 schedules=threads
if [ "$CTXRT_TEST_EXTENT" = soak ]; then
    numbers='1 2 3 4 5 6 7 8 9 10 12 14 16 20 24 32' schedules='threads lazy'
else
    left_out="$left_out $slow"
fi
export CTXRT_TEST_NO_MEMORY CTXRT_TEST_NO_MEMORY_LOG="$scratch/log"

has() # LIST WORD
{
    case " $(echo $1) " in
    *" $2 "*) return 0 ;;
    esac
    return 1
}

pass() # SCHEDULE NUMBER TEST
{
    CTXRT_EMU_SCHEDULE=$1 CTXRT_TEST_NO_MEMORY=$2 CK_EXCLUDE_TAGS=pool "$top_builddir/tests/emu/check_$3" \
        >"$scratch/tap" 2>"$scratch/errors" && grep -q '^ok' "$scratch/tap" && ! grep -q '^not ok' "$scratch/tap" && return
    sed -n "s/^not ok/# $1, from allocation $2:/p" "$scratch/tap"
    return 1
}

everywhere() # TEST
{
    for schedule in $schedules; do
        [ "$schedule" = lazy ] && has "$not_lazy $slow" "$1" && continue
        for first in $numbers; do
            pass "$schedule" "$first" "$1" || return
        done
    done
}

count=0
for program in $programs; do
    has "$left_out" "$program" || count=$((count + 1))
done
echo "1..$((count + 1))"
: >"$scratch/out" >"$scratch/log"
for program in $programs; do
    has "$left_out" "$program" && continue
    everywhere "$program"
    report $? "check_${program}_sees_no_difference_where_host_memory_fails"
done

sed -n 's/^CX_SYMBOL([a-z0-9_]*, *\([A-Za-z0-9]*\), *\([_a-z0-9]*\),.*/\1\2/p' "$top_srcdir/lib/driver/symbols.def" | sort -u >"$scratch/all"
{
    sed -n 's/^done //p' "$scratch/log"
    printf '%s\n' $never $others $swept
} | sort -u >"$scratch/known"
comm -23 "$scratch/all" "$scratch/known" >"$scratch/errors"
[ ! -s "$scratch/errors" ]
report $? 'every_call_of_the_driver_is_made_to_lack_host_memory'
