#!/bin/sh
# Does in a fresh checkout what README.md, docs/guide.md, docs/teaching.md and the demo say to a newcomer, in their order: the demo, the
# installation, a program of the guide, what ctxrt check finds in it, the first lesson; then a program of nvcc. All commands come from
# these documents and from what ctxrt prints. What it cannot follow to the end fails. It installs: check_roots runs it in empty roots.
set -u
unset CTXRT_DRIVER
[ -f README.md ] && [ -x bootstrap ] || { echo 'run this in a checkout'; exit 2; }
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT
number=0

report() # status, what
{
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
        return
    fi
    echo "not ok $number - $2"
    sed 's/^/# /' "$scratch/said"
    echo "1..$number"
    exit 1 # what follows needs it
}

skip() # what, why
{
    number=$((number + 1))
    echo "ok $number - $1 # SKIP $2"
}

# The lines of a document's blocks of one language, below a heading.
blocks() # document, heading, language
{
    awk -v heading="## $2" -v begin="\`\`\`$3" '
        !fenced && /^## / { within = $0 == heading }
        fenced && /^```$/ { fenced = inside = 0; next }
        !fenced && /^```/ { fenced = 1; inside = within && $0 == begin; next }
        inside' "$1"
}

# Writes the programs below a heading of the guide, each as the file that its first line names.
programs() # heading
{
    blocks docs/guide.md "$1" c | awk -v folder="$work" '
        /^\/\* [a-z_]*\.[ch] \*\/$/ { file = folder "/" $2 }
        file != "" { print > file }'
}

# The shell lines below a heading of the guide are run as they are, in the newcomer's folder, in one shell.
follow() # document, heading, pattern of the lines
{
    blocks "$1" "$2" sh | grep -- "$3" > "$scratch/lines"
    [ -s "$scratch/lines" ] || { echo "$1 has no such line below $2" > "$scratch/said"; return 1; }
    (cd "$work" && sh -e "$scratch/lines") > "$scratch/said" 2>&1
}

work=$scratch/work
mkdir "$work"

# ---- README: the demo ----

line=$(awk '/^```sh$/ { getline; print; exit }' README.md | sed 's/  *#.*//')
sh -c "$line" > "$scratch/said" 2>&1
report $? "README.md: $line"
cp "$scratch/said" "$scratch/demo"
grep -q '^ctxrt check: error ORDER-HOST: ' "$scratch/demo" && grep -q '^the same bytes, the same histogram$' "$scratch/demo"
report $? 'the demo runs, and names the planted mistake'
for page in $(sed -n '/^== To look at/,/^== Next/s/^  \([^ ]*\) .*/\1/p' "$scratch/demo"); do
    [ -s "$page" ] || echo "$page is not there"
done > "$scratch/said"
[ ! -s "$scratch/said" ] && grep -q '\.html ' "$scratch/demo"
report $? 'the pages that it names are there'
# What the demo says next is there already.
sed -n '/^== Next/,$s/^  \([^ ]*ctxrt lesson\) .*/\1/p' "$scratch/demo" > "$scratch/lines"
sh "$scratch/lines" > "$scratch/said" 2>&1 && grep -q '^  1  \[ \]  ' "$scratch/said"
report $? "the demo: $(cat "$scratch/lines")"

# ---- the guide: install, the first program, a mistake in the second ----

while read -r line; do
    sh -c "$line" < /dev/null > "$scratch/said" 2>&1
    report $? "docs/guide.md: $line"
done << END
$(blocks docs/guide.md 'Build and install' sh | sed '/^export/,$d')
END
eval "$(blocks docs/guide.md 'Build and install' sh | grep '^export')"
programs 'The first device'
follow docs/guide.md 'The first device' . && blocks docs/guide.md 'The first device' text | diff - "$scratch/said" > "$scratch/diff"
report $? 'docs/guide.md: the first program prints what is written there'
programs 'Memory, streams, events'
follow docs/guide.md 'Memory, streams, events' . && blocks docs/guide.md 'Memory, streams, events' text | diff - "$scratch/said" > "$scratch/diff"
report $? 'docs/guide.md: so does the program with streams'
follow docs/guide.md 'Finding mistakes' 'race' && grep -q '^ORDER-COPY: ' "$scratch/said"
report $? 'docs/guide.md: ctxrt check finds the mistake that is planted in it'
unset CTXRT_DRIVER
line=$(sed -n 's/ 2>&1 | grep.*//p' "$scratch/lines")
(cd "$work" && sh -c "$line") > "$scratch/said" 2>&1
grep -o 'race\.c:[0-9]* in main()' "$scratch/said" | sed 's/.*:\([0-9]*\) .*/\1/' | sort -u > "$scratch/numbers"
while read -r at; do
    sed -n "${at}p" "$work/race.c"
done < "$scratch/numbers" > "$scratch/quoted"
grep -q 'ctxrt_fill_async' "$scratch/quoted" && grep -q 'ctxrt_copy_peer' "$scratch/quoted"
report $? 'and names the lines of the fill and of the copy'

# ---- the first lesson ----

line=$(blocks docs/teaching.md "On the class's laptops" sh)
(cd "$work" && sh -c "$line") > "$scratch/said" 2>&1
report $? "docs/teaching.md: $line"
cp "$scratch/said" "$scratch/steps"
blocks docs/teaching.md "On the class's laptops" text | diff - "$scratch/steps" > "$scratch/said"
report $? 'it prints what is written there'
line=$(sed -n 's/^ *\(ctxrt lesson .*&&.*\)/\1/p' "$scratch/steps")
(cd "$work" && sh -c "$line") > "$scratch/said" 2>&1 && grep -q '^the picture is on GPU 1$' "$scratch/said"
report $? "the lesson: $line"
(cd "$work" && sh -c "$(sed -n 's/^Then: //p' "$scratch/steps")") > "$scratch/said" 2>&1
[ $? -eq 1 ] && grep -q 'not yet' "$scratch/said"
report $? 'its exercises are not solved as they are'
# Here the newcomer thinks.
solutions=$(dirname "$(find /usr/local/share /usr/share -path '*01-what-is-current/solution.c' 2>/dev/null | head -n 1)")
for of in c scn; do
    cp "$solutions/solution.$of" "$work/lesson-01/exercise.$of"
done
(cd "$work" && sh -c "$(sed -n 's/^Then: //p' "$scratch/steps")") > "$scratch/said" 2>&1 && [ "$(grep -c ': solved\.$' "$scratch/said")" -eq 2 ]
report $? "the lesson is solved: $(sed -n 's/^Then: //p' "$scratch/steps")"
(cd "$work" && ctxrt lesson --lang zh) > "$scratch/said" 2>&1 && grep -q '^  1  \[x\]  什么是“当前”$' "$scratch/said"
report $? 'README.zh.md: the list in Chinese has it, too, without a Chinese locale'

# ---- a program of nvcc ----

if [ ! -x /usr/local/cuda/bin/nvcc ] && ! command -v nvcc > "$scratch/said"; then
    skip 'a program of nvcc runs and is checked' 'there is no nvcc'
    echo "1..$number"
    exit 0
fi
blocks docs/guide.md 'An nvcc program without a GPU' sh | grep 'streams' > "$scratch/lines"
sh -e "$scratch/lines" > "$scratch/said" 2>&1 && blocks docs/guide.md 'An nvcc program without a GPU' text | diff - "$scratch/said" > "$scratch/diff"
report $? "docs/guide.md: $(tr '\n' ';' < "$scratch/lines")"
rm -f streams
# README's own lines, for a program of the newcomer: the guide's sample without its wait.
sed '/cudaStreamWaitEvent/d' samples/runtime/streams.cu > "$work/program.cu"
blocks README.md 'A program of yours, without a GPU' sh > "$scratch/lines"
while read -r line; do
    case $line in
    *' check '*) wanted=1 ;;
    *) wanted=0 ;;
    esac
    status=0
    (cd "$work" && sh -c "$line") < /dev/null > "$scratch/said" 2>&1 || status=$?
    case $line in
    *' run '*) grep -q '^2 \* 511 + 7 = ' "$scratch/said" || status=99 ;;
    *' check '*) grep -q '^ctxrt check: error ORDER-KERNEL: ' "$scratch/said" && grep -q 'program\.cu:[0-9]* in main()' "$scratch/said" || status=99 ;;
    *' trace '*) grep -q '<canvas\|createElement' "$work/timeline.html" || status=99 ;;
    esac
    [ "$status" -eq "$wanted" ]
    report $? "README.md: $line"
done < "$scratch/lines"
echo "1..$number"
