# The document in another language: what split.awk took out of the first file goes back into the second one, its translation by po4a.
#   awk -v kind=page|slides|hints|steps -f join.awk FILE TRANSLATION
function is_item(line) {
    return line ~ /^(\*|[0-9]+\.) /
}

# Empty lines of po4a between the items of a list, and where there are two, go.
function put(line) {
    if (line == "") {
        gap = 1
        return
    }
    if (gap && started && !(is_item(line) && is_item(last)))
        if (kind == "page" || !(is_item(last) && line ~ /^#/))
            print ""
    print line
    gap = 0
    started = 1
    last = line
}

# The first file: its blocks, or its lines with the places of texts.
NR == FNR && kind == "page" {
    if (fenced || /^(```|<!-- )/) {
        if (!in_block)
            blocks++
        in_block = 1
        block[blocks] = block[blocks] (block[blocks] == "" ? "" : "\n") $0
        fenced = fenced ? !/^```$/ : /^```/
    } else
        in_block = 0
    next
}
NR == FNR && kind == "hints" {
    if (/^(title|hint [^:]*): /)
        key[++keys] = substr($0, 1, index($0, ":") - 1)
    next
}
NR == FNR && kind == "steps" { line[++lines] = $0; next }
NR == FNR { next }

kind == "page" && /^<!-- [0-9]+ -->$/ { put(block[$2]); next }
kind == "page" || kind == "slides" { put($0); next }
/./ { text[++texts] = $0 }

END {
    for (i = 1; kind == "hints" && i <= texts; i++)
        print key[i] ": " text[i]
    for (i = 1; kind == "steps" && i <= lines; i++) {
        if (line[i] ~ /^# /) {
            if (!in_comment)
                print "# " text[++used]
            in_comment = 1
            continue
        }
        in_comment = 0
        at = index(line[i], "#")
        print (at > 0 ? substr(line[i], 1, at) " " text[++used] : line[i])
    }
    if (kind == "hints" && texts != keys || kind == "steps" && texts != used) {
        print FILENAME ": it has " texts " texts where the document has " keys + used > "/dev/stderr"
        exit 1
    }
}
