#!/bin/sh
# The pipeline across processes, on the embedded driver: every way of the blocks, GPUs visible and hidden, and every failure
# that ends a job. `make check-mpi` runs it.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$MPI_MISSING" ] || skip_all "$MPI_MISSING"
[ -n "$MPIRUN" ] || skip_all 'mpirun was not found when configure ran'

program=$top_builddir/samples/mpi/mpi_pipeline
front=$top_builddir/samples/mpi/.libs/check_front.so
ranks=4 small=3000001 block=67108864 chunk=64K
# The interpreter of kernels takes long there.
[ -z "$SANITIZERS" ] || small=300001 block=1048576 chunk=16K

# Open MPI: more ranks than cores, root, shared memory alone, no copies that need the right to trace processes.
for setting in ALLOW_RUN_AS_ROOT=1 ALLOW_RUN_AS_ROOT_CONFIRM=1 MCA_rmaps_base_oversubscribe=1 MCA_hwloc_base_binding_policy=none \
    MCA_btl=self,vader MCA_btl_vader_single_copy_mechanism=none MCA_mpi_yield_when_idle=1; do
    export "OMPI_$setting"
done
# The stand-in's log names refusals that are meant.
CTXRT_LOG=off
export CTXRT_LOG
case $SANITIZERS in
*address*) # MPI keeps memory to the end
    ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
    export ASAN_OPTIONS
    ;;
esac
quiet=
! "$MPIRUN" --version 2>&1 | grep -q 'Open MPI\|OpenRTE' || quiet=-q

# Each rank begins here: what differs from rank to rank is for `sh`, which knows the rank.
cat > "$scratch/rank" << END
rank=\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}
[ -z "\${HIDDEN:-}" ] || export CUDA_VISIBLE_DEVICES=\$((rank % CTXRT_EMU_DEVICES))
[ "\${FAULT_AT:-none}" != \$rank ] || export CTXRT_EMU_FAULT=\$FAULT
[ -z "\${FRONT:-}" ] || front="env LD_PRELOAD=$front"
[ -z "\${BOUND:-}" ] || bound="taskset -c \$((rank % 2))"
exec \${bound:-} '$top_builddir/ctxrt' run \${front:-} '$program' "\$@"
END

# job [VARIABLE=VALUE...] ARGUMENTS...: a job that ends within 5 minutes, whatever comes.
job()
{
    variables=
    while case ${1:-} in [A-Z]*=*) true ;; *) false ;; esac do
        variables="$variables $1"
        shift
    done
    # shellcheck disable=SC2086 # words
    run timeout -k 10 300 env CTXRT_EMU_DEVICES=4 $variables "$MPIRUN" $quiet -n $ranks sh "$scratch/rank" "$@"
    sed -i '/^Abort([0-9]*) on node /d' "$scratch/errors" # MPICH's own
}

# gzip keeps the CRC-32 of what it packs in its last 8 bytes.
crc_of()
{
    gzip -1c < "$1" | tail -c 8 | head -c 4 | od -An -tx1 | awk '{print $4 $3 $2 $1}'
}

# The last job passed the file on, both ways round: the plain pass and both arrivals have its size and one checksum, that of
# gzip if it is given.
passed() # file [checksum]
{
    [ "$status" -eq 0 ] && grep -q '^the same bytes, the same histogram$' "$scratch/out" &&
        grep -q '^every block came bit for bit, both ways$' "$scratch/out" &&
        [ "$(sed -n "s/^.* $(wc -c < "$1") bytes, crc32 \(${2:-[0-9a-f]*}\)\(,.*\)\{0,1\}\$/\1/p" "$scratch/out" |
            uniq -c | awk '{print $1}')" = 3 ]
}

ways() # how many of the blocks went in a way that matches
{
    [ "$(grep -c "^ *[0-9]* -> [0-9]* *$2" "$scratch/out")" = "$1" ]
}

silent()
{
    [ ! -s "$scratch/errors" ]
}

# The job failed, and one line of its own says why.
one_line() # exit status, pattern
{
    [ "$status" -eq "$1" ] && [ "$(grep -c '^mpi_pipeline: ' "$scratch/errors")" = 1 ] &&
        [ "$(wc -l < "$scratch/errors")" = 1 ] && grep -q "^mpi_pipeline: $2" "$scratch/errors" &&
        ! grep -q '^the same bytes' "$scratch/out"
}

seq 1 2000000 | head -c $small > "$scratch/numbers"
crc=$(crc_of "$scratch/numbers")
exported='exported memory, by file descriptor$'
hidden='pinned staging through MPI: .*its GPU is invisible here$'

# ---- GPUs, visible and hidden ----

for gpus in 1 2 4; do
    job CTXRT_EMU_DEVICES=$gpus --verify --chunk $chunk "$scratch/numbers"
    passed "$scratch/numbers" "$crc" && ways 8 "$exported" && silent
    report $? "4 ranks exchange exported memory of $gpus visible GPUs"
    job CTXRT_EMU_DEVICES=$gpus HIDDEN=1 --verify --chunk $chunk "$scratch/numbers"
    if [ $gpus = 1 ]; then
        passed "$scratch/numbers" "$crc" && ways 8 "$exported" && silent
        report $? 'where all ranks have one GPU, hiding the others changes nothing'
    else
        passed "$scratch/numbers" "$crc" && ways 8 "$hidden"
        report $? "4 ranks exchange through MPI where each sees one of $gpus GPUs"
        [ "$(cat "$scratch/errors")" = "mpi_pipeline: warning: rank 1's GPU is invisible to rank 0: Slurm --gpus-per-task hides it; use --gpus-per-node" ]
        report $? "and the trap is named, once ($gpus GPUs)"
    fi
done
awk '/^ *[0-9]+ +[^ ]+ +GPU-/ { gpus[$3]; cpus += $4 ~ /^[0-9,-]+$/; why += /node-local rank [0-3]: hwloc does not know 0000:0[1-4]:00.0$/ }
    END { exit length(gpus) != 4 || cpus != 4 || why != 4 }' "$scratch/out"
report $? 'each rank prints its own GPU, its CPUs, and why'

# ---- 64 MiB of each rank, both ways ----

head -c $((ranks * block)) /dev/urandom > "$scratch/large"
job --verify --chunk $((block / 8 >> 10))K "$scratch/large"
passed "$scratch/large" && ways 8 "$exported" && silent
report $? "blocks of $block bytes go both ways by exported memory"
job --verify --chunk $((block / 8 >> 10))K --exchange staged "$scratch/large"
passed "$scratch/large" && ways 8 'pinned staging through MPI$' && silent
report $? "blocks of $block bytes go both ways by pinned staging"
rm "$scratch/large"

# ---- other ways ----

job --verify --chunk $chunk --exchange ipc "$scratch/numbers"
passed "$scratch/numbers" "$crc" && ways 8 'exported memory, by cuIpc$' && silent
report $? 'cuIpc memory is exchanged'
refused=CTXRT_EMU_FAULT=cuMemExportToShareableHandle:NOT_SUPPORTED
job $refused --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" &&
    ways 8 'exported memory, by cuIpc: cuMemExportToShareableHandle: CUDA_ERROR_NOT_SUPPORTED$' && silent
report $? 'cuIpc takes the place of what the driver does not export, with the reason'
job $refused,cuIpcGetMemHandle:NOT_SUPPORTED --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && ways 8 'pinned staging through MPI: cuMemExp.*NOT_SUPPORTED; cuIpcGetMemHandle.*NOT_SUPPORTED' && silent
report $? 'pinned staging takes the place of both, with both reasons'
job FAULT_AT=3 FAULT=cuMemSetAccess@2:NOT_SUPPORTED --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && ways 7 "$exported" && ways 1 'exported memory, by cuIpc: cuMemSetAccess: ' && silent
report $? 'one block of eight goes another way'
job CTXRT_EMU_SCHEDULE=lazy --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && ways 8 "$exported" && silent
report $? 'nothing is read before what it waits for, where work is done as late as it may be'
job --nodes 2 --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && ways 4 "$exported" && ways 4 'pinned staging through MPI: another node$' && silent
report $? 'between nodes MPI carries the blocks'
printf abc > "$scratch/three"
job --verify --chunk 1 "$scratch/three"
passed "$scratch/three" 352441c2 && silent
report $? 'a rank may have no chunk'
: > "$scratch/empty"
job --verify "$scratch/empty"
passed "$scratch/empty" 00000000 && silent
report $? 'a file may be empty'
ranks=1
job --verify "$scratch/three"
[ "$status" -eq 0 ] && grep -q '^the same bytes, the same histogram$' "$scratch/out" && silent
report $? 'a rank that is alone counts'
ranks=2
job --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && ways 4 "$exported" && silent
report $? 'both neighbours of a rank may be the same'
ranks=4

# Ranks on the CPU 0, which are the even ones, have the GPUs at 03 and 04; topology.xml has those near it.
near()
{
    [ "$(grep -c 'hwloc distance 10, of 10 to 21$' "$scratch/out")" = 4 ] &&
        "$top_builddir/ctxrt" run "$top_builddir/ctxrt" info > "$scratch/info" &&
        awk -v info="$scratch/info" '
            BEGIN { while ((getline line < info) > 0) {
                split(line, word)
                if (word[1] == "uuid") uuid = word[2]
                if (line ~ /pci bus id/) bus["GPU-" uuid] = word[4]
            } }
            $3 ~ /^GPU-/ { ranks++; right += bus[$3] ~ ($4 == "0" ? "^0000:0[34]:" : "^0000:0[12]:") }
            END { exit ranks != 4 || right != 4 }' "$scratch/out"
}
name='a rank that is bound to a CPU takes a GPU near it'
if [ "$(taskset -c 0 nproc 2> /dev/null)$(taskset -c 1 nproc 2> /dev/null)" = 11 ]; then
    job BOUND=1 --verify --topology "$top_srcdir/samples/mpi/topology.xml" --chunk $chunk "$scratch/numbers"
    passed "$scratch/numbers" "$crc" && near && silent
    report $? "$name"
else
    skip "$name" 'the CPUs 0 and 1 are not both ours'
fi

# ---- a CUDA-aware MPI that leaves contexts behind ----

job FRONT=1 CHECK_FRONT_AWARE=1 --exchange aware --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && ways 8 'CUDA-aware MPI$' &&
    grep -q '^MPI left another context current [1-9][0-9]* times: scopes restored ours$' "$scratch/out" && silent
report $? 'a CUDA-aware MPI is given GPU memory, and scopes restore what it leaves'
job FRONT=1 CHECK_FRONT_AWARE=1 --exchange aware --no-cuda-aware --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && ways 8 'pinned staging through MPI$' && silent
report $? 'unless that is turned off'
job FRONT=1 CHECK_FRONT_AWARE=1 --exchange aware --bare --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && silent
report $? 'without scopes the frames follow'
job CTXRT_FOREIGN=error FRONT=1 CHECK_FRONT_AWARE=1 --exchange aware --bare --chunk $chunk "$scratch/numbers"
one_line 1 'rank [0-3] on .*: CTXRT_ERROR_STACK_MISMATCH: .*other code changed that'
report $? 'or refuse, under CTXRT_FOREIGN=error'
job CTXRT_FOREIGN=error FRONT=1 CHECK_FRONT_AWARE=1 --exchange aware --verify --chunk $chunk "$scratch/numbers"
passed "$scratch/numbers" "$crc" && silent
report $? 'with scopes nothing has to be refused'

# ---- failures ----

for exchange in exported staged; do
    job FRONT=1 CHECK_FRONT_KILL=1 --exchange $exchange --chunk $chunk "$scratch/numbers"
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] && ! grep -q '^the same bytes' "$scratch/out" &&
        ! grep -q '^mpi_pipeline' "$scratch/errors"
    report $? "a killed rank ends the job ($exchange)"
done
head -c 1000 "$scratch/numbers" > "$scratch/thousand"
job FRONT=1 CHECK_FRONT_CORRUPT=2 --exchange staged --verify --chunk 64 "$scratch/thousand"
one_line 1 "rank 3 on .*: byte 64 of rank 2's block came as"
report $? 'a bit that changes on the way is found'
job FRONT=1 CHECK_FRONT_CORRUPT=2 --exchange staged --chunk 64 "$scratch/thousand"
one_line 1 'rank 0 on .*: the results of the GPUs and the plain pass differ$' && grep -q 'ANOTHER histogram' "$scratch/out"
report $? 'and shows in the histograms'
job FAULT_AT=2 FAULT=cuLaunchKernel@3,cuLaunchKernelEx@3 --chunk $chunk "$scratch/numbers"
one_line 1 "rank 2 on .*: ctxrt_launch: CTXRT_ERROR_DRIVER: the kernel 'count_bytes' was not launched"
report $? 'a rank that fails ends the job with one line'
job CUDA_VISIBLE_DEVICES= "$scratch/numbers"
one_line 1 'rank [0-3] on .*CTXRT_ERROR_INVALID_DEVICE: .*CUDA_VISIBLE_DEVICES='
report $? 'so do four that fail at once'
job "$scratch/missing"
one_line 1 'rank 0 on .*: cannot read .*/missing: No such file or directory$'
report $? 'a missing file is named in one line'
job /dev/null
one_line 1 'rank 0 on .*: /dev/null is no regular file$'
report $? 'and what is no file'
for wrong in '--chunk 0' '--chunk 65M' '--exchange telepathy' '--nodes x' '--colour' ''; do
    # shellcheck disable=SC2086 # words
    job $wrong
    one_line 2 '.*; see mpi_pipeline --help$'
    report $? "wrong use is one line: '$wrong'"
done
job --help
[ "$status" -eq 0 ] && silent && [ "$(grep -c '^usage: ' "$scratch/out")" = 1 ]
report $? 'help is printed once'
echo "1..$number"
