# Compares facts.tsv (first file) with what `observe` printed (second file).
# -v mode=check: TAP, one line an area, and the counts; -v mode=record: the table with new statuses.
BEGIN { FS = OFS = "\t" }
NR == FNR {
    line[NR] = $0
    lines = NR
    next
}
{ got[$1] = $2 }
function served(result) { return result !~ /^(ABSENT|NOT_SUPPORTED)/ }
function fault(id, text) {
    faults[area] = faults[area] "# " id ": " text "\n"
}
function judge(id, status, expected,    has) {
    has = id in got
    if (status == "excluded")
        return status
    if (has && got[id] == expected)
        return "holds"
    return has && !served(got[id]) ? "unserved" : "differs"
}
END {
    for (i = 1; i <= lines; i++) {
        if (line[i] ~ /^#/ || line[i] == "") {
            if (mode == "record")
                print line[i]
            continue
        }
        split(line[i], field, FS)
        id = field[1]; area = field[2]; weight = field[3]; status = field[4]; expected = field[5]
        now = judge(id, status, expected)
        if (mode == "record") {
            print id, area, weight, now, expected, field[6]
            continue
        }
        if (status == "holds" && now != "holds")
            fault(id, "was " expected ", is " (id in got ? got[id] : "no answer"))
        if (status == "differs" && now == "holds")
            fault(id, "holds now: make record-facts")
        known[id] = 1
        if (!(area in total))
            order[++areas] = area
        total[area]++
        count[area, now]++
        sum[now]++
        if (weight != "device" && weight != "wsl") {
            plain++
            if (now == "holds")
                plain_holds++
        }
    }
    if (mode == "record")
        exit
    for (id in got)
        if (!(id in known))
            print "# " id " is in no table: " got[id]
    print "1.." areas
    for (i = 1; i <= areas; i++) {
        area = order[i]
        printf "%s %d - facts_of_%s # holds %d differs %d unserved %d excluded %d\n",
            (area in faults) ? "not ok" : "ok", i, area, count[area, "holds"],
            count[area, "differs"], count[area, "unserved"], count[area, "excluded"]
        printf "%s", faults[area]
    }
    printf "# holds %d, differs %d, not served %d, excluded %d\n", sum["holds"], sum["differs"],
        sum["unserved"], sum["excluded"]
    printf "# of %d that depend on no device and not on WSL, %d hold: %.1f %%\n", plain, plain_holds,
        100 * plain_holds / plain
}
