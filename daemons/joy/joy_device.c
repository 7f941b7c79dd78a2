/* joy_device.c: events of a joystick, through libevdev or from a file. */
#include "daemons/joy/joy_device.h"

#include <fcntl.h>
#include <libevdev/libevdev.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_PREFIX "file:"
#define FILE_RANGE 32767
#define EVENTS_MAX 256 /* in one tick; a device that sends more is read on in the next */

struct joy_device {
	int fd;
	struct libevdev *evdev; /* NULL: a file */
	bool is_fifo;
	/* of a file: */
	struct input_event next;
	bool has_next, played;
	int64_t shift_ns; /* from the time in the file to now */
};

int joy_device_code(unsigned int type, const char *name)
{
	return libevdev_event_code_from_name(type, name);
}

/* ---- evdev ---- */

static int begin_evdev(struct joy_device *d, struct joy *joy)
{
	const int status = libevdev_new_from_fd(d->fd, &d->evdev);

	if (status)
		return status;
	if (!libevdev_has_event_code(d->evdev, EV_KEY, joy->rules.deadman) ||
	    (joy->rules.stop != JOY_NO_BUTTON && !libevdev_has_event_code(d->evdev, EV_KEY, joy->rules.stop)))
		return -ENOTSUP;
	for (struct joy_axis *axis = joy->axes; axis < joy->axes + joy->axes_n; axis++) {
		const struct input_absinfo *info = libevdev_get_abs_info(d->evdev, axis->code);

		if (!info)
			return -ENOTSUP;
		axis->low = info->minimum;
		axis->high = info->maximum;
	}
	joy_plug(joy);
	for (unsigned int i = 0; i < joy->axes_n; i++)
		joy_begin(joy, EV_ABS, joy->axes[i].code,
			  libevdev_get_event_value(d->evdev, EV_ABS, joy->axes[i].code));
	if (joy->rules.stop != JOY_NO_BUTTON)
		joy_begin(joy, EV_KEY, joy->rules.stop, libevdev_get_event_value(d->evdev, EV_KEY, joy->rules.stop));
	return 0;
}

/* After lost events libevdev returns the differences to its copy as events. */
static int read_evdev(struct joy_device *d, struct joy *joy, int64_t now_ns)
{
	unsigned int flags = LIBEVDEV_READ_FLAG_NORMAL;
	struct input_event ev;

	for (int i = 0; i < EVENTS_MAX; i++) {
		const int status = libevdev_next_event(d->evdev, flags, &ev);

		if (status == -EAGAIN && flags == LIBEVDEV_READ_FLAG_NORMAL)
			return 0;
		if (status < 0 && status != -EAGAIN)
			return status;
		if (status == -EAGAIN) {
			flags = LIBEVDEV_READ_FLAG_NORMAL;
			continue;
		}
		if (status == LIBEVDEV_READ_STATUS_SYNC && flags == LIBEVDEV_READ_FLAG_NORMAL) {
			joy_take(joy, EV_SYN, SYN_DROPPED, 0, now_ns);
			flags = LIBEVDEV_READ_FLAG_SYNC;
			continue;
		}
		joy_take(joy, ev.type, ev.code, ev.value, now_ns);
	}
	joy_take(joy, EV_SYN, SYN_DROPPED, 0, now_ns); /* more than a joystick sends: not trusted */
	return 0;
}

/* ---- a file ---- */

static int64_t time_of(const struct input_event *ev)
{
	return (int64_t)ev->input_event_sec * NS_PER_S + (int64_t)ev->input_event_usec * NS_PER_US;
}

/* Writers of a FIFO put whole events: PIPE_BUF is larger. */
static int fetch(struct joy_device *d)
{
	const ssize_t n = read(d->fd, &d->next, sizeof(d->next));

	d->has_next = n == (ssize_t)sizeof(d->next);
	if (d->has_next)
		return 0;
	if (n < 0 && errno == EAGAIN)
		return -EAGAIN;
	return n < 0 ? -errno : -ENODEV;
}

/* A file that has come to its end is a joystick that was unplugged. */
static int read_file(struct joy_device *d, struct joy *joy, int64_t now_ns)
{
	for (int i = 0; i < EVENTS_MAX; i++) {
		const int status = d->has_next ? 0 : fetch(d);

		if (status)
			return status == -EAGAIN ? 0 : status;
		if (!d->played)
			d->shift_ns = now_ns - time_of(&d->next);
		d->played = true;
		if (!d->is_fifo && time_of(&d->next) + d->shift_ns > now_ns)
			return 0;
		d->has_next = false;
		joy_take(joy, d->next.type, d->next.code, d->next.value, now_ns);
	}
	joy_take(joy, EV_SYN, SYN_DROPPED, 0, now_ns);
	return 0;
}

/* A FIFO without a writer, which is at its end, has no joystick. */
static int begin_file(struct joy_device *d, struct joy *joy)
{
	struct stat st;

	if (fstat(d->fd, &st))
		return -errno;
	d->is_fifo = S_ISFIFO(st.st_mode);
	if (d->is_fifo && fetch(d) == -ENODEV)
		return -ENODEV;
	for (struct joy_axis *axis = joy->axes; axis < joy->axes + joy->axes_n; axis++) {
		axis->low = -FILE_RANGE;
		axis->high = FILE_RANGE;
	}
	joy_plug(joy);
	return 0;
}

/* ---- both ---- */

int joy_device_open(struct joy_device **device, const char *name, struct joy *joy, int64_t now_ns)
{
	const bool is_file = !strncmp(name, FILE_PREFIX, strlen(FILE_PREFIX));
	struct joy_device *d = calloc(1, sizeof(*d));
	int status;

	*device = NULL;
	if (!d)
		return -ENOMEM;
	d->fd = open(is_file ? name + strlen(FILE_PREFIX) : name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	status = d->fd < 0 ? -errno : is_file ? begin_file(d, joy) : begin_evdev(d, joy);
	if (status) {
		joy_device_close(d);
		return status;
	}
	joy_poll(joy, now_ns);
	*device = d;
	return 0;
}

int joy_device_read(struct joy_device *d, struct joy *joy, int64_t now_ns)
{
	const int status = d->evdev ? read_evdev(d, joy, now_ns) : read_file(d, joy, now_ns);

	if (status)
		joy_unplug(joy);
	else
		joy_poll(joy, now_ns);
	return status;
}

void joy_device_close(struct joy_device *d)
{
	if (!d)
		return;
	libevdev_free(d->evdev);
	if (d->fd >= 0)
		close(d->fd);
	free(d);
}
