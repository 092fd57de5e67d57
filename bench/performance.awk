# Puts the tables that `ctxrt bench --markdown` printed (the first file) into a page (the second one), between the marks
# of each: a mark names its table.
/^<!-- bench .* -->$/ {
    name = $0
    if (NR == FNR) {
        inside = 1
        next
    }
    print
    if (name in table)
        printf "%s", table[name]
    else
        print "performance.awk: " name " was not printed" > "/dev/stderr"
    skipping = name in table
    missing += !skipping
    next
}
/^<!-- end -->$/ { inside = skipping = 0 }
NR == FNR {
    if (inside)
        table[name] = table[name] $0 "\n"
    next
}
!skipping
END { exit missing > 0 }
