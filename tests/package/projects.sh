#!/bin/sh
# Ten lines of CMake, Meson, make and Autotools each find the installed libraries, even where they were moved, and build programs
# that run.
set -u
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/package/installed.sh"
[ "$status" -eq 0 ] || { echo "Bail out! make install failed"; exit 1; }
version=$("$pkg_config" --modversion ctxrt)
CC=${CC:-cc}
export CC

copy() # project
{
    cp -R "$top_srcdir/tests/package/projects/$1" "$scratch/$1"
    chmod -R u+w "$scratch/$1"
    cp "$top_srcdir"/tests/package/projects/*.c "$scratch/$1"
}

# Skips a project whose tools are not there.
has() # project, tool...
{
    project=$1
    shift
    for tool; do
        command -v "$tool" > /dev/null || break
        shift
    done
    [ $# -gt 0 ] || return 0
    skip "a_project_of_${project}_builds" "$1 is not installed"
    skip "programs_of_${project}_run" "$1 is not installed"
    return 1
}

runs() # project, folder of its programs
{
    run "$2/program"
    number_of_version=$(echo "$version" | awk -F. '{ print $1 * 10000 + $2 * 100 + $3 }')
    printed "^$version $number_of_version, 1 frame$" && run "$2/client" && printed '^1 of type 0$'
    report $? "programs_of_$1_run"
}

# Other build systems than CMake leave the linker and the loader to find libctxrt where a system's libraries are.
beside() # command...
{
    LD_LIBRARY_PATH=$libraries LDFLAGS="-Wl,-rpath-link,$libraries" run "$@"
}

in_cmake()
{
    cmake -S "$scratch/cmake" -B "$scratch/cmake/build" "-DCMAKE_PREFIX_PATH=$prefix" "$@" &&
        cmake --build "$scratch/cmake/build"
}

if has cmake cmake; then
    copy cmake
    run in_cmake
    report "$status" 'a_project_of_cmake_builds'
    runs cmake "$scratch/cmake/build"
fi

if has meson meson ninja; then
    copy meson
    beside sh -c 'meson setup "$1/build" "$1" && ninja -C "$1/build"' sh "$scratch/meson"
    report "$status" 'a_project_of_meson_builds'
    runs meson "$scratch/meson/build"
fi

if has make make; then
    copy make
    (unset MAKEFLAGS MFLAGS MAKELEVEL; beside make -e -C "$scratch/make" && exit "$status")
    report $? 'a_project_of_make_builds'
    LD_LIBRARY_PATH=$libraries runs make "$scratch/make"
fi

if has autotools autoreconf automake; then
    copy autotools
    (unset MAKEFLAGS MFLAGS MAKELEVEL
        beside sh -c 'cd "$1" && autoreconf -i && ./configure && make' sh "$scratch/autotools" && exit "$status")
    report $? 'a_project_of_autotools_builds'
    LD_LIBRARY_PATH=$libraries runs autotools "$scratch/autotools"
fi

# A line for each request: what is asked of find_package, and whether the version serves.
requests()
{
    echo "$version" | awk -F. '{
        this = $1 "." $2; next_minor = $1 "." $2 + 1; next_patch = this "." $3 + 1
        print "any yes"
        print this " yes"
        print $0 " yes"
        print $0 " EXACT yes"
        print next_patch " no"
        print next_minor " no"
        print $1 + 1 " no"
        print $1 + 1 ".0 no"
        print this ".0..." next_minor " yes"
        print "0.0.1..." next_minor " yes"
        print "0.0.1...<" $0 " no"
        print "0.0.1..." $0 " yes"
        print next_minor "..." $1 + 2 " no"
        print this " EXACT " ($3 == 0 ? "yes" : "no")
        print this " COMPONENTS nothing no"
        if ($1 == 0) {
            print "0." ($2 > 0 ? $2 - 1 : 9) " no"
            print this "0 no"
        }
    }'
}

ask_cmake()
{
    mkdir "$scratch/versions" && {
        echo 'cmake_minimum_required(VERSION 3.19)'
        echo 'project(versions C)'
        requests | while read -r request; do
            asked=${request% *}
            for package in ctxrt infinirt; do
                [ "$asked" != any ] || asked=
                echo "find_package($package $asked QUIET CONFIG)"
                echo 'if('"$package"'_FOUND)'
                echo "  message(STATUS \"$package ${request% *}: yes\")"
                echo 'else()'
                echo "  message(STATUS \"$package ${request% *}: no\")"
                echo 'endif()'
                echo "unset(${package}_DIR CACHE)"
            done
        done
    } > "$scratch/versions/CMakeLists.txt" &&
        cmake -S "$scratch/versions" -B "$scratch/versions/build" "-DCMAKE_PREFIX_PATH=$prefix"
}

ranges() # cmake knows ranges of versions
{
    cmake --version | awk 'NR == 1 { split($3, n, "."); exit !(n[1] > 3 || n[1] == 3 && n[2] >= 19) }'
}

if command -v cmake > /dev/null && ranges; then
    requests | while read -r request; do
        printf -- '-- ctxrt %s: %s\n-- infinirt %s: %s\n' "${request% *}" "${request##* }" "${request% *}" "${request##* }"
    done > "$scratch/expected"
    run ask_cmake
    grep -- '^-- \(ctxrt\|infinirt\) ' "$scratch/out" > "$scratch/answers"
    diff "$scratch/expected" "$scratch/answers" >> "$scratch/errors" && [ "$status" -eq 0 ]
    report $? 'cmake_takes_the_versions_that_serve'

    # The standalone InfiniRT has that name, and CMake looks for lower-case files too: it goes on to the right package, or says what
    # this one is.
    mkdir -p "$scratch/standalone/lib/cmake/InfiniRT" "$scratch/names"
    echo 'set(InfiniRT_FOUND TRUE)' > "$scratch/standalone/lib/cmake/InfiniRT/InfiniRTConfig.cmake"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' 'project(names C)' 'find_package(InfiniRT CONFIG REQUIRED)' \
        'message(STATUS "found in ${InfiniRT_DIR}")' > "$scratch/names/CMakeLists.txt"
    run cmake -S "$scratch/names" -B "$scratch/names/build" "-DCMAKE_PREFIX_PATH=$prefix"
    [ "$status" -ne 0 ] && grep -q "infinirt-config.cmake, version: $version (ctxrt's package infinirt, not InfiniRT)" "$scratch/errors" &&
        run cmake -S "$scratch/names" -B "$scratch/names/build" "-DCMAKE_PREFIX_PATH=$prefix;$scratch/standalone" &&
        printed "^-- found in $scratch/standalone/"
    report $? 'cmake_does_not_take_infinirt_for_InfiniRT'

    # Only the library is missing.
    [ -n "$root" ] || { echo "1..$number"; exit 0; }
    cp -R "$root" "$scratch/less"
    rm "$scratch/less${libraries#"$root"}/libinfinirt.so"
    rm -rf "$scratch/cmake/build"
    prefix=$scratch/less${prefix#"$root"} run in_cmake
    [ "$status" -ne 0 ] && tr -s ' \n' ' ' < "$scratch/errors" | grep -q '/libinfinirt.so and .* are not both there'
    report $? 'cmake_says_what_is_missing'
else
    skip 'cmake_takes_the_versions_that_serve' 'cmake 3.19 is not installed'
    skip 'cmake_does_not_take_infinirt_for_InfiniRT' 'cmake 3.19 is not installed'
    skip 'cmake_says_what_is_missing' 'cmake 3.19 is not installed'
fi
echo "1..$number"
