# Sourced after tap.sh: cc, c++, pkg-config and ctxrt as someone who reads the documentation calls them, but those of the build
# tree, and with warnings as errors. $reader is empty where that cannot be. With CTXRT_TEST_INSTALLED=system they are those of an
# installed ctxrt.
: "${scratch:?samples/reader.sh is sourced after tap.sh, which makes the scratch folder}"
reader=$(command -v "${PKG_CONFIG:-pkg-config}")
mkdir "$scratch/bin" "$scratch/include"
standin=$top_builddir/lib/shim/cuda-13/.libs
[ "${CTXRT_TEST_INSTALLED:-}" != system ] || standin=$("$reader" --variable=libdir ctxrt)/ctxrt/cuda-13
cp "$top_srcdir/samples/cuda_min.h" "$scratch/include/cuda.h" # where there is no toolkit
cuda_include=${CUDA_DIR:+$CUDA_DIR/include}

compiler() # command
{
    cat <<COMMAND
#!/bin/sh
PATH='$PATH' LIBRARY_PATH='$standin'
export LIBRARY_PATH
exec $1 -Wall -Wextra -Wpedantic -Werror ${SANITIZERS:+-g -fsanitize=$SANITIZERS} "\$@" \
    -isystem '${cuda_include:-$scratch/include}'
COMMAND
}
compiler "${CC:-cc}" > "$scratch/bin/cc"
compiler "${CXX:-c++}" > "$scratch/bin/c++"
chmod +x "$scratch/bin/cc" "$scratch/bin/c++"
PATH=$scratch/bin:$PATH
export PATH
[ "${CTXRT_TEST_INSTALLED:-}" != system ] || return 0

cat > "$scratch/bin/ctxrt" <<COMMAND
#!/bin/sh
exec '$top_builddir/ctxrt' "\$@"
COMMAND
cat > "$scratch/bin/pkg-config" <<COMMAND
#!/bin/sh
PKG_CONFIG_PATH='$scratch' exec '$reader' "\$@"
COMMAND
chmod +x "$scratch/bin/ctxrt" "$scratch/bin/pkg-config"
sed -e "s#^libdir=.*#libdir=$top_builddir/lib/.libs#" -e "s#^includedir=.*#includedir=$top_srcdir/include#" \
    "$top_builddir/ctxrt.pc" > "$scratch/ctxrt.pc"
LD_LIBRARY_PATH=$top_builddir/lib/.libs
export LD_LIBRARY_PATH
unset PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_LIBDIR
