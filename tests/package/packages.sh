#!/bin/sh
# The lists of Debian's packages are one: those of bootstrap, Dockerfile, and debian/control, which is no part of a distribution.
# The container takes nothing from elsewhere. (No container is built here.)
set -u
. "$top_srcdir/tests/support/tap.sh"
cd "$top_srcdir" || exit 99

echo 1..6
"$top_srcdir/bootstrap" --list demo > "$scratch/demo"
LC_ALL=C sort "$scratch/demo" > "$scratch/bootstrap"
[ "$(uniq "$scratch/bootstrap" | wc -l)" -ge 15 ] && ! grep -qv '^[a-z0-9.+-]*$' "$scratch/bootstrap"
report $? 'bootstrap_lists_packages'

# Lines that go on are one line.
awk '{ go_on = sub(/\\$/, ""); line = line $0; if (!go_on) { print line; line = "" } }' Dockerfile > "$scratch/lines"
sed -n 's/.*--no-install-recommends *\([^&]*\)&&.*/\1/p' "$scratch/lines" | xargs -n 1 > "$scratch/dockerfile"
diff "$scratch/bootstrap" "$scratch/dockerfile" > "$scratch/out"
report $? 'the_dockerfile_installs_those_of_bootstrap_demo'

cat > "$scratch/expected" << 'LINES'
FROM debian:bookworm
RUN apt-get update
COPY . /ctxrt
WORKDIR /ctxrt
RUN ./bootstrap --no-install build && make -C build install && ldconfig
CMD ["./bootstrap", "--no-install", "demo"]
LINES
grep -v '^#' "$scratch/lines" | sed '/apt-get/s/ *&&.*//' | diff "$scratch/expected" - > "$scratch/out"
report $? 'the_dockerfile_takes_nothing_from_elsewhere'
echo 'RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y PACKAGES && rm -rf /var/lib/apt/lists/*' > "$scratch/expected"
grep 'apt-get' "$scratch/lines" | tr -s ' ' | sed 's/ --no-install-recommends [^&]*/ PACKAGES /' |
    diff "$scratch/expected" - > "$scratch/out"
report $? 'and_does_nothing_else_with_apt'

name='the_devcontainer_is_made_by_the_dockerfile'
if command -v python3 > /dev/null; then
    run python3 -c 'import json, sys
container = json.load(open(".devcontainer/devcontainer.json"))
print(container["build"]["dockerfile"], container["build"]["context"], container["postCreateCommand"])'
    printed '^\.\./Dockerfile \.\. /ctxrt/bootstrap --no-install demo$'
    report $? "$name"
else
    skip "$name" 'python3 is not installed, which reads JSON'
fi

# Others are in build-essential, or those of debhelper.
name='debian_control_has_those_that_not_every_package_is_built_with'
if [ -f debian/control ]; then
    grep -vx 'gcc\|libc6-dev\|make\|autoconf\|automake\|libtool' "$scratch/bootstrap" > "$scratch/expected"
    sed -n '/^Build-Depends:/,/^[A-Z]/s/^ \([a-z0-9-]*\),\{0,1\}$/\1/p' debian/control | diff "$scratch/expected" - > "$scratch/out"
    report $? "$name"
else
    skip "$name" 'a distribution has no debian/'
fi
