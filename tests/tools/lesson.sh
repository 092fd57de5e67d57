#!/bin/sh
# ctxrt lesson: the pages, programs and scenarios of the lessons, their checks, and what is remembered.
# With arguments: only these lessons, such as 01-what-is-current.
set -u
. "$top_srcdir/tests/support/tap.sh"
lessons=$top_srcdir/samples/lessons
ctxrt=$top_builddir/ctxrt
: "${CC:=cc}"
# The programs are not what is searched for leaks of the host's memory.
ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
CC="$CC -DLESSON_OWN_DECLARATIONS${SANITIZERS:+ -fsanitize=$SANITIZERS}"
XDG_STATE_HOME=$scratch/state
export ASAN_OPTIONS CC XDG_STATE_HOME

here() # command, run in the scratch folder of a student
{
    run sh -c 'cd "$0" && exec "$@"' "$scratch/student" "$@"
}

# The last check refused the file, in the first line with what matches.
refused() # pattern
{
    [ "$status" -eq 1 ] && [ ! -s "$scratch/out" ] && sed 1q "$scratch/errors" | grep -q -- "not yet: .*$1"
}

said() # key
{
    sed -n "s/^$1: *//p" "$lesson/lesson.txt"
}

# ---- one lesson ----

# The prose has 300 to 600 words: all outside of blocks and comments.
right_length()
{
    words=$(awk '/^```/ { inside = !inside; next } !inside && !/^(<!--|!)/' "$lesson/README.md" | wc -w)
    echo "$words words of prose, $(wc -l < "$lesson/mistake.c") lines of mistake.c"
    [ "$words" -ge 300 ] && [ "$words" -le 600 ] && [ "$(wc -l < "$lesson/mistake.c")" -lt 80 ] &&
        [ "$(cat "$lesson/README.md" "$lesson/picture.svg" | wc -c)" -lt 300000 ] && grep -q '^!.*(picture.svg)$' "$lesson/README.md" &&
        grep -q '^<!-- \(shows\|steps\|from\) picture.scn' "$lesson/README.md" &&
        grep -q '^<!-- prints mistake.c -->' "$lesson/README.md" &&
        grep -q '^<!-- report mistake.c -->' "$lesson/README.md" && grep -q '^## What will be printed?' "$lesson/README.md"
}

# Blocks behind "<!-- from FILE -->" are lines of that file, side by side; prints those that are not. A file of the library or a
# sample is named from the top.
quotes()
{
    awk '
        /^<!-- from / { file = ($3 ~ /\// ? top : folder) "/" $3; next }
        file != "" && /^```(c|scn)$/ { inside = 1; block = ""; next }
        inside && /^```$/ {
            text = ""
            while ((getline line < file) > 0)
                text = text line "\n"
            close(file)
            if (block == "" || index(text, block) == 0)
                print "not in " file ":\n" block
            file = ""
            inside = 0
            next
        }
        inside { block = block $0 "\n" }
    ' top="$top_srcdir" folder="$lesson" "$lesson/README.md"
}

silent() # program, options
{
    # shellcheck disable=SC2086 # options are words
    CTXRT_LOG=off run "$ctxrt" check --cuda 13 $2 "$1" 17
    [ "$status" -eq 0 ] && grep -q '^ctxrt check: 0 errors, 0 warnings$' "$scratch/errors" &&
        ! grep -q '^ctxrt check: \(error\|warning\) ' "$scratch/errors"
}

# The exercise with the answers of the solution, the one of number `wrong` exchanged for another.
answers() # wrong, [exercise]
{
    awk '
        function other(word) {
            if (word == "ACTIVE") return "INVALIDATED"
            if (word == "INVALIDATED" || word == "NONE") return "ACTIVE"
            if (word == "SUCCESS") return "INVALID_VALUE"
            if (word ~ /^[A-Z_]+$/) return "SUCCESS"
            if (word ~ /^[0-9]+$/) return word + 1
            return word == "none" ? first : "none"
        }
        { bare = $0; sub(/#.*/, "", bare) }
        FNR == NR && bare ~ /ctx\.create|primary\.retain/ && first == "" { first = $3 }
        FNR == NR { if (bare ~ /[^ ]/) solution[++steps] = bare; next }
        bare !~ /[^ ]/ { print; next }
        {
            step++
            count = split(bare, word, " ")
            split(solution[step], right, " ")
            text = ""
            for (i = 1; i <= count; i++) {
                if (word[i] == "?") {
                    word[i] = right[i]
                    if (++hole == wrong) word[i] = other(word[i])
                }
                text = text word[i] " "
            }
            comment = index($0, "#") ? substr($0, index($0, "#")) : ""
            print text comment
        }
    ' wrong="$1" "$lesson/solution.scn" "$lesson/${2:-exercise.scn}"
}

# Each wrong answer is refused, and the comment of its line is repeated.
wrong_answers()
{
    holes=$(sed 's/#.*//' "$lesson/exercise.scn" | grep -o ' ?' | wc -l)
    [ "$holes" -ge 4 ] || echo "there are $holes answers to give"
    for hole in $(seq "$holes"); do
        answers "$hole" > "$scratch/wrong.scn"
        run "$ctxrt" lesson "$one" --check "$scratch/wrong.scn"
        if [ "$status" -eq 1 ] && grep -q "nothing before this line has the name" "$scratch/errors"; then
            continue # the player itself refuses a context that is made later
        elif [ "$status" -ne 1 ] || ! grep -q 'not yet: line [0-9]*: .* is not what comes back$' "$scratch/errors"; then
            echo "the answer $hole may be wrong:"
            cat "$scratch/wrong.scn" "$scratch/errors"
        elif [ "$(wc -l < "$scratch/errors")" -lt 2 ]; then
            echo "the answer $hole has no hint:"
            cat "$scratch/errors"
        fi
    done
}

# The solution with the student's lines left out, and with the last line outside of them left out.
without_work()
{
    awk '/your lines end/ { inside = 0 } !inside; /your lines begin/ { inside = 1 }' "$lesson/solution.c" > "$scratch/empty.c"
    awk '/your lines begin/ { inside = 1 } { line[NR] = $0; if (!inside && /;$/ && NR > 12) last = NR } /your lines end/ { inside = 0 }
        END { for (i = 1; i <= NR; i++) if (i != last) print line[i] }' "$lesson/solution.c" > "$scratch/less.c"
    awk '{ print } /your lines begin/ { print "printf(\"solved\\n\");" }' "$lesson/solution.c" > "$scratch/more.c"
    run "$ctxrt" lesson "$one" --check "$scratch/empty.c"
    [ "$status" -eq 1 ] || echo 'it is solved by no lines at all'
    run "$ctxrt" lesson "$one" --check "$scratch/less.c"
    refused 'this line is not yours' || echo 'a line may be left out'
    run "$ctxrt" lesson "$one" --check "$scratch/more.c"
    refused 'your lines neither print nor end the program' || echo 'the students lines may print'
}

# The comments begin in one column, wherever an answer ends.
aligns_comments()
{
    [ "$(grep -v '^#' "$lesson/exercise.scn" | awk '/#/ { print index($0, "#") }' | sort -u | wc -l)" -eq 1 ]
}

# The head of an exercise says in how many places to write.
counts_places()
{
    case $(grep -c 'your lines begin' "$lesson/exercise.c") in
    1) grep -q 'Write between the two comments only\.' "$lesson/exercise.c" ;;
    2) grep -q 'Write between the comments only, in two places\.' "$lesson/exercise.c" ;;
    3) grep -q 'Write between the comments only, in three places\.' "$lesson/exercise.c" ;;
    4) grep -q 'Write between the comments only, in four places\.' "$lesson/exercise.c" ;;
    *) false ;;
    esac
}

# What stands in the folder of a lesson: the page, the programs, the answers.
check_files()
{
    counts_places
    report $? "the_head_of_the_exercise_of_lesson_${one}_counts_the_places_to_write"
    aligns_comments
    report $? "the_spaces_in_the_scenario_of_lesson_${one}_tell_no_answer"
    right_length > "$scratch/out"
    report $? "the_page_of_lesson_${one}_has_all_parts_and_the_right_length"
    quotes > "$scratch/out"
    [ ! -s "$scratch/out" ]
    report $? "the_page_of_lesson_${one}_quotes_its_programs"
    run sh "$lessons/render.sh" "$lesson" "$scratch/rendered"
    rendered=$status
    if [ -n "$SANITIZERS" ]; then
        skip "lesson_${one}_says_what_its_programs_print_and_ctxrt_check_finds" 'reports of sanitized programs differ'
    else
        { [ "$rendered" -eq 0 ] && diff "$lesson/report.txt" "$scratch/rendered/report.txt" &&
            diff "$lesson/README.md" "$scratch/rendered/README.md" && diff "$lesson/picture.svg" "$scratch/rendered/picture.svg" && [ -s "$scratch/rendered/prints-mistake.c" ] &&
            grep -q "$(said unsolved)\|^ctxrt check: \(error\|warning\)" "$lesson/report.txt"; } > "$scratch/out" 2>&1
        report $? "lesson_${one}_says_what_its_programs_print_and_ctxrt_check_finds"
    fi
    silent "$scratch/rendered/fixed" --leaks
    report $? "nothing_is_found_in_the_mended_program_of_lesson_$one"
    silent "$scratch/rendered/solution" "$(said options)"
    report $? "nothing_is_found_in_the_solution_of_lesson_$one"
    without_work > "$scratch/said"
    cp "$scratch/said" "$scratch/out"
    [ ! -s "$scratch/out" ]
    report $? "lesson_${one}_is_not_solved_without_its_work"
    wrong_answers > "$scratch/said"
    cp "$scratch/said" "$scratch/out"
    [ ! -s "$scratch/out" ]
    report $? "each_wrong_answer_to_the_scenario_of_lesson_${one}_is_refused"
    rm -rf "$scratch/rendered"
}

# What ctxrt says of them.
check_answers()
{
    run "$ctxrt" lesson "$one" --check "$lesson/exercise.c"
    hint=$(said "hint $(said unsolved)" | cut -c 1-60)
    [ "$status" -eq 1 ] && [ -n "$hint" ] && grep -qF -- "  $hint" "$scratch/errors" && [ ! -s "$scratch/out" ]
    report $? "the_exercise_of_lesson_${one}_is_refused_with_its_hint"
    run "$ctxrt" lesson "$one" --check "$lesson/solution.c"
    printed "^Lesson $one, .*: solved\.$"
    report $? "the_solution_of_lesson_${one}_passes"
    run "$ctxrt" lesson "$one" --check "$lesson/exercise.scn"
    refused '[0-9]* of its ? are open'
    report $? "the_scenario_of_lesson_${one}_is_refused_as_it_is"
    run "$ctxrt" lesson "$one" --check "$lesson/solution.scn"
    printed "^Lesson $one, .*: solved\.$"
    report $? "the_answers_of_lesson_${one}_pass"
}

# Sanitizers watch ctxrt, not what is written in the lessons.
check_lesson()
{
    [ -n "$SANITIZERS" ] && [ "$CTXRT_TEST_EXTENT" != soak ] || check_files
    check_answers
}

for lesson in "$lessons"/[0-9]*; do
    name=$(basename "$lesson")
    one=$(echo "$name" | sed 's/^0*\([0-9]*\)-.*/\1/')
    case " ${*:-$name} " in *" $name "*) check_lesson ;; esac
done
if [ $# -ne 0 ]; then
    echo "1..$number"
    exit 0
fi
lesson=$(echo "$lessons"/01-*)

# ---- the list, and what is remembered ----

mkdir "$scratch/student"
run "$ctxrt" lesson
count=$(echo "$lessons"/[0-9]* | wc -w)
printed "^$count of $count solved" && [ "$(grep -c '^ *[0-9]*  \[x\]  ' "$scratch/out")" -eq "$count" ]
report $? 'all_that_was_solved_is_remembered'
[ "$(sort "$XDG_STATE_HOME/ctxrt/lessons" | uniq -d | wc -l)" -eq 0 ] &&
    [ "$(wc -l < "$XDG_STATE_HOME/ctxrt/lessons")" -eq $((2 * count)) ]
report $? 'each_is_remembered_once'
XDG_STATE_HOME=$scratch/other
run "$ctxrt" lesson
printed '^  1  \[ \]  What is current$' && grep -q "^0 of $count solved" "$scratch/out"
report $? 'nothing_is_solved_where_there_is_no_file'
run "$ctxrt" lesson 1 --check "$lesson/solution.c"
run "$ctxrt" lesson
printed '^  1  \[/\]  What is current  (the scenario is open)$'
report $? 'half_of_a_lesson_has_a_mark_of_its_own'
run env -u XDG_STATE_HOME HOME="$scratch/home" "$ctxrt" lesson 1 --check "$lesson/solution.scn"
[ "$status" -eq 0 ] && [ "$(cat "$scratch/home/.local/state/ctxrt/lessons")" = '1 scenario' ]
report $? 'without_XDG_STATE_HOME_the_file_is_below_the_home_folder'
touch "$scratch/no-folder"
run env XDG_STATE_HOME="$scratch/no-folder" "$ctxrt" lesson 1 --check "$lesson/solution.scn"
[ "$status" -eq 1 ] && grep -q '^Lesson 1, .*: solved\.$' "$scratch/out" &&
    grep -q "solved, but not remembered: $scratch/no-folder/ctxrt/lessons cannot be written: Not a directory" "$scratch/errors"
report $? 'a_file_that_cannot_be_written_is_said'
run env -u XDG_STATE_HOME -u HOME "$ctxrt" lesson 1 --check "$lesson/solution.scn"
[ "$status" -eq 1 ] && grep -q 'not remembered: neither XDG_STATE_HOME nor HOME' "$scratch/errors"
report $? 'so_is_it_that_there_is_no_folder_for_it'

# ---- a student's folder ----

here "$ctxrt" lesson 1
printed 'ctxrt lesson 1 --check' && cmp -s "$lesson/exercise.c" "$scratch/student/lesson-01/exercise.c" &&
    [ -f "$scratch/student/lesson-01/README.md" ] && [ -f "$scratch/student/lesson-01/picture.svg" ] && [ ! -f "$scratch/student/lesson-01/solution.c" ]
report $? 'a_lesson_is_copied_without_its_solution'
! grep -q '^<!--\|^the picture is on GPU 1' "$scratch/student/lesson-01/README.md" &&
    grep -q '^the picture is on GPU 1' "$scratch/student/lesson-01/answer.md" && ! grep -q '^<!--' "$scratch/student/lesson-01/answer.md"
report $? 'the_page_is_copied_up_to_its_question_and_the_answer_beside_it'
cat "$scratch/student/lesson-01/README.md" "$scratch/student/lesson-01/answer.md" | grep -v '^The answer, .* answer.md\.$' > "$scratch/copied"
grep -v '^<!--' "$lesson/README.md" | cmp -s - "$scratch/copied"
report $? 'and_nothing_of_it_is_lost'
cp "$scratch/out" "$scratch/steps"
echo changed > "$scratch/student/lesson-01/exercise.c"
here "$ctxrt" lesson 1
printed '^lesson-01 is as you left it; move it away' && sed '$d' "$scratch/out" | cmp -s - "$scratch/steps" &&
    [ "$(cat "$scratch/student/lesson-01/exercise.c")" = changed ]
report $? 'a_second_time_the_steps_are_shown_again_and_nothing_is_overwritten'
run sh -c 'cd "$0/lesson-01" && "$1" lesson 1' "$scratch/student" "$ctxrt"
printed '1. Read README.md' && grep -q 'ctxrt run ./mistake$' "$scratch/out" && [ ! -e "$scratch/student/lesson-01/lesson-01" ]
report $? 'within_the_folder_they_have_its_paths'
mkdir "$scratch/student/lesson-02"
here "$ctxrt" lesson 2
failed_with 1 'lesson-02 cannot be made: File exists; move it away'
report $? 'a_folder_of_another_kind_is_left_alone'
rmdir "$scratch/student/lesson-02"
cp "$lesson/solution.c" "$scratch/student/lesson-01/exercise.c"
cp "$lesson/solution.scn" "$scratch/student/lesson-01/exercise.scn"
here "$ctxrt" lesson 1 --check
printed 'lesson-01/exercise.c: solved' && grep -q 'lesson-01/exercise.scn: solved' "$scratch/out" && grep -q '^Next: ctxrt lesson 2$' "$scratch/out" &&
    cmp -s "$(sed -n 's/^  Another solution: \(.*\.c\)$/\1/p' "$scratch/out")" "$lesson/solution.c"
report $? 'both_exercises_of_the_folder_are_checked'
run sh -c 'cd "$0/lesson-01" && "$1" lesson 1 --check' "$scratch/student" "$ctxrt"
printed 'Lesson 1, exercise.c: solved'
report $? 'also_from_within_it'
here "$ctxrt" lesson 1 --build
printed 'Built lesson-01/mistake' && here env CTXRT_LOG=off "$ctxrt" run lesson-01/mistake && printed '^the picture is on GPU 1$'
report $? 'the_program_with_the_mistake_is_built'
here "$ctxrt" lesson 14
here "$ctxrt" lesson 14 --build
printed 'Built lesson-14/mistake' && here env CTXRT_LOG=off "$ctxrt" run lesson-14/mistake &&
    printed '^after the codec: device 0, another context$'
report $? 'so_is_one_of_two_modules'
here sh -c "$CC -Ilesson-01 -c lesson-01/exercise.c -o exercise.o"
[ "$status" -eq 0 ]
report $? 'the_copy_compiles_alone'
if [ -n "$CUDA_DIR" ]; then
    # shellcheck disable=SC2086 # the compiler is words
    run ${CC%% -D*} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only "-I$CUDA_DIR/include" "-I$lessons" "$lessons"/[0-9]*/*.c
    # shellcheck disable=SC2086 # the compiler is words
    [ "$status" -eq 0 ] && run ${CC%% -D*} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only -DMODULE "-I$CUDA_DIR/include" "-I$lessons" \
        "$lessons"/14-*/*.c
    report "$status" 'the_programs_compile_with_cuda_h'
else
    skip 'the_programs_compile_with_cuda_h' 'configure found no cuda.h'
fi

# ---- in Chinese ----

run "$ctxrt" lesson --lang zh
printed '^  3  \[.\]  主上下文' && [ "$(grep -c '^ *[0-9]*  \[.\]  ' "$scratch/out")" -eq "$count" ] && ! grep -q ' solved' "$scratch/out"
report $? 'the_list_is_there_in_chinese'
cp "$scratch/out" "$scratch/chinese"
for locale in LC_ALL=zh_CN.UTF-8 LC_MESSAGES=zh_SG.utf8 LANG=zh_CN.UTF-8; do
    env -u LC_ALL -u LC_MESSAGES -u LANG "$locale" "$ctxrt" lesson | cmp -s - "$scratch/chinese" || echo "$locale: no Chinese"
done > "$scratch/out"
for locale in LC_ALL=zh_CN.GB2312 LC_ALL=C.UTF-8 LANG=zhongwen.UTF-8 LANG=; do
    env -u LC_ALL -u LC_MESSAGES -u LANG "$locale" LC_MESSAGES= "$ctxrt" lesson | grep -q 'solved' || echo "$locale: no English"
done >> "$scratch/out"
env LC_ALL=zh_CN.UTF-8 "$ctxrt" lesson --lang en | grep -q 'solved' || echo 'the option is not first' >> "$scratch/out"
[ ! -s "$scratch/out" ]
report $? 'a_chinese_locale_in_utf_8_asks_for_it'
run "$ctxrt" lesson --lang fr
failed_with 2 '--lang fr: the lessons are there in en and zh'
report $? 'a_language_that_is_not_there_is_wrong_use'
mkdir "$scratch/student/zh"
run sh -c 'cd "$0/zh" && for n in $(seq "$2"); do "$1" lesson --lang zh $n || exit; done' "$scratch/student" "$ctxrt" "$count"
printed '^第 1 课：什么是“当前”$' && grep -q '^最后：ctxrt lesson 1 --check$' "$scratch/out" && ! grep -q 'Lesson' "$scratch/out"
report $? 'a_lesson_begins_in_chinese'
for copied in "$lessons"/[0-9]*; do
    folder=$scratch/student/zh/lesson-$(basename "$copied" | cut -c 1-2)
    { sed '$d' "$folder/README.md" && cat "$folder/answer.md"; } > "$scratch/copied"
    grep -v '^<!--' "$copied/README.zh.md" | cmp -s - "$scratch/copied" || echo "$folder has another page"
    tail -n 1 "$folder/README.md" | grep -q '^答案、.*answer\.md' || echo "$folder/README.md does not name the answer"
    cmp "$copied/exercise.zh.scn" "$folder/exercise.scn" && cmp "$copied/exercise.c" "$folder/exercise.c"
done > "$scratch/out" 2>&1
[ ! -s "$scratch/out" ]
report $? 'pages_and_scenarios_of_all_are_copied_in_chinese'
run env LC_ALL=zh_CN.UTF-8 "$ctxrt" lesson 2 --check "$lessons"/02-*/exercise.c
[ "$status" -eq 1 ] && grep -q '还不对：用参数 [0-9]* 运行（调度方式 threads），输出的第 3 行不同：$' "$scratch/errors" &&
    grep -q '^  请跟着工作线程走过每一个任务' "$scratch/errors" && iconv -f UTF-8 -t UTF-8 "$scratch/errors" > "$scratch/ignored"
report $? 'the_check_speaks_chinese_with_whole_characters'
lesson=$(echo "$lessons"/02-*)
answers 1 exercise.zh.scn > "$scratch/wrong.scn"
lesson=$(echo "$lessons"/01-*)
run "$ctxrt" lesson --lang zh 2 --check "$scratch/wrong.scn"
[ "$status" -eq 1 ] && grep -q '第 3 行：返回的不是 SUCCESS none$' "$scratch/errors" && grep -q '^  创建会使它成为当前上下文吗？$' "$scratch/errors"
report $? 'a_wrong_answer_has_its_comment_for_a_hint'
run "$ctxrt" lesson --lang zh 2 --check "$lessons"/02-*/solution.c
printed '^第 2 课，.*：做对了。$'
report $? 'a_solution_is_taken'
sed 's/ ? / none /' "$lessons"/02-*/exercise.zh.scn > "$scratch/wrong.scn"
run "$ctxrt" lesson --lang zh 2 --check "$scratch/wrong.scn"
[ "$status" -eq 1 ] && grep -q "none  *# 它该在哪个上下文中分配？$" "$scratch/errors" && ! grep -q '结果不写\|???' "$scratch/errors"
report $? 'a_line_that_cannot_be_played_is_shown_with_its_comment'
sed 's/ ? / NULL /' "$lessons"/02-*/exercise.scn > "$scratch/wrong.scn"
run "$ctxrt" lesson 2 --check "$scratch/wrong.scn"
[ "$status" -eq 1 ] && grep -q "^  NULL is .none' in a scenario\.$" "$scratch/errors" && ! grep -q 'Results stand' "$scratch/errors"
report $? 'a_word_of_c_is_told_and_comments_may_have_it'

# ---- the kernel of lesson 9 ----

kernel()  # which, the library NVRTC, seconds
{
    here env NVRTC="$2" CTXRT_EMU_WATCHDOG="$3" "$ctxrt" run lesson-09/kernel lesson-09 "$1"
}

here "$ctxrt" lesson 9
here "$ctxrt" lesson 9 --build lesson-09/kernel.c
printed 'Built lesson-09/kernel'
report $? 'the_program_with_a_kernel_is_built'
kernel square none 60
[ "$status" -eq 0 ] && [ "$(cat "$scratch/errors")" = 'SKIP: NVRTC is not installed; kernel.ptx runs, not kernel.cu' ] &&
    grep -q '^thread 2 stores 4$' "$scratch/out" && grep -q '^thread 3 has nothing to do$' "$scratch/out"
report $? 'without_NVRTC_its_kernel_comes_from_PTX'
cp "$scratch/out" "$scratch/square"
kernel endless none 1
grep -q '^waiting for the kernel gives CUDA_ERROR_LAUNCH_TIMEOUT$' "$scratch/out" && grep -q 'kernel endless, line [0-9]* of its PTX' "$scratch/errors"
report $? 'a_limit_ends_the_kernel_that_never_ends'
nvrtc=$(ls "$CUDA_DIR"/lib*/libnvrtc.so.1[23] /usr/local/cuda/lib*/libnvrtc.so.1[23] /usr/lib/*/libnvrtc.so.1[23] 2> "$scratch/said" | head -n 1)
if [ -n "$nvrtc" ] && [ -z "$SANITIZERS" ]; then
    kernel square "$nvrtc" 60
    [ "$status" -eq 0 ] && [ ! -s "$scratch/errors" ] && cmp -s "$scratch/square" "$scratch/out"
    report $? 'where_NVRTC_is_installed_it_compiles_the_kernel'
    sed -i 's/stores %d/keeps %d/; s/i \* i/i + 70/' "$scratch/student/lesson-09/kernel.cu"
    kernel square "$nvrtc" 60
    printed '^thread 2 keeps 72$'
    report $? 'a_changed_kernel_needs_no_new_program'
    echo 'nonsense' >> "$scratch/student/lesson-09/kernel.cu"
    kernel square "$nvrtc" 60
    [ "$status" -eq 2 ] && [ ! -s "$scratch/out" ] && grep -q 'kernel.cu(.*error' "$scratch/errors"
    report $? 'what_NVRTC_says_is_shown'
else
    skip 'where_NVRTC_is_installed_it_compiles_the_kernel' 'there is no libnvrtc, or the program is sanitized'
    skip 'a_changed_kernel_needs_no_new_program' 'there is no libnvrtc, or the program is sanitized'
    skip 'what_NVRTC_says_is_shown' 'there is no libnvrtc, or the program is sanitized'
fi

# ---- the lecturer's page ----

# Prints the blocks of one language, one after the other.
blocks() # language
{
    awk -v begin="^\`\`\`$1\$" '$0 ~ begin { inside = 1; next } /^```/ { inside = 0 } inside' "$top_srcdir/docs/teaching.md"
}

mkdir "$scratch/class" "$scratch/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$ctxrt" > "$scratch/bin/ctxrt"
chmod +x "$scratch/bin/ctxrt"
blocks sh > "$scratch/lecture"
blocks text > "$scratch/expected"
run env PATH="$scratch/bin:$PATH" XDG_STATE_HOME="$scratch/class-state" lessons="$lessons" sh -c \
    'cd "$1" && . "$2"' sh "$scratch/class" "$scratch/lecture"
[ "$status" -eq 0 ] && [ -s "$scratch/expected" ] && [ ! -s "$scratch/errors" ] && cmp -s "$scratch/expected" "$scratch/out"
report $? 'the_commands_of_the_lecturers_page_print_what_it_says'
[ "$(sed -n 's/^| \([0-9]*\) | .*/\1/p' "$top_srcdir/docs/teaching.md" | head -n "$count" | tr '\n' ' ')" = \
    "$(seq "$count" | tr '\n' ' ')" ]
report $? 'its_table_has_every_lesson'

# ---- what can go wrong ----

file=$scratch/student/lesson-01/exercise.c
hole() # the lines of the student, in the place of the first hole of lesson 1
{
    awk -v lines="$1" '/your lines end/ { inside = 0 } !inside; /your lines begin/ { inside = 1; if (!n++) print lines }' \
        "$lesson/exercise.c" > "$file"
    run "$ctxrt" lesson 1 --check ${2:+"$2"} "$file"
}

{ sed 's/;$/; /' "$lesson/solution.c"; echo; } | sed G > "$file"
run "$ctxrt" lesson 1 --check "$file"
printed 'solved'
report $? 'blanks_and_empty_lines_do_not_matter'
run env CC=no-such-compiler "$ctxrt" lesson 1 --check "$lesson/solution.c"
failed_with 1 "there is no C compiler 'no-such-compiler': install one"
report $? 'a_missing_compiler_is_said'
hole 'MUST(cuCtxPushCurrent(contexts[i])'
[ "$status" -eq 1 ] && grep -q 'the compiler does not take' "$scratch/errors" && grep -q '^  .*exercise.c:1[0-9].*error' "$scratch/errors"
report $? 'what_the_compiler_says_is_shown'
hole 'MUST(cuCtxPushCurrent(NULL));'
refused 'it ends with exit status 3: .*cuCtxPushCurrent(NULL) gave CUDA_ERROR_INVALID_VALUE'
report $? 'a_call_that_fails_is_named'
if [ -n "$SANITIZERS" ]; then
    skip 'a_crash_is_said' 'the sanitizer ends the program by itself'
else
    hole '*(volatile int *)0 = i;'
    refused 'it is ended by signal 11'
    report $? 'a_crash_is_said'
fi
hole '(void)contexts; for (volatile int forever = 1; forever;) { }' --limit=1
refused 'it had not ended after 1 s and was stopped'
report $? 'a_program_without_an_end_is_stopped'
grep -v 'cuEventDestroy' "$lessons/11-memory/solution.c" > "$scratch/leak.c"
run "$ctxrt" lesson 11 --check "$scratch/leak.c"
refused 'its output is right (lazy schedule), but see what ctxrt check says' && grep -q 'LIFE-EVENT: .*line [0-9]*, in run_job()' "$scratch/errors" &&
    grep -q '^  Events are left: each job makes one\.$' "$scratch/errors"
report $? 'right_output_with_a_finding_is_not_enough'
hole '#if 0'
refused 'your lines need no line of the preprocessor'
report $? 'lines_cannot_be_switched_off'
hole 'if (i == 2) exit(0);'
refused 'your lines neither print nor end the program'
report $? 'the_program_cannot_be_ended_early'
sed 's/SUCCESS none/any/' "$lesson/solution.scn" > "$scratch/any.scn"
run "$ctxrt" lesson 1 --check "$scratch/any.scn"
refused 'line 3: '
report $? 'any_is_no_answer'
sed 's/SUCCESS none/SUCCESS _/' "$lesson/solution.scn" > "$scratch/any.scn"
run "$ctxrt" lesson 1 --check "$scratch/any.scn"
refused 'line 3: an answer is one exact word'
report $? 'neither_is_a_value_that_may_be_anything'
sed 's/SUCCESS none/SUCCESS/' "$lesson/solution.scn" > "$scratch/any.scn"
run "$ctxrt" lesson 1 --check "$scratch/any.scn"
refused 'line 3: a word is missing'
report $? 'nor_one_that_is_missing'
sed 's/INVALID_CONTEXT/INVALID_CONTXT/' "$lesson/solution.scn" > "$scratch/any.scn"
run "$ctxrt" lesson 1 --check "$scratch/any.scn"
refused 'it is no scenario that ctxrt play can play' && grep -q "any.scn:13:.*INVALID_CONTXT" "$scratch/errors"
report $? 'a_word_that_is_no_result_is_said'
sed '/ctx.create b/d' "$lesson/solution.scn" > "$scratch/any.scn"
run "$ctxrt" lesson 1 --check "$scratch/any.scn"
[ "$status" -eq 1 ] && grep -q 'not yet: line' "$scratch/errors"
report $? 'the_steps_stay_those_of_the_exercise'
run "$ctxrt" lesson 1 --check "$scratch/nothing.c"
failed_with 1 "$scratch/nothing.c cannot be read: No such file"
report $? 'a_file_that_is_not_there_is_said'
sed 's/^    MUST(cuStreamWaitEvent.*/    MUST(cuStreamSynchronize(before->stream));/' "$lessons/07-streams-and-events/solution.c" > "$scratch/wait.c"
run "$ctxrt" lesson 7 --check "$scratch/wait.c"
refused 'line 35: this exercise is to be solved without this call'
report $? 'a_call_that_an_exercise_does_without_is_refused'
# Lines of the solutions exchanged for others.
changed() # lesson, sed script
{
    sed "$2" "$lessons"/"$(printf '%02d' "$1")"-*/solution.c > "$scratch/changed.c"
    run "$ctxrt" lesson "$1" --check "$scratch/changed.c"
}

hole='/your lines begin/,/your lines end/'
changed 3 "${hole}s/MUST(cuDevicePrimaryCtxRetain/CUcontext before; MUST(cuCtxGetCurrent(\&before)); &/
    ${hole}s/cuCtxPopCurrent(NULL)/cuCtxPushCurrent(before)/"
refused 'its output differs in line 8'
report $? 'a_visit_that_pushes_where_it_should_pop_is_refused'
changed 3 "${hole}s/cuDevicePrimaryCtxRelease/cuDevicePrimaryCtxReset/"
refused 'this exercise is to be solved without this call'
report $? 'a_visit_resets_nothing'
changed 4 "${hole}s/cuCtxPushCurrent/cuCtxSetCurrent/; ${hole}s/cuCtxPopCurrent(NULL)/cuCtxSetCurrent(contexts[1])/"
refused 'its output differs in line 1'
report $? 'a_function_does_not_know_its_caller'
changed 5 "${hole}s/cuCtxPopCurrent(NULL)/cuCtxPushCurrent(self->of_host)/"
refused 'its output differs in line 2'
report $? 'a_guest_that_pushes_where_it_should_pop_is_refused'
changed 5 "${hole}s/cuCtxPushCurrent(/cuCtxSetCurrent(/; ${hole}s/cuCtxPopCurrent(NULL)/cuCtxSetCurrent(self->of_host)/"
refused 'this exercise is to be solved without this call'
report $? 'a_guest_sets_nothing'
changed 5 "/^    if (result == CUDA_SUCCESS)\$/d; /^        result = cuMemcpyPeer/d
    ${hole}s/MUST(cuCtxPopCurrent(NULL));/& if (result == CUDA_SUCCESS) result = cuMemcpyPeer(self->copy, self->context, from, self->of_host, bytes);/"
[ "$status" -eq 0 ]
report $? 'the_guest_may_copy_after_its_pop'
changed 13 "s/^    if (contexts\[gpu\] == NULL)$//"
refused 'its output is right (threads schedule), but see what ctxrt check says' && grep -q '^  The primary context is retained more often' "$scratch/errors"
report $? 'a_device_that_each_thread_retains_is_refused'
changed 13 "s/cuCtxSetCurrent(/cuCtxPushCurrent(/"
refused 'its output differs in line 1'
report $? 'setting_a_device_pushes_nothing'
changed 13 "${hole}s/^    set_device(before);//"
refused 'its output differs in line 1'
report $? 'a_visit_gives_the_device_back'
changed 14 "${hole}s/^    MUST(cuCtxPushCurrent/    CUcontext before; MUST(cuCtxGetCurrent(\&before)); MUST(cuCtxSetCurrent/; ${hole}s/cuCtxPopCurrent(NULL)/cuCtxSetCurrent(before)/"
refused 'its output is right (threads schedule), but see what ctxrt check says' && grep -q '^  The program had pushed that entry' "$scratch/errors"
report $? 'a_library_that_sets_and_sets_back_is_refused'
changed 14 "${hole}s/^    MUST(cuCtxPushCurrent.*//; ${hole}s/^    if (bytes == 0)/    MUST(cuCtxPushCurrent(primary));\n&/"
refused 'its output differs in line 3'
report $? 'a_way_out_of_a_library_without_its_pop_is_refused'
changed 14 "${hole}s/^    MUST(cuDevicePrimaryCtxRelease.*//"
refused 'its output is right (threads schedule), but see what ctxrt check says' && grep -q '^  The codec retains more often' "$scratch/errors"
report $? 'a_library_that_keeps_its_device_is_refused'
run "$ctxrt" lesson 1 --check "$lesson/exercise.c"
[ "$status" -eq 1 ] && ! grep -q 'ORDER-\|cuMemcpyPeer' "$scratch/errors"
report $? 'an_exercise_as_it_is_gets_no_findings_of_later_lessons'
sed '/SUCCESS none/s/none/NULL/' "$lesson/solution.scn" > "$scratch/any.scn"
run "$ctxrt" lesson 1 --check "$scratch/any.scn"
[ "$status" -eq 1 ] && grep -q "NULL is .none' in a scenario" "$scratch/errors"
report $? 'a_word_of_C_is_told_as_that_of_scenarios'
run "$ctxrt" lesson 31
failed_with 2 "there is no lesson 31: the last is $count"
report $? 'a_lesson_that_is_not_there_is_wrong_use'
run "$ctxrt" lesson one
failed_with 2 "'one' is no number of a lesson"
report $? 'a_word_is_no_lesson'
run "$ctxrt" lesson --check
failed_with 2 'name the lesson'
report $? 'a_check_needs_its_lesson'
run "$ctxrt" lesson 1 "$file"
failed_with 2 'a file is for --check and --build'
report $? 'a_file_alone_is_wrong_use'
mkdir "$scratch/tmp"
run env TMPDIR="$scratch/tmp" "$ctxrt" lesson 14 --check "$lessons"/14-*/solution.c
[ "$status" -eq 0 ] && [ -z "$(ls "$scratch/tmp")" ]
report $? 'a_check_leaves_nothing_behind'
echo "1..$number"
