#include "play/order.h"

#include <stdlib.h>

struct cx_order {
    int nothing;
};

cx_order *cx_order_create(void)
{
    return calloc(1, sizeof(cx_order));
}

void cx_order_step(cx_order *order, cx_player *player, const cx_line *line)
{
    (void)order;
    (void)player;
    (void)line;
}
