#!/bin/sh
# planted.sh [NAME]...: plants the faults of faults/*.patch, one at a time, in a copy of the source
# tree, and demands that the random mix notices each: by the manners that the patch names ("random:",
# in this order), or else by its test of check_joints ("test:"). By hand, from a build folder inside
# the source tree: make check-planted. PLANTED_SEED and PLANTED_SECONDS: of each manner.
set -u
seed=${PLANTED_SEED:-1}
seconds=${PLANTED_SECONDS:-20}
build=$(pwd)
source=$(cd "$top_srcdir" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case $build in
"$source"/*) within=${build#"$source"/} ;;
*) echo "$build is not within $source" && exit 2 ;;
esac
case $(sed -n 's/^srcdir = //p' Makefile) in
/*) echo "configure was called by an absolute path: a copy of this folder would build the files of $source" && exit 2 ;;
esac
(cd "$source" && tar cf - --exclude=.git --exclude='*san' --exclude='./bench/*.o' .) |
    (cd "$scratch" && tar xf -) || exit 2
cd "$scratch/$within" || exit 2
top_srcdir=$scratch
export top_srcdir
. ./tests/environment.sh
export top_srcdir LD_LIBRARY_PATH="$scratch/$within/lib/.libs" JOINTS_ALL=1

field() {
    sed -n "s/^$1: //p" "$2"
}

# says_no PROGRAM ARGUMENT...: whether a test fails, or the program does or hangs.
says_no() {
    timeout 100 "$@" > said 2>&1 || return 0
    grep -q '^not ok' said
}

kill_by_mix() {
    for manner in $(field random "$1"); do
        says_no ./tests/joints/check_random --seed "$seed" --seconds "$seconds" --only "$manner" &&
            how="check_random, manner $manner" && return 0
    done
    return 1
}

kill_by_test() {
    name=$(field test "$1")
    [ -n "$name" ] && CK_RUN_CASE=$name says_no ./tests/joints/check_joints &&
        how="check_joints, $name"
}

libraries() {
    cksum < lib/.libs/libctxrt.so && cksum < lib/.libs/libinfinirt.so
}

look_at() {
    patch -s -p1 -d "$scratch" < "$1" && make lib/libctxrt.la lib/libinfinirt.la > made 2>&1 && [ "$(libraries)" != "$right" ] || {
        echo "$2: cannot be planted" && tail -5 made
        return 1
    }
    began=$(date +%s)
    if kill_by_mix "$1" || kill_by_test "$1"; then
        echo "$2: killed by $how, after $(($(date +%s) - began)) s"
    else
        echo "$2: survived"
        return 1
    fi
}

make lib/libctxrt.la lib/libinfinirt.la tests/joints/check_random tests/joints/check_joints > made 2>&1 ||
    { tail -5 made && exit 2; }
right=$(libraries)
failed=0
for patch in "$source"/tests/joints/faults/*.patch; do
    name=$(basename "$patch" .patch)
    [ $# -eq 0 ] || case " $* " in *" $name "*) ;; *) continue ;; esac
    look_at "$patch" "$name" || failed=$((failed + 1))
    patch -s -R -p1 -d "$scratch" < "$patch"
done
echo "$failed faults survived"
[ "$failed" -eq 0 ]
