#!/bin/sh
# make install prefix=DIR installs a build that was configured for another folder: in a copy of it, since libraries are
# linked anew.
set -u
. "$top_srcdir/tests/support/tap.sh"
[ -z "$SANITIZERS" ] || skip_all "an installation is not built with $SANITIZERS"
pkg_config=${PKG_CONFIG:-pkg-config}
command -v "$pkg_config" > /dev/null || skip_all 'pkg-config is not installed'
case $(sed -n 's/^top_srcdir = //p' "$top_builddir/Makefile") in
/* | ..) ;;
*) skip_all 'the build is not beside or in the sources' ;;
esac

echo 1..8
mkdir -p "$scratch/tree/copy"
ln -s "$top_srcdir"/* "$scratch/tree" 2> /dev/null
(cd "$top_builddir" && tar cf - --exclude='*.valgrind' --exclude=./tests --exclude=./samples --exclude=./asan --exclude=./tsan .) |
    (cd "$scratch/tree/copy" && tar xf -)
prefix=$scratch/installed

# Its own make, not a part of the one that runs the tests; only what is installed is made.
(unset MAKEFLAGS MFLAGS MAKELEVEL &&
    run "${MAKE:-make}" -C "$scratch/tree/copy" install-exec install-data "prefix=$prefix" && exit "$status")
report $? 'make_install_with_another_prefix_installs'

PKG_CONFIG_LIBDIR=$(dirname "$(find "$prefix" -name ctxrt.pc)")
export PKG_CONFIG_LIBDIR
[ "$("$pkg_config" --variable=prefix ctxrt)" = "$prefix" ] && [ "$("$pkg_config" --variable=prefix infinirt)" = "$prefix" ]
report $? 'pkg_config_finds_it_there'

documents=$prefix/share/doc/ctxrt
run ${CC:-cc} -std=c11 "$documents/samples/push_pop.c" -o "$scratch/push_pop" $("$pkg_config" --cflags --libs ctxrt)
report "$status" 'an_installed_sample_builds'
LD_LIBRARY_PATH=$("$pkg_config" --variable=libdir ctxrt) CTXRT_DRIVER=emulated
export LD_LIBRARY_PATH CTXRT_DRIVER
run "$scratch/push_pop"
report "$status" 'and_runs'
unset LD_LIBRARY_PATH
run "$prefix/bin/ctxrt" info
printed '^ctxrt '
report $? 'the_command_finds_its_library_by_itself'
[ -f "$documents/docs/guide.md" ] && [ -f "$documents/README.md" ] &&
    run "$prefix/bin/ctxrt" play "$documents/scenarios/stack/"*.scn && [ "$status" -eq 0 ]
report $? 'documents_and_scenarios_are_there'
[ -f "$prefix/share/bash-completion/completions/ctxrt" ]
report $? 'bash_finds_the_completion_there'
run "$prefix/bin/ctxrt" bench --quick plan
failed_with 1 'bench_plan is not built.*run .make bench. in a build of ctxrt' && [ ! -d "$prefix/libexec/ctxrt/bench" ] &&
    [ ! -d "$prefix/libexec/ctxrt/traces" ]
report $? 'benches_are_not_installed_and_the_command_says_where_they_are'
