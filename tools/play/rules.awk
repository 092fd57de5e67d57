# Makes a C table of the rules from rules.txt and docs/semantics.md: each must be in both.

function quoted(text) {
    gsub(/[\\"]/, "\\\\&", text)
    return "\"" text "\""
}

FNR == NR {
    if ($0 !~ /^#/ && NF > 1)
        words[$1] = substr($0, length($1) + 2)
    next
}

/^## / {
    section = substr($0, 4)
    anchor = tolower(section)
    gsub(/[^a-z0-9 -]/, "", anchor)
    gsub(/ /, "-", anchor)
}

/^\| [A-Z][0-9]+ \|/ {
    split($0, cell, / *\| */)
    if (!(cell[2] in words)) {
        print "tools/play/rules.txt has no sentence for " cell[2] > "/dev/stderr"
        wrong = 1
    }
    rows[++count] = "    {" quoted(cell[2]) ", " quoted(words[cell[2]]) ", " quoted(cell[3]) ", " quoted(cell[4]) ", " \
        quoted(section) ", " quoted(anchor) "},"
    delete words[cell[2]]
}

END {
    for (rule in words) {
        print "docs/semantics.md has no rule " rule > "/dev/stderr"
        wrong = 1
    }
    for (i = 1; i <= count; i++)
        print rows[i]
    exit wrong
}
