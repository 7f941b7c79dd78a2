/* unit.h: private to config: a number with a unit, in the unit of its row. */
#pragma once

#include "config/base/base.h"

/* Turns a value in one unit into one in another: deg/s into rad/s.  0; -EINVAL: they do not measure the same. */
int unit_convert(double *value, const char *from, const char *to);

/* "rad/s, deg/s, turn/s": what can be converted to this unit, which comes first. */
void unit_list(struct text_out *out, const char *to);
