#!/bin/sh
# What this driver does, against what others recorded of real ones: facts.tsv says which facts hold.
set -u
folder=$top_srcdir/tests/observed
said=$(mktemp) || exit 99
trap 'rm -f "$said"' EXIT
"$top_builddir/tests/observed/observe" > "$said"
if [ "${1-}" = record ]; then
    awk -v mode=record -f "$folder/facts.awk" "$folder/facts.tsv" "$said" > "$folder/facts.tsv.new" &&
        mv "$folder/facts.tsv.new" "$folder/facts.tsv"
    exit
fi
awk -v mode=check -f "$folder/facts.awk" "$folder/facts.tsv" "$said"
