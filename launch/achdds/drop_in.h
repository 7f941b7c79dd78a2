/* drop_in.h: what achdds@.service has to allow for a plan that does not stay on lo. */
#pragma once

#include "launch/achdds/bridge_file.h"

/* The drop-in of the unit; nothing if the interface is lo. */
void drop_in_print(FILE *to, const struct bridge_file *file, const char *robot);
