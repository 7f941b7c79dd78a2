/* frame.c: properties of a frame. */
#include "can/bus/frame.h"

static const uint8_t lengths_fd[] = { 12, 16, 20, 24, 32, 48, 64 };

unsigned int frame_len_fd(unsigned int len)
{
	if (len <= FRAME_DATA_MAX)
		return len;
	for (unsigned int i = 0; i < sizeof(lengths_fd); i++)
		if (len <= lengths_fd[i])
			return lengths_fd[i];
	return FRAME_DATA_MAX_FD;
}

bool frame_equal(const struct frame *a, const struct frame *b)
{
	return a->id == b->id && a->len == b->len && a->flags == b->flags && a->dlc == b->dlc &&
	       !memcmp(a->data, b->data, frame_data_len(a));
}

bool frame_valid(const struct frame *f)
{
	const bool fd = f->flags & FRAME_FD;

	if (f->flags & ~(FRAME_FD | FRAME_BRS | FRAME_ESI) || (f->flags && !fd))
		return false;
	if (!(f->id & (FRAME_EXT | FRAME_ERR)) && f->id & FRAME_EXT_MASK & ~FRAME_STD_MASK)
		return false;
	if (f->id & FRAME_ERR && (f->id & (FRAME_EXT | FRAME_RTR) || fd || f->len != FRAME_DATA_MAX))
		return false;
	if (fd)
		return !(f->id & FRAME_RTR) && f->len <= FRAME_DATA_MAX_FD && frame_len_fd(f->len) == f->len && !f->dlc;
	if (f->len > FRAME_DATA_MAX)
		return false;
	return !f->dlc || (f->len == FRAME_DATA_MAX && f->dlc > FRAME_DATA_MAX && f->dlc < 16);
}
