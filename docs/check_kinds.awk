# Makes the list of kinds in docs/check.md of lib/layer/check/kinds.def.

# Takes the next string off `text`; adjacent literals are one.
function next_string(    value, part) {
    value = ""
    while (match(text, /^[ \t\n,]*"([^"\\]|\\.)*"/)) {
        part = substr(text, RSTART, RLENGTH)
        if (value != "" && part ~ /^[ \t\n]*,/)
            break
        text = substr(text, RLENGTH + 1)
        sub(/^[ \t\n,]*"/, "", part)
        sub(/"$/, "", part)
        gsub(/\\"/, "\"", part)
        value = value part
    }
    return value
}

function first_upper(value) {
    return toupper(substr(value, 1, 1)) substr(value, 2)
}

function print_kind(    name, severity, title, explanation, advice, rules, file) {
    name = next_string()
    sub(/^[ \t\n,]*/, "", text)
    match(text, /^[A-Z]+/)
    severity = tolower(substr(text, 1, RLENGTH))
    text = substr(text, RLENGTH + 1)
    title = next_string()
    explanation = next_string()
    advice = next_string()
    rules = next_string()
    file = tolower(name)
    printf "### %s\n\n%s: %s.\n\n%s\n\n", name, first_upper(severity), title, explanation
    printf "Advice: %s. Rules: %s. Programs: [planted](../tests/misuse/planted/%s-1.c), ", advice, rules, file
    printf "[clean](../tests/misuse/clean/%s-1.c).\n\n", file
}

/^\/\* ---- / {
    sub(/^\/\* ---- /, "")
    sub(/ ---- \*\/$/, "")
    printf "## %s\n\n", first_upper($0)
}
/^CX_KIND\(/ { text = ""; inside = 1 }
inside { text = text $0 "\n" }
inside && /\)$/ {
    sub(/^CX_KIND\([A-Z_]*, */, "", text)
    print_kind()
    inside = 0
}
