#!/bin/sh
# configure --enable-static installs static libraries; with pkg-config --static and with CMake programs are linked that need no
# libctxrt.so, and that need no library at all.
set -u
. "$top_srcdir/tests/support/tap.sh"
"$top_builddir/libtool" --config | grep -q '^build_old_libs=yes' ||
    skip_all 'configured without --enable-static (./bootstrap package has such a build)'
. "$top_srcdir/tests/package/installed.sh"

echo 1..10
[ -f "$libraries/libctxrt.a" ] && [ -f "$libraries/libinfinirt.a" ]
report $? 'the_static_libraries_are_installed'
find "$root" -name '*.a' ! -name libctxrt.a ! -name libinfinirt.a > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'and_no_other_archive'

# Where only archives of ctxrt are left, no program can be linked with the shared library.
cp -R "$root" "$scratch/archives"
prefix=$scratch/archives${prefix#"$root"}
find "$scratch/archives" -name 'lib*.so*' -exec rm {} +
PKG_CONFIG_SYSROOT_DIR=$scratch/archives PKG_CONFIG_LIBDIR=$scratch/archives${PKG_CONFIG_LIBDIR#"$root"}
projects=$top_srcdir/tests/package/projects

# build NAME PACKAGE OPTION...: a program with the flags of pkg-config --static.
build()
{
    name=$1 package=$2
    shift 2
    run ${CC:-cc} -Wall "$@" "$projects/$name.c" -o "$scratch/$name" $("$pkg_config" --cflags --static --libs "$package")
    report "$status" "$name.c_is_linked_${*:+all_static_}with_the_flags_of_pkg_config_static"
}

build program ctxrt
run "$scratch/program" && ! objdump -p "$scratch/program" | grep -q 'NEEDED.*libctxrt' && printed ', 1 frame$'
report $? 'and_runs'
build client infinirt
run "$scratch/client" && ! objdump -p "$scratch/client" | grep -q 'NEEDED.*lib\(ctxrt\|infinirt\)' && printed '^1 of type 0$'
report $? 'and_runs'

echo 'int main(void) { return 0; }' > "$scratch/none.c"
if ${CC:-cc} -static "$scratch/none.c" -o "$scratch/none" \
    $("$pkg_config" --static --libs-only-l ctxrt | sed 's/-lctxrt //') 2> /dev/null; then
    build program ctxrt -static
    run "$scratch/program"
    printed ', 1 frame$' && ! objdump -p "$scratch/program" | grep -q NEEDED
    report $? 'and_runs'
else
    skip 'program.c_is_linked_all_static' 'there is no static libc or jansson'
    skip 'and_runs' 'there is no static libc or jansson'
fi

if command -v cmake > /dev/null; then
    mkdir "$scratch/cmake"
    cp "$projects"/*.c "$scratch/cmake"
    sed 's/ \([a-z]*\)::\1)/ \1::\1_static)/' "$projects/cmake/CMakeLists.txt" > "$scratch/cmake/CMakeLists.txt"
    # The shared libraries are there again: the target decides.
    run sh -c 'cmake -S "$1" -B "$1/build" "-DCMAKE_PREFIX_PATH=$2" && cmake --build "$1/build"' sh \
        "$scratch/cmake" "$root${prefix#"$scratch/archives"}"
    report "$status" 'a_project_of_cmake_is_linked_with_the_static_libraries'
    run "$scratch/cmake/build/client"
    printed '^1 of type 0$' && ! objdump -p "$scratch/cmake/build/client" | grep -q 'NEEDED.*lib\(ctxrt\|infinirt\)'
    report $? 'and_runs'
else
    skip 'a_project_of_cmake_is_linked_with_the_static_libraries' 'cmake is not installed'
    skip 'and_runs' 'cmake is not installed'
fi
