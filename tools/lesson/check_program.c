#include "lesson/checks.h"
#include "lesson/compile.h"
#include "lesson/findings.h"
#include "lesson/frame.h"
#include "lesson/language.h"

#include "command.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WORDS_MOST = 24 };

/* One run of the student's program. */
typedef struct trial {
    const check *check;
    job job;
    char program[PATH_MAX], report[PATH_MAX], number[16];
    const char *schedule;
} trial;

static int compare_frame(const check *self)
{
    char *exercise, *student;
    const char *why = NULL;
    int line = 0;
    if (!check_read(self, "exercise.c", &exercise, &student))
        return COMMAND_FAILED;
    bool same = frame_of_program(exercise, student, self->lesson->without, &line, &why);
    free(exercise);
    free(student);
    return same ? COMMAND_GOOD : check_not_yet(self, lesson_tr("line %d: %s"), line, why);
}

static const char *schedule_of_run;

/* Runs in the process of the job. */
static int run_check(int argc, char **argv)
{
    (void)setenv("CTXRT_EMU_SCHEDULE", schedule_of_run, 1);
    (void)setenv("CTXRT_EMU_WATCHDOG", "5", 0);
    (void)setenv("CTXRT_LOG", "off", 1);
    return check_command(argc, argv);
}

static int run_trial(trial *self)
{
    static char name[] = "ctxrt check", json[] = "--json", status[] = "--error-exitcode",
                good[] = "0", cuda[] = "--cuda", version[] = COMPILE_CUDA;
    char *arguments[WORDS_MOST + 12] = {name, json, self->report, status, good, cuda, version};
    char *options =
        strdup(self->check->lesson->options != NULL ? self->check->lesson->options : "");
    char *rest = NULL;
    int count = 7;
    for (char *word = options != NULL ? strtok_r(options, " ", &rest) : NULL;
         word != NULL && count < WORDS_MOST; word = strtok_r(NULL, " ", &rest))
        arguments[count++] = word;
    arguments[count++] = self->program;
    arguments[count++] = self->number;
    self->job.arguments = arguments;
    self->job.run = run_check;
    schedule_of_run = self->schedule;
    int result = job_run(&self->job);
    free(options);
    return result;
}

/* ---- the output ---- */

/* The lines of the lesson with the argument in the place of each '@'; the caller frees it. */
static char *expected_output(const trial *self)
{
    const char *prints = self->check->lesson->prints;
    size_t room = strlen(prints) + 1, more = strlen(self->number);
    for (const char *at = strchr(prints, '@'); at != NULL; at = strchr(at + 1, '@'))
        room += more;
    char *text = malloc(room), *to = text;
    for (const char *from = prints; text != NULL && *from != '\0'; from++) {
        if (*from == '@')
            to = mempcpy(to, self->number, more);
        else
            *to++ = *from;
    }
    if (text != NULL)
        *to = '\0';
    return text;
}

/* Prints the first line that differs. */
static int tell_difference(const trial *self, const char *expected, const char *found)
{
    int line = 1;
    for (;; line++) {
        size_t wanted = strcspn(expected, "\n"), came = strcspn(found, "\n");
        if (wanted != came || memcmp(expected, found, wanted) != 0 || expected[wanted] == '\0' ||
            found[came] == '\0')
            break;
        expected += wanted + 1;
        found += came + 1;
    }
    check_not_yet(
        self->check,
        lesson_tr("run with the argument %s (%s schedule), its output differs in line %d:"),
        self->number, self->schedule, line);
    expected = *expected != '\0' ? expected : lesson_tr("nothing more");
    found = *found != '\0' ? found : lesson_tr("nothing more");
    fprintf(stderr, lesson_tr("  it should print  %.*s\n"), (int)strcspn(expected, "\n"), expected);
    fprintf(stderr, lesson_tr("  it prints        %.*s\n"), (int)strcspn(found, "\n"), found);
    return COMMAND_FAILED;
}

static int compare_output(const trial *self)
{
    char *expected = expected_output(self), *found = job_read(&self->job, "out");
    int status = expected == NULL || found == NULL
                     ? check_not_yet(self->check, lesson_tr("no memory"))
                 : strcmp(expected, found) == 0 ? COMMAND_GOOD
                                                : tell_difference(self, expected, found);
    free(expected);
    free(found);
    return status;
}

/* ---- the end of the program, and the findings ---- */

static int tell_failed_call(const trial *self, int status)
{
    char *errors = job_read(&self->job, "errors"), *said = NULL;
    for (char *line = errors, *end; line != NULL && *line != '\0'; line = end) {
        end = strchrnul(line, '\n');
        if (*end != '\0')
            *end++ = '\0';
        if (said == NULL && strncmp(line, "ctxrt ", 6) != 0 && *line != ' ' && *line != '\0')
            said = line;
    }
    check_not_yet(self->check, lesson_tr("it ends with exit status %d%s%s"), status,
                  said != NULL ? ": " : "", said != NULL ? said : "");
    free(errors);
    return COMMAND_FAILED;
}

static int judge_end(const trial *self, int status)
{
    if (status == JOB_STOPPED)
        return check_not_yet(self->check,
                             lesson_tr("it had not ended after %d s and was stopped: something "
                                       "waits for what never comes"),
                             self->job.seconds);
    if (status == JOB_FAILED)
        return command_error(self->check->command, COMMAND_FAILED,
                             lesson_tr("no process can be started"));
    if (status > 128)
        return check_not_yet(self->check, lesson_tr("it is ended by signal %d (%s)"), status - 128,
                             strsignal(status - 128));
    return status != 0 ? tell_failed_call(self, status) : COMMAND_GOOD;
}

/* All that is wrong with a run: how it ended, what it printed, what ctxrt check found. */
static int judge_trial(trial *self)
{
    const lesson *of = self->check->lesson;
    int status = judge_end(self, run_trial(self));
    bool ended = status == COMMAND_GOOD;
    if (ended)
        status = compare_output(self);
    int found = findings_count(self->report);
    if (found == 0 && status == COMMAND_GOOD)
        return COMMAND_GOOD;
    if (found == FINDINGS_NONE_READ && ended)
        return check_not_yet(self->check, lesson_tr("the report of ctxrt check cannot be read"));
    if (status == COMMAND_GOOD)
        check_not_yet(self->check,
                      lesson_tr("its output is right (%s schedule), but see what ctxrt check says"),
                      self->schedule);
    else
        check_hint(lesson_hint_for(of, "output"));
    if (found > 0)
        findings_print(self->report, self->check->file, of,
                       !ended                   ? FINDINGS_ERRORS
                       : status == COMMAND_GOOD ? FINDINGS_ALL
                                                : FINDINGS_HINTED);
    return COMMAND_FAILED;
}

int check_program(const check *self)
{
    trial one = {.check = self, .job = {.folder = self->folder, .seconds = self->seconds}};
    snprintf(one.program, sizeof one.program, "%s/exercise", self->folder);
    snprintf(one.report, sizeof one.report, "%s/report.json", self->folder);
    int status = compare_frame(self);
    if (status == COMMAND_GOOD)
        status = compile_program(self->command, &one.job, self->all, self->lesson->module,
                                 self->file, one.program);
    char *schedules = strdup(self->lesson->schedules), *rest = NULL;
    unsigned number = (unsigned)time(NULL);
    for (char *word = schedules != NULL ? strtok_r(schedules, " ", &rest) : NULL;
         word != NULL && status == COMMAND_GOOD; word = strtok_r(NULL, " ", &rest)) {
        number = number * 1103515245 + 12345; /* a number that the program cannot know */
        snprintf(one.number, sizeof one.number, "%u", 10 + number / 65536 % 90);
        one.schedule = word;
        status = judge_trial(&one);
    }
    free(schedules);
    return status;
}
