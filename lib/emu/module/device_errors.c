#include "emu/module/device_errors.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const struct row {
    int error; /* cudaError_t */
    const char *name, *text;
} rows[] = {
    {0, "cudaSuccess", "no error"},
    {1, "cudaErrorInvalidValue", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "out of memory"},
    {9, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {65, "cudaErrorLaunchMaxDepthExceeded", "launch would exceed maximum depth of nested launches"},
    {69, "cudaErrorLaunchPendingCountExceeded",
     "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
    {98, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {101, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {400, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {-1, "unrecognized error code", "unrecognized error code"}};

enum { ROWS = sizeof rows / sizeof rows[0] };

bool cx_emu_needs_device_errors(const char *text, size_t length)
{
    static const char prefix[] = "__cudaCDP2GetError";

    return memmem(text, length, prefix, strlen(prefix)) != NULL;
}

static void write_string(FILE *out, const char *kind, int row, const char *string)
{
    fprintf(out, ".global .b8 __ctxrt_error_%s%d[%zu] = {", kind, row, strlen(string) + 1);
    for (const char *at = string; *at; at++)
        fprintf(out, "%d, ", *at);
    fputs("0};\n", out);
}

/* The last row's string, unless an earlier row has the error. */
static void write_function(FILE *out, const char *kind)
{
    fprintf(out,
            ".weak .func (.param .b64 string) __cudaCDP2GetError%s(.param .b32 error)\n{\n"
            "    .reg .pred %%other;\n    .reg .b32 %%error;\n    .reg .b64 %%string;\n"
            "    ld.param.u32 %%error, [error];\n    mov.u64 %%string, __ctxrt_error_%s%d;\n",
            kind, kind, ROWS - 1);
    for (int i = 0; i < ROWS - 1; i++)
        fprintf(out,
                "    setp.eq.u32 %%other, %%error, %d;\n"
                "    @%%other mov.u64 %%string, __ctxrt_error_%s%d;\n",
                rows[i].error, kind, i);
    fputs("    cvta.global.u64 %string, %string;\n    st.param.b64 [string], %string;\n"
          "    ret;\n}\n",
          out);
}

char *cx_emu_device_errors_write(void)
{
    cx_text_file text;
    FILE *out = cx_text_open(&text);
    size_t length;

    if (out == NULL)
        return NULL;
    fputs(".version 6.0\n.target sm_50\n.address_size 64\n", out);
    for (int i = 0; i < ROWS; i++) {
        write_string(out, "Name", i, rows[i].name);
        write_string(out, "String", i, rows[i].text);
    }
    write_function(out, "Name");
    write_function(out, "String");
    return cx_text_close(&text, &length);
}
