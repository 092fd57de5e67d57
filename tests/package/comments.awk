# Finds comments of C that begin with a clause without a head: "What is freed ...", "Whoever asks ...", "Of a
# stream: ...", "Whether ...". Prints each as "FILE:LINE: first words", and at the end "total HEADLESS COMMENTS".
# A question is a sentence: what ends with "?" is not counted.

function headless(text,    word, rest)
{
    word = text
    sub(/[^A-Za-z].*/, "", word)
    rest = substr(text, length(word) + 1)
    if (index(words, " " word " ") == 0 || word == "")
        return 0
    # "That" and "Those" head a clause by themselves only with another pronoun behind them.
    if ((word == "That" || word == "Those") && rest !~ /^ (which|who|whom|that|what|of|from|in|with) /)
        return 0
    return !match(rest, /^[^.!]*\?/)
}

function finish()
{
    comments++
    gsub(/[ \t]+/, " ", text)
    gsub(/^[\/*!< ]+| +$/, "", text)
    if (headless(text)) {
        found++
        print FILENAME ":" line ": " substr(text, 1, 80)
    }
    inside = 0
}

BEGIN {
    words = " What Whatever Who Whoever Whom Whomever Whose Which Whichever Where Wherever How However Why Whether" \
        " Of Nobody None That Those "
}

FNR == 1 { inside = 0 }

{
    rest = $0
    while (rest != "") {
        if (inside) {
            end = index(rest, "*/")
            piece = end ? substr(rest, 1, end - 1) : rest
            sub(/^[ \t]*\*/, "", piece)
            text = text " " piece
            if (!end)
                break
            rest = substr(rest, end + 2)
            finish()
        } else if (!match(rest, /\/\*|\/\/|"|'/)) {
            break
        } else {
            sign = substr(rest, RSTART, 2)
            rest = substr(rest, RSTART + 1)
            if (sign == "/*") {
                inside = 1
                text = ""
                line = FNR
                rest = substr(rest, 2)
            } else if (sign == "//") {
                text = substr(rest, 2)
                line = FNR
                finish()
                break
            } else if (substr(sign, 1, 1) == "\"") {
                match(rest, /^([^"\\]|\\.)*"?/)
                rest = substr(rest, RLENGTH + 1)
            } else {
                match(rest, /^([^'\\]|\\.)*'?/)
                rest = substr(rest, RLENGTH + 1)
            }
        }
    }
}

END { print "total", found + 0, comments + 0 }
