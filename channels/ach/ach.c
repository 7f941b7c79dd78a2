/* ach.c: attributes, words for statuses, and questions to a handle. */
#include "channels/ach/ach_ring.h"

/* ---- why a call failed ---- */

static __thread __attribute__((tls_model("initial-exec"))) const char *why_failed;

enum ach_status ach_fail(enum ach_status status, const char *why)
{
	why_failed = why;
	return status;
}

enum ach_status ach_error(enum ach_status status, const char *fmt, ...)
{
	static __thread char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return ach_fail(status, text);
}

const char *ach_errstr(void)
{
	return why_failed ? why_failed : "";
}

const char *ach_result_to_string(enum ach_status status)
{
#define NAME(name) [ACH_##name] = "ACH_" #name,
	static const char *const names[] = { ACH_EACH_STATUS(NAME) };
	size_t i = (size_t)status;

	return i < sizeof(names) / sizeof(*names) ? names[i] : "UNKNOWN";
}

/* ---- attributes ---- */

void ach_attr_init(ach_attr_t *attr)
{
	memset(attr, 0, sizeof(*attr));
}

enum ach_status ach_attr_set_shm(ach_attr_t *attr, struct ach_header *shm)
{
	attr->map = ACH_MAP_ANON;
	attr->shm = shm;
	return ACH_OK;
}

enum ach_status ach_attr_set_lock_source(ach_attr_t *attr, int lock_source)
{
	attr->lock_source = lock_source != 0;
	return ACH_OK;
}

static bool is_span(const struct timespec *t)
{
	return t && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec <= 999999999;
}

enum ach_status ach_attr_set_put_timeout(ach_attr_t *attr, const struct timespec *timeout)
{
	if (!is_span(timeout))
		return ach_fail(ACH_EINVAL, "a put timeout is relative and not negative");
	attr->put_timeout_ns = ach_timespec_ns(timeout);
	attr->set_put_timeout = 1;
	return ACH_OK;
}

enum ach_status ach_attr_set_wake_gap(ach_attr_t *attr, const struct timespec *gap)
{
	if (!is_span(gap))
		return ach_fail(ACH_EINVAL, "a gap between wake-ups is relative and not negative");
	attr->wake_gap_ns = ach_timespec_ns(gap);
	return ACH_OK;
}

enum ach_status ach_attr_set_owner(ach_attr_t *attr, uid_t owner, mode_t mode_max)
{
	if (mode_max & ~(mode_t)0777)
		return ach_fail(ACH_EINVAL, "a channel's mode is 0 to 0777");
	attr->owner = owner;
	attr->mode_max = mode_max;
	attr->set_owner = 1;
	return ACH_OK;
}

void ach_create_attr_init(ach_create_attr_t *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->clock = ACH_DEFAULT_CLOCK;
}

enum ach_status ach_create_attr_set_clock(ach_create_attr_t *attr, clockid_t clock)
{
	if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
		return ach_fail(ACH_EINVAL, "a channel's clock is CLOCK_MONOTONIC or CLOCK_REALTIME");
	attr->clock = clock;
	attr->set_clock = 1;
	return ACH_OK;
}

enum ach_status ach_create_attr_set_map(ach_create_attr_t *attr, enum ach_map map)
{
	switch (map) {
	case ACH_MAP_DEFAULT:
	case ACH_MAP_ANON:
	case ACH_MAP_USER:
	case ACH_MAP_KERNEL:
		attr->map = map;
		return ACH_OK;
	}
	return ach_fail(ACH_EINVAL, "no such mapping");
}

enum ach_status ach_create_attr_set_truncate(ach_create_attr_t *attr, int truncate)
{
	attr->truncate = truncate != 0;
	return ACH_OK;
}

enum ach_status ach_create_attr_get_shm(ach_create_attr_t *attr, struct ach_header **shm)
{
	if (attr->map != ACH_MAP_ANON || !shm)
		return ach_fail(ACH_EINVAL, "only an anonymous channel is opened by its memory");
	*shm = attr->shm;
	return ACH_OK;
}

enum ach_status ach_create_attr_set_mode(ach_create_attr_t *attr, mode_t mode, gid_t group)
{
	if (mode & ~(mode_t)0777)
		return ach_fail(ACH_EINVAL, "a channel's mode is 0 to 0777");
	attr->mode = mode;
	attr->group = group;
	attr->set_mode = 1;
	return ACH_OK;
}

void ach_cancel_attr_init(ach_cancel_attr_t *attr)
{
	memset(attr, 0, sizeof(*attr));
}

enum ach_status ach_cancel_attr_set_async_unsafe(ach_cancel_attr_t *attr, int async_unsafe)
{
	attr->async_unsafe = async_unsafe;
	return ACH_OK;
}

/* ---- questions ---- */

enum ach_status ach_channel_map(const ach_channel_t *chan, enum ach_map *map)
{
	if (!chan->handle)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!map)
		return ach_fail(ACH_EINVAL, "nowhere to put the answer");
	*map = chan->map;
	return ACH_OK;
}

enum ach_status ach_channel_clock(const ach_channel_t *chan, clockid_t *clock)
{
	if (!chan->handle)
		return ach_fail(ACH_CLOSED, "the handle is not open");
	if (!clock)
		return ach_fail(ACH_EINVAL, "nowhere to put the answer");
	*clock = chan->clock;
	return ACH_OK;
}

void ach_dump(struct ach_header *shm)
{
	const struct ach_geometry *g = &shm->geo;

	fprintf(stderr,
		"magic:    %016llx\nid:       %016llx\ncount:    %u\nsize:     %u\nretained: %llu bytes\n"
		"data:     %llu bytes at %u\nslots:    %u\nclock:    %s\n",
		(unsigned long long)g->magic, (unsigned long long)g->id, g->count, g->size,
		(unsigned long long)g->lsize, (unsigned long long)g->psize, g->data_offset, g->slots,
		g->clock == CLOCK_REALTIME ? "realtime" : "monotonic");
	fprintf(stderr, "newest:   %llu\nreclaim:  %llu\nwoken:    %llu\nlock:     %08x\nwriter:   %u\n",
		(unsigned long long)atomic_load(&shm->commit), (unsigned long long)atomic_load(&shm->reclaim),
		(unsigned long long)atomic_load(&shm->woken), atomic_load(&shm->lock), atomic_load(&shm->writer));
}
