#!/bin/sh
# At most 0.3 % of the comments begin with a clause without a head, as "What is freed ..." does.
set -u
. "$top_srcdir/tests/support/tap.sh"

folders='lib include tools samples tests/support'

comments_of() # folder...
{
    find "$@" -type f \( -name '*.[ch]' -o -name '*.hpp' -o -name '*.def' \) \
        -exec awk -f "$top_srcdir/tests/package/comments.awk" {} +
}

# find may run awk several times, each of which prints a line of totals.
headless_share() # thousandths allowed
{
    awk -v allowed="$1" '
        $1 == "total" { headless += $2; comments += $3; next }
        { print }
        END {
            printf "%d of %d comments begin with a headless clause\n", headless, comments
            exit comments == 0 || headless * 1000 > comments * allowed
        }'
}

echo 1..2
# shellcheck disable=SC2086 # the folders are words
(cd "$top_srcdir" && comments_of $folders) > "$scratch/found"
headless_share 3 < "$scratch/found" > "$scratch/out"
report $? 'at_most_3_of_1000_comments_begin_with_a_headless_clause'

# This test itself: five of these eight comments are headless.
mkdir "$scratch/lib"
cat > "$scratch/lib/planted.c" << 'EOF'
/* What is freed goes. */
int a; /* Of a stream: its id. */
/*
 * Whoever waits sleeps.
 */
/** Whether it is so. */
// Where no limit is set, there is none.
/* What is this? A question. */
char b = '"'; /* Frees a block. */
const char *c = "/* What a string says is no comment. \" */"; /* The text. */
EOF
comments_of "$scratch/lib" | sed "s|^$scratch/||" > "$scratch/out"
cat > "$scratch/expected" << 'EOF'
lib/planted.c:1: What is freed goes.
lib/planted.c:2: Of a stream: its id.
lib/planted.c:3: Whoever waits sleeps.
lib/planted.c:6: Whether it is so.
lib/planted.c:7: Where no limit is set, there is none.
total 5 8
EOF
cmp -s "$scratch/out" "$scratch/expected" &&
    ! headless_share 3 < "$scratch/out" > /dev/null
report $? 'a_headless_comment_is_found'
