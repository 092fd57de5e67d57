#!/bin/sh
# What make install leaves works: the library through pkg-config, and the command, even where it was moved.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/package/installed.sh"

echo 1..11
report "$status" 'make_install_installs'
command=$prefix/bin/ctxrt

cat > "$scratch/program.c" <<'C'
#include <ctxrt/ctxrt.h>
#include <stdio.h>

int main(void)
{
    int version = ctxrt_version();
    if (ctxrt_device_set(CTXRT_CPU(0)) != CTXRT_SUCCESS)
        return 1;
    printf("%d.%d.%d\n", version / 10000, version / 100 % 100, version % 100);
    return ctxrt_stack_depth() != 1 || ctxrt_stack_pop() != CTXRT_SUCCESS;
}
C
run ${CC:-cc} -std=c11 -Wall -Werror "$scratch/program.c" -o "$scratch/program" \
    $("$pkg_config" --cflags --libs ctxrt)
report "$status" 'a_program_builds_with_the_flags_of_pkg_config'

objdump -p "$scratch/program" > "$scratch/out"
grep -q 'NEEDED *libctxrt\.so\.0$' "$scratch/out"
report $? 'the_program_needs_libctxrt_so_0'

LD_LIBRARY_PATH=$libraries
export LD_LIBRARY_PATH
run "$scratch/program"
printed "^$("$pkg_config" --modversion ctxrt)$"
report $? 'the_program_runs_with_the_version_of_pkg_config'

cat > "$scratch/client.c" <<'C'
#include <infinirt.h>
#include <stdio.h>

int main(void)
{
    infiniDevice_t type;
    int counts[INFINI_DEVICE_TYPE_COUNT];
    if (infinirtGetAllDeviceCount(counts) != INFINI_STATUS_SUCCESS ||
        infinirtGetDevice(&type, NULL) != INFINI_STATUS_SUCCESS)
        return 1;
    printf("%d of type %d\n", counts[type], (int)type);
    return 0;
}
C
# The linker finds libctxrt, which libinfinirt needs, where a system's would be.
run ${CC:-cc} -std=c11 -Wall -Werror "$scratch/client.c" -o "$scratch/client" \
    $("$pkg_config" --cflags --libs infinirt) "-Wl,-rpath-link,$libraries"
report "$status" 'a_program_of_infinirt_builds_with_the_flags_of_pkg_config'
run "$scratch/client"
printed '^1 of type 0$'
report $? 'a_program_of_infinirt_runs'

for cuda in 12 13; do
    run "$command" run --cuda $cuda --devices 2 "$command" info
    printed "2 devices, $libraries/ctxrt/cuda-$cuda/libcuda\.so\.1"
    report $? "ctxrt_run_finds_the_stand_in_of_cuda_$cuda"
done
echo 'A: ctx.create a -> SUCCESS' > "$scratch/one.scn"
run "$command" play "$scratch/one.scn"
printed ': passed$'
report $? 'ctxrt_play_finds_its_player'
find "$libraries" -maxdepth 1 -name 'libcuda*' > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'no_libcuda_is_in_the_folder_of_libraries'

cp -R "$root" "$scratch/less"
rm "$scratch/less${libraries#"$root"}/ctxrt/cuda-13/libcuda.so.1"
: > "$scratch/out"
run "$scratch/less${command#"$root"}" run --cuda 13 true
if [ "$status" -eq 0 ]; then
    skip 'a_stand_in_that_is_missing_is_named' 'one is installed in the place that was configured'
else
    failed_with 1 'stand-in cuda-13/libcuda\.so\.1 is not in'
    report $? 'a_stand_in_that_is_missing_is_named'
fi
