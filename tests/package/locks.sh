#!/bin/sh
# The lock order of docs/architecture.md is that of lib/base/locks.def, and all locks are in it.
set -u
. "$top_srcdir/tests/support/tap.sh"

ranks() # file: the ranks and names in their order
{
    sed -n 's/^CX_LOCK_ROW(\([A-Z_]*\), "\(.*\)")$/\1 \2/p' "$1"
}

names_in_table() # document
{
    awk -F ' *[|] *' '/^## / { inside = $0 == "## Locks" }
        inside && /^[|]/ && $2 != "lock" && $2 !~ /^-+$/ { print $2 }' "$1"
}

ranks "$top_srcdir/lib/base/locks.def" > "$scratch/ranks"
cut -d ' ' -f 2- "$scratch/ranks" > "$scratch/names"
names_in_table "$top_srcdir/docs/architecture.md" > "$scratch/table"
[ "$(wc -l < "$scratch/names")" -gt 20 ] && diff "$scratch/table" "$scratch/names" > "$scratch/out"
report $? 'the_documents_table_is_the_order_of_the_ranks'

# A maintainer has to keep the order in mind: a new lock takes the place of one that can go.
wc -l < "$scratch/names" > "$scratch/out"
[ "$(cat "$scratch/out")" -le 36 ]
report $? 'there_are_36_locks_at_most'

# A rank is that of a lock with CX_LOCK_INIT(RANK) and its like, or with CX_RANK_RANK.
without_lock() # folder...
{
    while read -r rank name; do
        grep -rqE "(CX_LOCK_INIT(_RECURSIVE)?\(|CX_POOL_INIT_RANKED\(|CX_RANK_)$rank\>" "$@" || echo "$name"
    done < "$scratch/ranks"
}
(cd "$top_srcdir" && without_lock lib tools) > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'each_rank_has_a_lock'

# libinfinirt links none of the rooms; "owned" of a thread's record stands in no order.
unranked() # folder...
{
    find "$@" -name '*.[ch]' -exec grep -nE 'pthread_(mutex|rwlock|spin)[a-z_]*_t |pthread_(mutex|rwlock|spin)_?lock\(' {} + |
        grep -vE '^lib/(base/lock\.[ch]|infinirt/address\.[ch]|context/thread\.[ch]):'
}
(cd "$top_srcdir" && unranked lib tools) > "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'no_lock_is_without_a_rank'

# This test itself.
mkdir -p "$scratch/lib/room"
echo 'static pthread_mutex_t lock;' > "$scratch/lib/room/planted.c"
sed 's/CX_LOCK_INIT(LOG)//' "$top_srcdir/lib/base/log.c" > "$scratch/lib/room/log.c"
(cd "$scratch" && [ "$(unranked lib)" = 'lib/room/planted.c:1:static pthread_mutex_t lock;' ] &&
    without_lock lib | grep -qx 'emu.state')
report $? 'what_is_missing_is_found'
echo "1..$number"
