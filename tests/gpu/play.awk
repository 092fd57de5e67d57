# What `ctxrt play` says of the scenario `file`, which ended with `status`, as lines of differences:
# RULE, EVIDENCE, WHERE, what the embedded driver does, what this one does; between tabs.
function flush()
{
    if (where != "" && came != "")
        print rule, evidence, where, expected, came
    where = expected = came = ""
    rule = evidence = "-"
}
BEGIN {
    OFS = "\t"
    rule = evidence = "-"
}
index($0, file ":") == 1 && substr($0, length(file) + 2) ~ /^[0-9]+: / {
    flush()
    where = $0
    next
}
/^    expected  / && where != "" { expected = substr($0, 15) }
/^    came back / && where != "" { came = substr($0, 15); told++ }
/^    rule  / && where != "" {
    rule = $2
    evidence = match($0, /\[[^]]*\]/) ? substr($0, RSTART + 1, RLENGTH - 2) : "-"
}
index($0, file ": ") == 1 && why == "" && $0 !~ /: (passed|FAILED)$/ { why = substr($0, length(file) + 3) }
END {
    flush()
    if (status == 1 && told == 0)
        print "-", "-", file, "plays it to its end", why != "" ? why : "fails"
}
