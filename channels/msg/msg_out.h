/* msg_out.h: text that grows in a buffer of fixed size, counting what did not fit. */
#ifndef MSG_OUT_H
#define MSG_OUT_H

#include <stddef.h>

struct msg_out {
	char *text;
	size_t size;
	size_t len; /* as if there had been room */
};

struct msg_out msg_out_to(char *text, size_t size);
void msg_out(struct msg_out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
