/* Findings as annotations of GitHub's workflows: a line for each, with its place. */
#include "check/report.h"

#include <string.h>

/* Of properties, ':' and ',' are escaped as well. */
static void print_escaped(const char *text, bool property, FILE *out)
{
    for (; *text != '\0'; text++)
        if (*text == '%' || *text == '\n' || *text == '\r' ||
            (property && (*text == ':' || *text == ',')))
            fprintf(out, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, out);
}

void report_print_github(const report_process *process, const cx_region_finding *finding, FILE *out)
{
    static const char *const commands[] = {"notice", "warning", "error"};
    place_name name;
    char message[4096];
    fprintf(out, "::%s ", commands[kind_row(finding->kind)->severity]);
    if (report_place(process, finding, &name)) {
        fputs("file=", out);
        print_escaped(report_source(&name), true, out);
        fprintf(out, ",line=%d,", name.line);
    }
    fprintf(out, "title=%s::", kind_row(finding->kind)->name);
    report_message(process, finding, message, sizeof message);
    print_escaped(message, false, out);
    fputc('\n', out);
    fflush(out);
}
