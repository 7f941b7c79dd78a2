/* log_mcap.h: between the parts of MCAP logs.  Only for log*.c.
 *
 * The input (log_mcap_input) unpacks an MCAP file and gives a struct log_mcap_item for each frame in it.
 */
#ifndef CAN_LOG_LOG_MCAP_H
#define CAN_LOG_LOG_MCAP_H

#include <string.h>

#include "can/log/log_put.h"

struct log_mcap_item {
	int64_t t_ns;
	char bus[LOG_BUS_MAX];
	char direction;	 /* as in struct log_record */
	uint8_t damaged; /* a chunk or a record here is left out; there is no frame */
	uint8_t reserved[6];
	struct frame frame;
};
_Static_assert(sizeof(struct log_mcap_item) == 104, "without padding");

static inline bool log_mcap_probe(const unsigned char *bytes, size_t n)
{
	return n >= 4 && !memcmp(bytes, "\x89MCA", 4);
}

/* log_mcap_write.c */
void log_mcap_begin(struct log_writer *w, const struct log_record *first);
void log_mcap_put(struct log_writer *w, const struct log_record *r, unsigned int channel);
void log_mcap_end(struct log_writer *w);

#endif
