/* od_inside.h: between od.c and od_sdo.c. */
#pragma once

#include "daemons/robotsim/od.h"

size_t od_find(const struct od *od, uint16_t index, uint8_t sub); /* objects_n: absent */
uint32_t od_read(struct od *od, size_t i);
uint32_t od_write(struct od *od, size_t i, uint32_t value); /* 0 or an abort code */
void od_queue(struct od *od, uint32_t id, const uint8_t *data, uint8_t len, int64_t t_ns);
void od_sdo(struct od *od, const struct frame *frame, int64_t t_ns);
