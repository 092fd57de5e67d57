#!/bin/sh
# The places that ctxrt check names: of libraries by whatever path they were opened, of inlined functions, of C++.
set -u
. "$top_srcdir/tests/support/tap.sh"
ctxrt=$top_builddir/ctxrt
library=$top_builddir/lib/shim/cuda-12/.libs
unset CTXRT_LAYERS CTXRT_STANDIN_LIBCUDA CTXRT_CHECK_FOLDER
"$ctxrt" check --help > /dev/null 2>&1 || skip_all 'there is no ctxrt check here'
[ -z "${SANITIZERS:-}" ] || skip_all 'the programs are compiled without sanitizers'
grep -q '^#define HAVE_LIBDW 1' "$top_builddir/config.h" || skip_all 'places have no functions and lines without libdw'

compile() # output, source, option...
{
    output=$1 source=$2
    shift 2
    ${CC:-cc} -std=gnu11 -g -DMISUSE_OWN_DECLARATIONS "-I$top_srcdir/tests/misuse" "$source" -o "$output" "$@" \
        "-L$library" -l:libcuda.so.1 -ldl
}

mkdir "$scratch/place" "$scratch/other" || exit 99
cd "$scratch/place" || exit 99

cat > plugin.c <<'EOF'
#include "misuse.h"
void begin(CUcontext context)
{
    MUST(cuCtxSetCurrent(context));
    puts("begun");
}
EOF
cat > host.c <<'EOF'
#define _GNU_SOURCE
#include "misuse.h"
#include <dlfcn.h>
#include <unistd.h>
int main(int count, char **words)
{
    CUcontext here, there;
    CUdeviceptr memory;
    MUST(cuInit(0));
    MUST(cuDevicePrimaryCtxRetain(&here, 0));
    MUST(cuDevicePrimaryCtxRetain(&there, 1));
    MUST(cuCtxPushCurrent(here));
    void *plugin = dlopen(words[1], RTLD_NOW);
    void (*begin)(CUcontext) = (void (*)(CUcontext))dlsym(plugin, "begin");
    if (count > 2 && chdir(words[2]) != 0)
        return 2;
    begin(there);
    MUST(cuMemAlloc(&memory, 64));
    MUST(cuMemFree(memory));
    MUST(cuCtxPopCurrent(NULL));
    if (count > 3) /* another file has the name when the report is made */
        (void)rename(words[3], words[1]);
    return 0;
}
EOF
compile plugin.so plugin.c -shared -fPIC || exit 99
compile host host.c || exit 99

check() # argument...
{
    run env CTXRT_EMU_DEVICES=2 timeout 600 "$ctxrt" check "$@"
}

# The plug-in and its line are named, and the program's own line of the call.
names_plugin()
{
    grep -q '^  set: current there: .* set by plugin\.so, plugin\.c:4 in begin() < host\.c:17 in main()$' "$scratch/errors"
}

check ./host "$PWD/plugin.so"
names_plugin
report $? 'a_library_that_was_opened_by_its_full_path_is_named'
check ./host ./plugin.so
names_plugin
report $? 'a_library_that_was_opened_by_a_relative_path_is_named'
check ./host ./plugin.so "$scratch/other"
names_plugin
report $? 'also_after_the_program_has_left_its_folder'
cp plugin.so "$scratch/other/plugin.so"
sed 's/puts/\n\n\n    puts/' plugin.c > other.c
compile other.so other.c -shared -fPIC || exit 99
check ./host ./plugin.so . other.so
grep -q 'set by plugin\.so, plugin\.so+0x[0-9a-f]* < host\.c:17 in main()$' "$scratch/errors"
report $? 'lines_of_another_file_that_has_the_name_now_are_not_told'

cat > inlined.c <<'EOF'
#include "misuse.h"
__attribute__((always_inline)) static inline CUdeviceptr take(size_t bytes)
{
    CUdeviceptr memory;
    MUST(cuMemAlloc(&memory, bytes));
    return memory;
}
__attribute__((always_inline)) static inline CUdeviceptr take_row(void)
{
    return take(64);
}
int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    CUdeviceptr kept = take_row();
    return kept == 0;
}
EOF
compile inlined inlined.c -O2 || exit 99
check --leaks --json report ./inlined
grep -q '^  made: 64 bytes of device memory, inlined\.c:5 in take() < inlined\.c:10 in take_row() < inlined\.c:17 in main()$' "$scratch/errors"
report $? 'functions_that_the_compiler_has_inlined_are_named'
grep -q '"inlined": true' report && grep -q "\"path\": \".*inlined\.c\"" report && grep -q '"line": 17' report
report $? 'and_so_they_are_in_JSON_with_the_path_of_the_source'
echo 'LIFE-MEMORY function:take_row' > rules
check --leaks --suppress rules ./inlined
! grep -q LIFE-MEMORY "$scratch/errors"
report $? 'a_suppression_names_an_inlined_function'

# Names of C++ are made without its compiler.
cat > named.c <<'EOF'
#include "misuse.h"
__attribute__((noinline)) void take(unsigned long bytes) __asm__("_ZN4mesh5cache4takeEm");
void take(unsigned long bytes)
{
    CUdeviceptr memory;
    MUST(cuMemAlloc(&memory, bytes));
}
int main(void)
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    take(64);
    return 0;
}
EOF
compile named named.c -O0 || exit 99
check --leaks --json report ./named
if grep -q '^  made: .*named\.c:6 in mesh::cache::take(unsigned long) < ' "$scratch/errors"; then
    grep -q '"linkage_name": "_ZN4mesh5cache4takeEm"' report
    report $? 'names_of_CXX_are_told_as_in_the_source'
    echo 'LIFE-MEMORY function:mesh::*' > rules
    check --leaks --suppress rules ./named
    ! grep -q LIFE-MEMORY "$scratch/errors"
    report $? 'and_suppressions_may_name_them_so'
elif ldconfig -p 2> /dev/null | grep -q 'libstdc++\.so\.6'; then
    report 1 'names_of_CXX_are_told_as_in_the_source'
else
    skip 'names_of_CXX_are_told_as_in_the_source' 'there is no libstdc++ here'
fi
echo "1..$number"
