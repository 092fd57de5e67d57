# Sourced by tests that need an empty Debian: a folder that debootstrap fills. Only root makes one, where apt reaches a mirror.
# CTXRT_TEST_ROOTS names the folder for them, which must have room for gigabytes and keeps the empty ones for the next time (default: a
# new one in TMPDIR); CTXRT_TEST_MIRROR names the mirror.

skip_without_roots() # leaves with 77, and says why, where no root can be made
{
    [ "$(id -u)" = 0 ] || { echo 'SKIP: only root makes empty roots'; exit 77; }
    for tool in debootstrap unshare; do
        command -v $tool > /dev/null || { echo "SKIP: $tool is not installed"; exit 77; }
    done
}

begin_roots() # $roots is a folder, which goes at the end if it was made here
{
    if [ -n "${CTXRT_TEST_ROOTS-}" ]; then
        mkdir -p "$CTXRT_TEST_ROOTS"
        roots=$(mktemp -d "$CTXRT_TEST_ROOTS/run.XXXXXX")
    else
        roots=$(mktemp -d)
    fi
    trap 'rm -rf "$roots"' EXIT
    trap 'exit 1' HUP INT TERM
}

fresh_root() # suite, package...: $root is an empty Debian of that suite with these packages
{
    suite=$1
    shift
    root=$roots/root
    rm -rf "$root"
    empty=${CTXRT_TEST_ROOTS:-$roots}/$suite
    if [ ! -d "$empty" ]; then
        debootstrap --variant=minbase "$suite" "$roots/new" "${CTXRT_TEST_MIRROR:-http://deb.debian.org/debian}" > "$roots/log" 2>&1 ||
            { tail -n 5 "$roots/log"; return 1; }
        mv "$roots/new" "$empty"
    fi
    cp -a "$empty" "$root" || return 1
    [ $# -eq 0 ] || in_root "apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $*" \
        > "$roots/log" 2>&1 || { tail -n 20 "$roots/log"; return 1; }
}

in_root() # command, [user]: a shell runs it in $root; what is mounted for it, and what it has started, goes with it
# A CUDA toolkit of this machine is there, too.
{
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/tmp" || exit 125
        [ ! -x /usr/local/cuda/bin/nvcc ] || { mkdir -p "$1/usr/local/cuda" && mount --bind -r /usr/local/cuda/ "$1/usr/local/cuda"; } || exit 125
        exec chroot "$1" su - "$3" -c "$2"' sh "$root" "$1" "${2:-root}"
}

copy_tree() # tree, folder: what git knows of it
{
    mkdir -p "$2"
    (cd "$1" && git ls-files -z | tar cf - --null -T -) | (cd "$2" && tar xf -)
}

size_of() # folder: in MB
{
    du -sm "$1" | cut -f 1
}
