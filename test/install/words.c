/* The names of the original's interface, as its programs use them: C89 to C17 and C++ at once. */
#include <ach.h>

#ifndef ACH_STALE_FRAMES
#error "a macro in the original"
#endif
#ifndef ACH_LOCKED
#error "a macro in the original"
#endif
#ifndef ACH_MASK_STALE_FRAMES
#error "a macro in the original"
#endif
#ifndef ACH_MASK_LOCKED
#error "a macro in the original"
#endif

enum ach_status get_number(void *cx, void **dst, const void *src, size_t len);
enum ach_status put_number(void *cx, void *dst, const void *src);
ach_status_t checked(ach_channel_t *chan) ACH_WARN_UNUSED;
int old(void) ACH_DEPRECATED;
int mask(ach_status_t status);

enum ach_status get_number(void *cx, void **dst, const void *src, size_t len)
{
	(void)cx;
	if (len != sizeof(int))
		return ACH_STALE_FRAMES;
	**(int **)dst = *(const int *)src;
	return ACH_OK;
}

enum ach_status put_number(void *cx, void *dst, const void *src)
{
	(void)cx;
	*(int *)dst = *(const int *)src;
	return ACH_OK;
}

ach_status_t checked(ach_channel_t *chan)
{
	ach_get_fun *get = get_number;
	ach_put_fun *put = put_number;
	struct timespec now = { 0, 0 };
	ach_get_opts_t options = ACH_O_WAIT;
	int from = 0, to = 0;
	void *dst = &to;

	if (get(NULL, &dst, &from, sizeof(from)) != ACH_OK || put(NULL, &to, &from) != ACH_OK)
		return ACH_LOCKED;
	chan->cancel = 0;
	return ach_get(chan, &to, sizeof(to), NULL, &now, options);
}

int mask(ach_status_t status)
{
	ach_mask_t one = ACH_MASK_OK;
	int some = ACH_MASK_OK | ACH_MASK_STALE_FRAMES | ACH_MASK_LOCKED | ACH_MASK_MISSED_FRAME;

	return ach_status_match(status, one) || ach_status_match(status, some) || ach_status_mask(status) == one;
}
