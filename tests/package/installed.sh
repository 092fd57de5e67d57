# Sourced after tap.sh: $root is an installation, made once in each run of make check and shared by the tests here, which leave
# it as it is. A test that runs by itself makes its own. With CTXRT_TEST_INSTALLED=system it is that of the system, and $root empty.
[ -z "$SANITIZERS" ] || skip_all "an installation is not built with $SANITIZERS"
pkg_config=${PKG_CONFIG:-pkg-config}
command -v "$pkg_config" > /dev/null || skip_all 'pkg-config is not installed'

if [ "${CTXRT_TEST_INSTALLED:-}" = system ]; then
    root='' status=0
    libraries=$("$pkg_config" --variable=libdir ctxrt)
    prefix=$("$pkg_config" --variable=prefix ctxrt)
    return
fi

installation=$top_builddir/tests/package/installed
if [ -n "${CTXRT_TEST_INSTALLED:-}" ]; then
    status=$(cat "$installation/status")
    cp "$installation/log" "$scratch/out"
    root=$installation/root
else
    # Its own make, not a part of the one that runs the tests.
    root=$scratch/root
    unset MAKEFLAGS MFLAGS MAKELEVEL
    run "${MAKE:-make}" -C "$top_builddir" install "DESTDIR=$root"
fi

pc=$(find "$root" -name ctxrt.pc)
libraries=$(dirname "$(dirname "$pc")")
prefix=$root$("$pkg_config" --variable=prefix "$pc")
PKG_CONFIG_LIBDIR="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$root" PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_ALLOW_SYSTEM_CFLAGS PKG_CONFIG_ALLOW_SYSTEM_LIBS
