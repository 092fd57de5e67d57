#include <ctxrt/status.h>

const char *ctxrt_status_name(ctxrt_status status)
{
    switch (status) {
#define STATUS_NAME(name, value, text) \
    case CTXRT_##name:                 \
        return "CTXRT_" #name;
        CTXRT_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    }
    return "CTXRT_ERROR_UNKNOWN";
}

const char *ctxrt_status_text(ctxrt_status status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text) \
    case CTXRT_##name:                 \
        return text;
        CTXRT_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "no such status";
}
