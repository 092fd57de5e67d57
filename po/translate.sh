#!/bin/sh
# Makes the Chinese documents from the English ones and zh.po, by po4a.
#
#   translate.sh FOLDER    (in the environment of the tests: top_srcdir)
#
# FOLDER gets zh.po as it is to be now, lesson.zh.po for the messages of `ctxrt lesson`, "stale" with the paragraphs that want a
# translation, and in "tree" all documents by their paths. `make renew-translations` puts these into the tree.
set -eu
source=$(cd "$top_srcdir" && pwd)
po=$source/po
mkdir -p "$1"
cd "$1"
rm -rf src out tree
mkdir src out tree
cp "$po/zh.po" "$po/lesson.zh.po" .

part() # kind, document, its name in zh.po, what it becomes
{
    mkdir -p "$(dirname "src/$3")" "$(dirname "out/$3")" "$(dirname "tree/$4")"
    awk -v kind="$1" -f "$po/split.awk" "$source/$2" > "src/$3"
    echo "[type: text] src/$3 zh:out/$3 opt:\"-o markdown -o neverwrap\"" >> po4a.cfg
    echo "$1 $2 $3 $4" >> parts
}

: > parts
printf '[po4a_langs] zh\n[po4a_paths] zh.pot zh:zh.po\n' > po4a.cfg
part page README.md README.md README.zh.md
for lesson in "$source"/samples/lessons/[0-9]*; do
    name=$(basename "$lesson") of=samples/lessons/$(basename "$lesson")
    part page "$of/README.md" "$name/README.md" "$of/README.zh.md"
    part slides "$of/slides.txt" "$name/slides.md" "$of/slides.zh.txt"
    part hints "$of/lesson.txt" "$name/lesson.md" "$of/lesson.zh.txt"
    part steps "$of/exercise.scn" "$name/exercise.md" "$of/exercise.zh.scn"
done
po4a --quiet --master-charset UTF-8 --keep 0 --porefs file --package-name ctxrt --package-version '' --copyright-holder 'the authors of ctxrt' po4a.cfg

# The messages of the command: xgettext reads them in the sources, and a table of C is made of the translations.
(cd "$source" && xgettext --from-code=UTF-8 --language=C --keyword=lesson_tr --add-location=file --package-name=ctxrt --sort-by-file -o - \
    tools/lesson/*.c) > lesson.pot
msgmerge --quiet --update --backup=none --add-location=file --no-wrap lesson.zh.po lesson.pot
mkdir -p tree/tools/lesson
msgattrib --translated --no-fuzzy --no-obsolete --no-wrap lesson.zh.po | awk '
    function end_text() { if (id != "" && !is_header) print "CX_MESSAGE(" id ",\n           " text ")"; id = text = "" }
    BEGIN { print "/* Messages of ctxrt lesson in Chinese: make renew-translations makes them from po/lesson.zh.po. */" }
    /^msgid / { end_text(); is_header = /^msgid ""$/; of = "id"; sub(/^msgid /, ""); id = $0; next }
    /^msgstr / { of = "text"; sub(/^msgstr /, ""); text = $0; next }
    /^"/ && of == "id" { id = id "\n           " $0; is_header = 0; next }
    /^"/ { text = text "\n           " $0; next }
    { of = "" }
    END { end_text() }' > tree/tools/lesson/messages.zh.def
msgfmt --check-format -o /dev/null lesson.zh.po

while read -r kind document name becomes; do
    awk -v kind="$kind" -f "$po/join.awk" "$source/$document" "out/$name" > "tree/$becomes"
done < parts

# What is to be translated or read again, with its file.
for of in zh.po lesson.zh.po; do
    msgattrib --untranslated --no-obsolete --no-wrap $of > untranslated
    msgattrib --only-fuzzy --no-obsolete --no-wrap $of > fuzzy
    for state in untranslated fuzzy; do
        awk -v state=$state -v of=$of '
            /^#: / { place = substr($0, 4) }
            /^msgid "/ { id = substr($0, 7); next }
            /^"/ && !done { id = id $0; next }
            /^msgstr/ && id != "\"\"" { print of ": " state ": " place ": " substr(id, 1, 100); id = "\"\"" }' $state
    done
done > stale
