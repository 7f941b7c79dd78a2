/* msg_out.c */
#include <stdarg.h>
#include <stdio.h>

#include "channels/msg/msg_out.h"

struct msg_out msg_out_to(char *text, size_t size)
{
	if (size)
		*text = '\0';
	return (struct msg_out){ text, size, 0 };
}

void msg_out(struct msg_out *o, const char *fmt, ...)
{
	size_t at = o->len < o->size ? o->len : o->size;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(o->size ? o->text + at : NULL, o->size - at, fmt, args);
	va_end(args);
	o->len += n > 0 ? (size_t)n : 0;
}
