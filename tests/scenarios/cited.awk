# Prints "RULE GROUP/NAME" once for each rule that a scenario cites, with "unverified" behind it where a step says so.
# Complains on stderr about a step that is marked unverified without citing a rule as [?], or the other way round.
FNR == 1 {
    name = FILENAME
    sub(/\.scn$/, "", name)
    parts = split(name, part, "/")
    name = part[parts - 1] "/" part[parts]
    files[++file_count] = name
}
match($0, /# *[A-Z][0-9]+ \[[DORU?]\]/) {
    split(substr($0, RSTART + 1), cited, " ")
    rule = cited[1]
    open = index($0, "[?]") != 0
    marked = $0 ~ / unverified +#/
    if (open != marked) {
        print name ":" FNR ": [?] and unverified belong together" > "/dev/stderr"
        wrong = 1
    }
    if (!((rule, name) in seen)) {
        seen[rule, name] = 1
        order[++count] = rule SUBSEP name
        cites[name] = 1
    }
    if (open)
        unverified[rule, name] = 1
    next
}
/ unverified/ && !/^ *#/ {
    print name ":" FNR ": a step that is unverified cites no rule" > "/dev/stderr"
    wrong = 1
}
END {
    for (i = 1; i <= file_count; i++)
        if (!(files[i] in cites)) {
            print files[i] ": it cites no rule" > "/dev/stderr"
            wrong = 1
        }
    for (i = 1; i <= count; i++) {
        split(order[i], pair, SUBSEP)
        print pair[1], pair[2], ((pair[1], pair[2]) in unverified) ? "unverified" : "holds"
    }
    exit wrong
}
