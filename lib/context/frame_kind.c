#include "context/frame_kind.h"

/* clang-format off */
const cx_frame_kind cx_frame_kinds[] = {
    /*                        name       explicit entry  override pop    detach */
    [CTXRT_FRAME_SET]     = { "set",     false,   true,  true,    true,  false },
    [CTXRT_FRAME_PUSH]    = { "push",    true,    true,  false,   true,  true },
    [CTXRT_FRAME_SCOPE]   = { "scope",   true,    true,  false,   false, false },
    [CTXRT_FRAME_ATTACH]  = { "attach",  true,    true,  false,   true,  true },
    [CTXRT_FRAME_FOREIGN] = { "foreign", false,   false, false,   false, false },
};
/* clang-format on */
