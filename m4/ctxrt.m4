dnl CTXRT_HEADER(HEADER, PACKAGE): HEADER is needed; says which Debian package has it.
AC_DEFUN([CTXRT_HEADER], [
    AC_CHECK_HEADER([$1], [], [AC_MSG_ERROR([$1 was not found: install the Debian package $2])])
])

dnl CTXRT_PTHREAD: the flags for threads.
AC_DEFUN([CTXRT_PTHREAD], [
    AC_SEARCH_LIBS([pthread_create], [pthread], [], [AC_MSG_ERROR([POSIX threads were not found])])
])

dnl CTXRT_WITH_CUDA: where cuda.h is, only to check our own declarations against it.
AC_DEFUN([CTXRT_WITH_CUDA], [
    AC_ARG_WITH([cuda],
        [AS_HELP_STRING([--with-cuda=DIR], [check the driver declarations against DIR/include/cuda.h @<:@look in the usual places@:>@])],
        [], [with_cuda=auto])
    ctxrt_cuda_dir=
    AS_CASE(["$with_cuda"],
        [no], [],
        [auto|yes], [
            for ctxrt_dir in "$CUDA_HOME" "$CUDA_PATH" /usr/local/cuda /opt/cuda /usr/lib/cuda /usr; do
                AS_IF([test -n "$ctxrt_dir" && test -f "$ctxrt_dir/include/cuda.h"], [ctxrt_cuda_dir=$ctxrt_dir; break])
            done],
        [AS_IF([test -f "$with_cuda/include/cuda.h"], [ctxrt_cuda_dir=$with_cuda],
            [AC_MSG_ERROR([--with-cuda: there is no $with_cuda/include/cuda.h])])])
    AS_IF([test "$with_cuda" = yes && test -z "$ctxrt_cuda_dir"], [AC_MSG_ERROR([--with-cuda: no cuda.h in the usual places; name its folder])])
    CUDA_CPPFLAGS=
    AS_IF([test -n "$ctxrt_cuda_dir"], [
        CUDA_CPPFLAGS="-isystem $ctxrt_cuda_dir/include"
        ctxrt_save_CPPFLAGS=$CPPFLAGS
        CPPFLAGS="$CPPFLAGS $CUDA_CPPFLAGS"
        AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <cuda.h>
                                             #include <cudaTypedefs.h>]], [[return (int)CUDA_VERSION;]])],
            [], [AC_MSG_WARN([$ctxrt_cuda_dir/include/cuda.h does not compile; not checking against it])
                 ctxrt_cuda_dir=])
        CPPFLAGS=$ctxrt_save_CPPFLAGS])
    AC_SUBST([CUDA_CPPFLAGS])
    AC_SUBST([CUDA_DIR], [$ctxrt_cuda_dir])
    AM_CONDITIONAL([HAVE_CUDA_H], [test -n "$ctxrt_cuda_dir"])
])

dnl CTXRT_SANITIZERS: --enable-sanitizers=address,undefined or thread.
AC_DEFUN([CTXRT_SANITIZERS], [
    AC_ARG_ENABLE([sanitizers],
        [AS_HELP_STRING([--enable-sanitizers=LIST], [build with these sanitizers: address,undefined or thread])],
        [], [enable_sanitizers=no])
    ctxrt_sanitizers=
    SANITIZER_CFLAGS=
    AS_CASE(["$enable_sanitizers"],
        [no], [],
        [yes], [AC_MSG_ERROR([--enable-sanitizers needs a list: address,undefined or thread])],
        [ctxrt_sanitizers=$enable_sanitizers
         SANITIZER_CFLAGS="-fsanitize=$enable_sanitizers -fno-omit-frame-pointer -fno-sanitize-recover=all"
         ctxrt_save_CFLAGS=$CFLAGS
         CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
         AC_LINK_IFELSE([AC_LANG_PROGRAM()], [], [AC_MSG_ERROR([the compiler cannot link with -fsanitize=$enable_sanitizers])])
         CFLAGS=$ctxrt_save_CFLAGS
         AC_DEFINE([CTXRT_SANITIZED], [1], [Built with a sanitizer])])
    AC_SUBST([SANITIZER_CFLAGS])
    AC_SUBST([SANITIZERS], [$ctxrt_sanitizers])
    AM_CONDITIONAL([SANITIZED], [test -n "$ctxrt_sanitizers"])
])

dnl CTXRT_DEBUG: --enable-debug checks the order in which threads take locks (lib/base/lock.h). After CTXRT_SANITIZERS, which do so too.
AC_DEFUN([CTXRT_DEBUG], [
    AC_ARG_ENABLE([debug],
        [AS_HELP_STRING([--enable-debug], [stop a program whose threads take locks of ctxrt out of order])],
        [], [enable_debug=no])
    AS_IF([test "$enable_debug" != no || test -n "$ctxrt_sanitizers"],
        [AC_DEFINE([CX_LOCKS_CHECKED], [1], [The order of locks is checked])])
])

dnl CTXRT_VECTORS: what makes vector code of lib/ptx's loops over lanes. After CTXRT_SANITIZERS: with those, one version is enough.
AC_DEFUN([CTXRT_VECTORS], [
    VECTOR_CFLAGS='-ffp-contract=off -fno-math-errno -fno-trapping-math'
    AVX512_CFLAGS='-mavx512f -mavx512vl -mavx512dq -mavx512bw -mfma -mprefer-vector-width=512'
    ctxrt_save_CFLAGS=$CFLAGS
    AC_MSG_CHECKING([for a cost model of loops that become vector code])
    CFLAGS="$ctxrt_save_CFLAGS -Werror -ftree-vectorize -fvect-cost-model=dynamic"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
        [VECTOR_CFLAGS="$VECTOR_CFLAGS -ftree-vectorize -fvect-cost-model=dynamic"
         AC_MSG_RESULT([dynamic])],
        [AC_MSG_RESULT([the compiler's own])])
    AC_MSG_CHECKING([whether the compiler warns of loops that do not become vector code])
    CFLAGS="$ctxrt_save_CFLAGS -Werror -Wpass-failed"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM()],
        [VECTOR_CFLAGS="$VECTOR_CFLAGS -Wno-pass-failed" # some of these loops call functions
         AC_MSG_RESULT([yes, not here])],
        [AC_MSG_RESULT([no])])
    AC_MSG_CHECKING([whether AVX2 and AVX-512 can be compiled for])
    CFLAGS="$ctxrt_save_CFLAGS -Werror -mavx2 $AVX512_CFLAGS"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#if !defined __x86_64__
#error not x86
#endif
]], [[return __builtin_cpu_supports("avx512f");]])], [ctxrt_x86_lanes=yes], [ctxrt_x86_lanes=no])
    AS_IF([test -n "$ctxrt_sanitizers"], [ctxrt_x86_lanes=no])
    AC_MSG_RESULT([$ctxrt_x86_lanes])
    CFLAGS=$ctxrt_save_CFLAGS
    AS_IF([test $ctxrt_x86_lanes = yes], [AC_DEFINE([HAVE_X86_LANES], [1], [lib/ptx is compiled for AVX2 and AVX-512 too])])
    AM_CONDITIONAL([X86_LANES], [test $ctxrt_x86_lanes = yes])
    AC_SUBST([VECTOR_CFLAGS])
    AC_SUBST([AVX512_CFLAGS])
])

dnl CTXRT_NVCC: the CUDA compiler, for the one test program that uses the CUDA runtime API. After CTXRT_SANITIZERS.
AC_DEFUN([CTXRT_NVCC], [
    AC_ARG_WITH([nvcc],
        [AS_HELP_STRING([--with-nvcc=PATH], [build the test that uses the CUDA runtime API with this nvcc @<:@look for it@:>@])],
        [], [with_nvcc=auto])
    AC_ARG_VAR([NVCCFLAGS], [flags for nvcc])
    NVCC_MISSING=
    AS_CASE(["$with_nvcc"],
        [no], [NVCC_MISSING="configured with --without-nvcc"],
        [auto|yes], [AC_PATH_PROG([NVCC], [nvcc], [], [$PATH$PATH_SEPARATOR$ctxrt_cuda_dir/bin$PATH_SEPARATOR/usr/local/cuda/bin$PATH_SEPARATOR/opt/cuda/bin])],
        [NVCC=$with_nvcc])
    AS_IF([test -z "$NVCC_MISSING" && test -z "$NVCC"], [NVCC_MISSING="nvcc was not found when configure ran"])
    AS_IF([test -z "$NVCC_MISSING" && test -n "$ctxrt_sanitizers"],
        [NVCC_MISSING="a program linked by nvcc cannot load a libctxrt built with $ctxrt_sanitizers"])
    AS_IF([test -z "$NVCC_MISSING"], [CTXRT_NVCC_WORKS])
    AS_IF([test -n "$NVCC_MISSING"], [
        AS_CASE(["$with_nvcc"], [no|auto], [],
            [AS_IF([test -z "$ctxrt_sanitizers"], [AC_MSG_ERROR([--with-nvcc: $NVCC_MISSING])])])
        NVCC=])
    AC_SUBST([NVCC])
    AC_SUBST([NVCC_CCBIN])
    AC_SUBST([NVCC_MISSING])
    AM_CONDITIONAL([HAVE_NVCC], [test -n "$NVCC"])
])

dnl CTXRT_NVCC_WORKS: whether nvcc compiles a kernel and links it with the static runtime, best with our C++ compiler.
AC_DEFUN([CTXRT_NVCC_WORKS], [
    cat >conftest.cu <<_ACEOF
__global__ void kernel(int *p) { *p = 1; }
int main() { int n = 0; kernel<<<1, 1>>>(0); return cudaGetDeviceCount(&n) != 0; }
_ACEOF
    NVCC_CCBIN=
    ctxrt_nvcc_works=no
    for ctxrt_ccbin in "-ccbin $CXX" ""; do
        AC_MSG_CHECKING([whether $NVCC $ctxrt_ccbin works])
        AS_IF(["$NVCC" $ctxrt_ccbin $NVCCFLAGS -cudart static conftest.cu -o conftest$EXEEXT >&AS_MESSAGE_LOG_FD 2>&1],
            [ctxrt_nvcc_works=yes NVCC_CCBIN=$ctxrt_ccbin])
        AC_MSG_RESULT([$ctxrt_nvcc_works])
        AS_IF([test "$ctxrt_nvcc_works" = yes], [break])
    done
    rm -f conftest.cu conftest$EXEEXT
    AS_IF([test "$ctxrt_nvcc_works" = no], [NVCC_MISSING="$NVCC does not work (see config.log)"])
])

dnl CTXRT_WITH_MPI: MPI and hwloc, for samples/mpi. The compiler stays ours: its wrapper only tells what it would add.
AC_DEFUN([CTXRT_WITH_MPI], [
    AC_ARG_WITH([mpi],
        [AS_HELP_STRING([--with-mpi@<:@=MPICC@:>@], [build samples/mpi, with what this MPI compiler adds @<:@no; yes: mpicc, or pkg-config@:>@])],
        [], [with_mpi=no])
    AC_ARG_VAR([MPIRUN], [the program that starts MPI jobs, for make check-mpi])
    MPI_FOUND= MPI_MISSING= MPI_CFLAGS= MPI_LIBS= MPICC=
    AS_CASE(["$with_mpi"],
        [no], [MPI_MISSING="configured without --with-mpi"],
        [yes], [AC_PATH_PROG([MPICC], [mpicc])],
        [MPICC=$with_mpi])
    AS_IF([test -z "$MPI_MISSING"], [
        AS_IF([test -n "$MPICC"], [CTXRT_ASK_MPICC],
            [PKG_CHECK_MODULES([MPI], [mpi-c], [],
                [PKG_CHECK_MODULES([MPI], [mpich], [], [AC_MSG_ERROR([--with-mpi: there is neither mpicc nor, for pkg-config, mpi-c or mpich])])])])
        PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [], [AC_MSG_ERROR([--with-mpi needs hwloc 2 (Debian: libhwloc-dev)])])
        CTXRT_MPI_LINKS
        MPI_FOUND=${MPICC:-pkg-config}
        dnl Debian has mpirun.mpich beside mpicc.mpich, and mpirun may be another MPI's.
        ctxrt_mpi_suffix=`AS_ECHO(["$MPI_FOUND"]) | sed -n 's/.*mpicc//p'`
        AC_PATH_PROGS([MPIRUN], [mpirun$ctxrt_mpi_suffix mpirun], [], [$(dirname "$MPI_FOUND")$PATH_SEPARATOR$PATH])])
    AC_SUBST([MPI_CFLAGS])
    AC_SUBST([MPI_LIBS])
    AC_SUBST([MPI_FOUND])
    AC_SUBST([MPI_MISSING])
    AM_CONDITIONAL([WITH_MPI], [test -z "$MPI_MISSING"])
])

dnl CTXRT_ASK_MPICC: Open MPI and MPICH both print the command they would run.
AC_DEFUN([CTXRT_ASK_MPICC], [
    ctxrt_command=`"$MPICC" -show 2>&AS_MESSAGE_LOG_FD` || AC_MSG_ERROR([--with-mpi: $MPICC -show fails])
    for ctxrt_word in $ctxrt_command; do
        AS_CASE(["$ctxrt_word"],
            [-I*|-D*], [MPI_CFLAGS="$MPI_CFLAGS $ctxrt_word"],
            [-L*|-l*|-Wl,-rpath*], [MPI_LIBS="$MPI_LIBS $ctxrt_word"])
    done
])

dnl CTXRT_MPI_LINKS: fails unless a program of MPI can be linked.
AC_DEFUN([CTXRT_MPI_LINKS], [
    ctxrt_save_CFLAGS=$CFLAGS ctxrt_save_LIBS=$LIBS
    CFLAGS="$CFLAGS $MPI_CFLAGS" LIBS="$MPI_LIBS $LIBS"
    AC_MSG_CHECKING([whether a program of MPI can be linked])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <mpi.h>]], [[return MPI_Init(0, 0);]])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([--with-mpi: no program can be linked with "$MPI_CFLAGS" and "$MPI_LIBS" (see config.log)])])
    CFLAGS=$ctxrt_save_CFLAGS LIBS=$ctxrt_save_LIBS
])

dnl CTXRT_COVERAGE: --enable-coverage for `make coverage` (gcov and gcovr).
AC_DEFUN([CTXRT_COVERAGE], [
    AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [build for make coverage])], [], [enable_coverage=no])
    COVERAGE_CFLAGS=
    AS_IF([test "$enable_coverage" = yes], [COVERAGE_CFLAGS="--coverage -O0 -fprofile-update=atomic -DCX_COVERAGE"])
    AC_SUBST([COVERAGE_CFLAGS])
    AC_PATH_PROG([GCOVR], [gcovr])
    AM_CONDITIONAL([COVERAGE], [test "$enable_coverage" = yes])
])

dnl CTXRT_WARNINGS: the warnings the code is kept free of; --enable-werror makes them errors.
AC_DEFUN([CTXRT_WARNINGS], [
    AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [warnings are errors])], [], [enable_werror=no])
    WARNING_CFLAGS="-Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef"
    AS_IF([test "$enable_werror" = yes], [WARNING_CFLAGS="$WARNING_CFLAGS -Werror"])
    AC_SUBST([WARNING_CFLAGS])
])
