/* boot_id.h: which boot of the machine this is.  Measurements, latches and lowerings of another boot do not count. */
#pragma once

#include <stdint.h>

/* The kernel's boot id, the same for every process until the machine starts again.  0, or -errno with boot zeroed: no
 * boot has the id 0. */
int boot_id_read(uint64_t boot[2]);

/* A boot id as the kernel writes it, 8-4-4-4-12 hexadecimal digits and perhaps a newline.  For tests.  0 or -EINVAL. */
int boot_id_parse(uint64_t boot[2], const char *text);
