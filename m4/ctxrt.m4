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

dnl CTXRT_COVERAGE: --enable-coverage for `make coverage` (gcov and gcovr).
AC_DEFUN([CTXRT_COVERAGE], [
    AC_ARG_ENABLE([coverage], [AS_HELP_STRING([--enable-coverage], [build for make coverage])], [], [enable_coverage=no])
    COVERAGE_CFLAGS=
    AS_IF([test "$enable_coverage" = yes], [COVERAGE_CFLAGS="--coverage -O0"])
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
