/* link_backend.h: the back ends of link.h.  Only for can/link*.c. */
#ifndef CAN_LINK_BACKEND_H
#define CAN_LINK_BACKEND_H

#include "can/link.h"

/* Each as in link.h, with the whole name, prefix and all; info is all zeros. */
struct link_ops {
	const char *prefix; /* of its names: "wire:" */
	int (*query)(const char *name, struct link_info *info, struct error_sink *errors);
	int (*up)(const char *name, const struct link_settings *want, struct error_sink *errors);
	int (*reset)(const char *name, struct error_sink *errors);
};

extern const struct link_ops link_socketcan_ops, link_wire_ops;

#endif
