/*
 * How a copy is done once it has a plan: by calls of the route's driver, or by the host.
 */
#ifndef CX_COPY_SUBMIT_H
#define CX_COPY_SUBMIT_H

#include "copy/copy.h"

/* Submits a copy of plain bytes to the route. */
ctxrt_status cx_copy_submit(const cx_copy_plan *plan, const cx_route *route, void *destination,
                            const void *source, size_t size_bytes);

/* Submits a copy of a box to the route. */
ctxrt_status cx_copy_submit_box(const cx_copy_plan *plan, const cx_route *route,
                                const cx_copy_box *shape);

/* Copies a box at once, row by row. A row may overlap the one that it comes from. */
void cx_copy_box_on_host(const cx_copy_box *shape);

#endif
