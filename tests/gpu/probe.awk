# Two recordings of the probe, the embedded driver's and another: for each observation of the second "agrees" or
# "skipped" and its name, or "differs" and a line of differences: RULE, EVIDENCE, WHERE, the one, the other; between tabs.
# Something is skipped if one of the drivers could not show it.
function unseen(value)
{
    return value ~ /^(not reached|needs |missing$)/
}
BEGIN { OFS = "\t" }
/^#/ || !(at = index($0, " = ")) { next }
{
    name = substr($0, 1, at - 1)
    value = substr($0, at + 3)
}
FNR == NR {
    first[name] = value
    next
}
!(name in first) || unseen(first[name]) {
    print "skipped", name ": the embedded driver: " (name in first ? first[name] : "has no recording of it")
    next
}
unseen(value) {
    print "skipped", name ": this driver: " value
    next
}
first[name] == value {
    print "agrees", name
    next
}
{
    rule = name
    sub(/\..*/, "", rule)
    print "differs", rule, "-", name, first[name], value
}
