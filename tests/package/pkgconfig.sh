#!/bin/sh
# What make install leaves works: the library through pkg-config, and the command, even where it was moved.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$SANITIZERS" ] || skip_all "an installation is not built with $SANITIZERS"
pkg_config=${PKG_CONFIG:-pkg-config}
command -v "$pkg_config" > /dev/null || skip_all 'pkg-config is not installed'

echo 1..11
root=$scratch/root

# Its own make, not a part of the one that runs the tests.
(unset MAKEFLAGS MFLAGS MAKELEVEL && run "${MAKE:-make}" -C "$top_builddir" install "DESTDIR=$root" && exit "$status")
report $? 'make_install_installs'

pc=$(find "$root" -name ctxrt.pc)
command=$(find "$root" -path '*/bin/ctxrt')
libraries=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_LIBDIR="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$root" \
    PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1

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

rm "$libraries/ctxrt/cuda-13/libcuda.so.1"
: > "$scratch/out"
run "$command" run --cuda 13 true
if [ "$status" -eq 0 ]; then
    skip 'a_stand_in_that_is_missing_is_named' 'one is installed in the place that was configured'
else
    failed_with 1 'stand-in cuda-13/libcuda\.so\.1 is not in'
    report $? 'a_stand_in_that_is_missing_is_named'
fi
