/* budget_over.h: load over time, for budget.c. */
#ifndef CAN_BUDGET_OVER_H
#define CAN_BUDGET_OVER_H

#include "can/budget.h"

/* A frame that ends at t_ns, not before the one before, and took busy_ns.  0 or -ENOMEM. */
int budget_over_peak(const struct budget *b, struct budget_bus *bus, int64_t t_ns, int64_t busy_ns);
int budget_over_add(const struct budget *b, struct budget_bus *bus, int64_t t_ns, int64_t busy_ns);

/* Room for one more behind n: at itself, or where it has moved to; NULL: no memory, and all is as it was. */
void *budget_room(void *at, size_t size, size_t n, size_t *room);

#endif
