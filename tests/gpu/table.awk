# Lines of differences as a table. Their rules have the evidence that the table of `semantics` names where the line has
# none; a rule whose evidence is a question is one that this machine has just answered.
BEGIN {
    FS = "|"
    while ((getline line < semantics) > 0)
        if (line ~ /^\| *[A-Z][0-9]+ *\|/) {
            split(line, cell, "|")
            gsub(/ /, "", cell[2])
            gsub(/^ +| +$/, "", cell[4])
            evidence[cell[2]] = cell[4]
        }
    FS = "\t"
    title("RULE", "EVIDENCE", "WHERE", "THE EMBEDDED DRIVER", "THIS DRIVER")
}
function title(a, b, c, d, e)
{
    rows[0] = a "\t" b "\t" c "\t" d "\t" e
    widen(rows[0])
}
function widen(row, i, part)
{
    split(row, part, "\t")
    for (i = 1; i <= 4; i++)
        if (length(part[i]) > width[i])
            width[i] = length(part[i])
}
{
    known = $2 != "-" ? $2 : ($1 in evidence) ? evidence[$1] : "-"
    rows[++count] = $1 "\t" known "\t" $3 "\t" $4 "\t" $5
    widen(rows[count])
}
END {
    for (i = 1; i <= 4; i++)
        format = format "%-" width[i] "s  "
    for (i = 0; i <= count && count > 0; i++) {
        split(rows[i], part, "\t")
        printf format "%s\n", part[1], part[2], part[3], part[4], part[5]
    }
}
