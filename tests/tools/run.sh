#!/bin/sh
# ctxrt run: the program comes to the stand-in, and its exit status is the program's.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
shim=$top_builddir/lib/shim

echo 1..60

run "$ctxrt" run --help
printed '--memory' && printed '--schedule' && ! grep -q -- '--fault' "$scratch/out"
report $? 'help_lists_the_options'
run "$ctxrt" run
failed_with 2 'name the program.*ctxrt run --help'
report $? 'no_program_is_wrong_use'
run "$ctxrt" run --cards 2 true
failed_with 2 "'--cards'.*ctxrt run --help"
report $? 'an_unknown_option_is_wrong_use'
run "$ctxrt" run --devices
failed_with 2 "'--devices'.*lacks its value"
report $? 'an_option_without_its_value_is_wrong_use'
for devices in 0 65 two 4x ''; do
    run "$ctxrt" run --devices "$devices" true
    failed_with 2 "^ctxrt run: --devices $devices: it is a number from 1 to 64"
    report $? "devices_cannot_be_'$devices'"
done
for memory in 1K 2T 4X -4G 99999999999999999999 ''; do
    run "$ctxrt" run --memory "$memory" true
    failed_with 2 "^ctxrt run: --memory $memory: it is a size from 2M to 1T"
    report $? "memory_cannot_be_'$memory'"
done
for memory in 2M 2m 2MiB 1T 2097152; do
    run "$ctxrt" run --memory "$memory" true
    [ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ]
    report $? "memory_can_be_$memory"
done
for gpu in default rtx3060 l4 l40s rtx-pro-6000 tiny; do
    run "$ctxrt" run --gpu $gpu --devices 1 "$ctxrt" info
    printed "^    name  *ctxrt emulated .*GPU\\|^    name  *ctxrt emulated NVIDIA"
    report $? "gpu_can_be_$gpu"
done
run "$ctxrt" run --gpu=tiny --devices 1 "$ctxrt" info --json
printed '"total_bytes": 67108864' && grep -q '"multiprocessors": 4,' "$scratch/out"
report $? 'the_gpu_that_is_named_is_played'
run env CTXRT_EMU_MEMORY=32M "$ctxrt" run --gpu tiny --devices 1 "$ctxrt" info --json
printed '"total_bytes": 33554432' && grep -q '"multiprocessors": 4,' "$scratch/out"
report $? 'its_memory_can_be_another'
for gpu in Tiny h100 ''; do
    run "$ctxrt" run --gpu "$gpu" true
    failed_with 2 "^ctxrt run: --gpu $gpu: it can be default, rtx3060, l4, l40s, rtx-pro-6000 or tiny;"
    report $? "gpu_cannot_be_'$gpu'"
done
run env CTXRT_EMU_DEVICES=0 "$ctxrt" run true
failed_with 2 'CTXRT_EMU_DEVICES is not a number'
report $? 'a_bad_number_in_the_environment_is_wrong_use'
run "$ctxrt" run --cuda 11 true
failed_with 2 '--cuda 11: it can be 12 or 13'
report $? 'cuda_is_12_or_13'

run "$ctxrt" run no-such-program
failed_with 127 'cannot run no-such-program'
report $? 'a_program_that_is_not_there_gives_127'
printf '#!/bin/sh\n' > "$scratch/beside"
chmod +x "$scratch/beside"
run sh -c 'cd "$1" && exec "$2" run beside' sh "$scratch" "$ctxrt"
failed_with 127 'cannot run beside: No such file or directory; say ./beside$'
report $? 'a_program_of_the_current_folder_is_told_with_its_name'
echo 'int main(void) { return 0; }' > "$scratch/tutorial.cu"
run "$ctxrt" run "$scratch/tutorial.cu"
failed_with 126 'tutorial.cu: it is source: compile it first, .* cuCtxCreate(&context, NULL, flags, device)$'
report $? 'a_source_is_told_to_be_compiled_and_with_which_arguments'
run sh -c 'cd "$1" && exec "$2" run tutorial.cu' sh "$scratch" "$ctxrt"
failed_with 127 'tutorial.cu: it is source: compile it first'
report $? 'also_in_the_current_folder'
run "$ctxrt" run "$scratch"
failed_with 126 'cannot run'
report $? 'a_program_that_cannot_be_executed_gives_126'
run "$ctxrt" run sh -c 'exit 7'
[ "$status" -eq 7 ]
report $? 'the_exit_status_is_the_programs'
run "$ctxrt" run echo --devices 2
printed '^--devices 2$'
report $? 'options_behind_the_program_are_the_programs'

run env LD_LIBRARY_PATH=/before CTXRT_LIBCUDA=/elsewhere "$ctxrt" run sh -c \
    'echo "$LD_LIBRARY_PATH"; echo "${CTXRT_LIBCUDA-unset}"'
ours="$shim/cuda-13/\.libs"
for version in 13 12 11; do
    ours="$ours:$(dirname "$shim")/runtime/cudart-$version/\.libs"
done
printed "^$ours:/before$" && printed '^unset$'
report $? 'the_folders_of_stand_in_and_runtime_are_added_before_other_libraries'
run env -u LD_LIBRARY_PATH "$ctxrt" run sh -c 'echo "$LD_LIBRARY_PATH"'
printed "^$ours$"
report $? 'and_where_there_are_no_others'
# A library whose name one of ours has, too, as the standalone InfiniRT has it; the program finds its own by its run path.
mkdir "$scratch/own"
echo 'int answer(void) { return 42; }' > "$scratch/own/library.c"
echo 'int answer(void); int main(void) { return answer() == 42 ? 0 : 1; }' > "$scratch/own/main.c"
run sh -c 'cd "$0" && ${CC:-cc} -shared -fPIC -Wl,-soname,libinfinirt.so library.c -o libinfinirt.so &&
    ${CC:-cc} main.c -o main -L. -linfinirt -Wl,-rpath,"$0"' "$scratch/own"
[ "$status" -eq 0 ] && run env -u LD_LIBRARY_PATH "$ctxrt" run "$scratch/own/main" && [ "$status" -eq 0 ] &&
    run env -u LD_LIBRARY_PATH "$ctxrt" check "$scratch/own/main" && [ "$status" -eq 0 ]
report $? 'a_program_finds_its_own_libinfinirt'

# ctxrt info is a Driver API program as any other.
run "$ctxrt" run --devices 3 --memory 64M "$ctxrt" info
printed "CUDA 13\.0, 3 devices, $shim/cuda-13/" && grep -q '^  cuda:2$' "$scratch/out"
report $? 'the_program_finds_the_devices'
run env CTXRT_EMU_FAULT=cuInit@1 CTXRT_LOG=error "$ctxrt" run "$ctxrt" info
printed 'CUDA_ERROR_NO_DEVICE' && ! grep -q '^  cuda:' "$scratch/out"
report $? 'calls_fail_in_the_stand_in_on_demand'
run env CTXRT_EMU_FAULT=cuMemAloc "$ctxrt" run true
failed_with 2 "'cuMemAloc' is no call of the driver"
report $? 'faults_that_cannot_be_read_are_wrong_use'
# A library of that name, which has nothing in it; the program itself is one of the Driver API.
if run sh -c 'echo "int nothing;" | ${CC:-cc} -shared -fPIC -x c -o "$1" -' sh "$scratch/libcudart.so.12" &&
    [ "$status" -eq 0 ] && [ -z "$SANITIZERS" ]; then
    run env LD_PRELOAD="$scratch/libcudart.so.12" "$ctxrt" run "$ctxrt" info
    [ "$status" -eq 0 ] && [ "$(grep -c "NVIDIA's CUDA Runtime library (libcudart).*ctxrt nvcc" "$scratch/errors")" -eq 1 ]
    report $? 'a_program_with_libcudart_is_warned_once'
    run env LD_PRELOAD="$scratch/libcudart.so.12" CTXRT_LOG=error "$ctxrt" run "$ctxrt" info
    printed '^  cuda:0$'
    report $? 'and_not_where_the_log_leaves_warnings_out'
else
    skip 'a_program_with_libcudart_is_warned_once' 'no library can be built and preloaded'
    skip 'and_not_where_the_log_leaves_warnings_out' 'no library can be built and preloaded'
fi
# A program that brings a libcudart of its own, found by a run path of its own or of its library, gets ctxrt's.
if [ -n "$SANITIZERS" ]; then
    skip 'a_run_path_does_not_hide_the_runtime_library' 'the program is not sanitized'
    skip 'cudart_comes_before_that_of_a_library' 'the program is not sanitized'
else
    mkdir "$scratch/brought"
    echo 'int cudaRuntimeGetVersion(int *out) { *out = 1; return 0; }' > "$scratch/brought/brought.c"
    echo 'int cudaRuntimeGetVersion(int *); int used(void) { int v = 0; cudaRuntimeGetVersion(&v); return v; }' > "$scratch/brought/user.c"
    echo 'int puts(const char *); int used(void); int main(void) { return puts(used() == 1 ? "theirs" : "ours") < 0; }' > "$scratch/brought/main.c"
    # shellcheck disable=SC2016 # it is for the inner shell
    run sh -c 'cd "$0" && cc=${CC:-cc} && $cc -shared -fPIC -Wl,-soname,libcudart.so.13 brought.c -o libcudart.so.13 &&
        $cc main.c user.c -o main ./libcudart.so.13 -Wl,--disable-new-dtags -Wl,-rpath,"$0" &&
        $cc -shared -fPIC user.c -o libuser.so ./libcudart.so.13 -Wl,--disable-new-dtags -Wl,-rpath,"$0" &&
        $cc main.c -o second -L. -luser -Wl,--disable-new-dtags -Wl,-rpath,"$0"' "$scratch/brought"
    [ "$status" -eq 0 ] && run "$scratch/brought/main" && printed theirs &&
        run "$ctxrt" run "$scratch/brought/main" && printed ours
    report $? 'a_run_path_does_not_hide_the_runtime_library'
    run "$ctxrt" run "$scratch/brought/second" && printed theirs &&
        run env LD_PRELOAD="$scratch/brought/libuser.so" "$ctxrt" run --cudart 13 "$scratch/brought/second" &&
        printed ours
    report $? 'cudart_comes_before_that_of_a_library'
fi
run "$ctxrt" run --cudart 10 true
failed_with 2 '--cudart 10: it can be 11, 12 or 13'
report $? 'the_runtime_libraries_are_three'
# NVRTC asks for an export table, too, and does without; a library of another name that asks has libcudart linked in.
cat > "$scratch/asks.c" << 'C'
int cuGetExportTable(const void **table, const void *id);
int ask(void) { char id[16] = {0}; const void *table; return cuGetExportTable(&table, id) == 500 ? 0 : 1; }
C
echo 'int ask(void); int main(void) { return ask(); }' > "$scratch/main.c"
asks() # the name of the library that asks
{
    # shellcheck disable=SC2016 # it is for the inner shell
    run sh -c 'cd "$0" && ${CC:-cc} -shared -fPIC asks.c -o "$1" "$2" && ${CC:-cc} main.c -o asks "./$1" "$2"' "$scratch" "$1" \
        "$top_builddir/lib/shim/cuda-12/.libs/libcuda.so.1"
    [ "$status" -eq 0 ] && (cd "$scratch" && run "$ctxrt" run ./asks && exit "$status")
}
if [ -n "$SANITIZERS" ]; then
    skip 'the_compiler_NVRTC_is_not_taken_for_libcudart' 'the program is not sanitized'
else
    asks libother.so.12 && grep -q 'libother.so.12 has .*(libcudart) linked in' "$scratch/errors" && asks libnvrtc.so.12 && [ ! -s "$scratch/errors" ]
    report $? 'the_compiler_NVRTC_is_not_taken_for_libcudart'
fi
# Fat binaries as nvcc puts them into a program, of empty parts: 1 is PTX, 2 is machine code. A program of -rdc=true has them in
# another section beside an empty one, and the device runtime, which always has PTX, is its last one.
fat() # the section, and each fat binary as the kinds of its parts: "21 1"
{
    {
        printf '__asm__(".section .nv_fatbin,\\"a\\"\\n.long 0xba55ed50, 0x100001, 0, 0\\n.section %s,\\"a\\"\\n"\n' "$1"
        for binary in $2; do
            printf '".long 0xba55ed50, 0x100001, %d, 0\\n"\n' $((${#binary} * 16))
            echo "$binary" | sed 's/./".long &, 16, 0, 0\\n"\n/g'
        done
        echo '".text"); int main(void) { return 0; }'
    } > "$scratch/fat.c"
    ${CC:-cc} "$scratch/fat.c" -o "$scratch/fat" && run "$ctxrt" run "$scratch/fat"
}
tells_of_code()
{
    [ "$(grep -c 'machine code without PTX' "$scratch/errors")" -eq "$1" ]
}
fat .nv_fatbin 2 && tells_of_code 1 && fat .nv_fatbin '2 21' && tells_of_code 0
report $? 'a_program_with_machine_code_alone_is_told_to_bring_PTX'
fat .nv_fatbin '' && tells_of_code 0
report $? 'a_program_without_kernels_is_told_nothing'
fat __nv_relfatbin '1 21' && tells_of_code 0 && fat __nv_relfatbin 1 && tells_of_code 0
report $? 'PTX_of_separate_compilation_is_found'
fat __nv_relfatbin '2 2 21' && tells_of_code 1
report $? 'PTX_of_the_device_runtime_is_not_the_programs'
run "$ctxrt" run --cuda=12 "$ctxrt" info
printed "CUDA 12\.9, 4 devices, $shim/cuda-12/"
report $? 'cuda_12_is_the_other_stand_in'
run env CTXRT_EMU_DEVICES=2 "$ctxrt" run --memory 64M "$ctxrt" info
printed "CUDA 13\.0, 2 devices, $shim/cuda-13/"
report $? 'what_is_not_said_is_as_in_the_environment'
run env CTXRT_EMU_SCHEDULE=threads "$ctxrt" run --schedule lazy "$ctxrt" info
printed '^  CTXRT_EMU_SCHEDULE  *lazy$'
report $? 'a_schedule_is_set_for_the_program'
run "$ctxrt" run --schedule random:x true
failed_with 2 '--schedule random:x: it can be threads, lazy or random:SEED'
report $? 'a_schedule_that_is_none_is_wrong_use'
