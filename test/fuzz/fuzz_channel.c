/* fuzz_channel.c: a channel whose plate and memory are overwritten between any two calls.
 *
 * The input is a program of short instructions: overwrite here with these bytes, put, get, open again ...  Sanitizers
 * and libFuzzer's time-out find crashes and hangs; the statuses that a call may return are asserted here.
 *
 * Longest: 400 bytes.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/ach/ach_file.h"

#define COUNT 3
#define SIZE 100
#define BYTES (COUNT * SIZE)

#define CHECK(cond)                                                                        \
	do {                                                                               \
		if (!(cond)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
			abort();                                                           \
		}                                                                          \
	} while (0)
#define ANSWERS(r, mask) CHECK(ach_status_match(r, mask))
#define GET_ANSWERS (ACH_MASK_OK | ACH_MASK_MISSED_FRAME | ACH_MASK_EAGAIN | ACH_MASK_OVERFLOW | ACH_MASK_CORRUPT)
#define PUT_ANSWERS (ACH_MASK_OK | ACH_MASK_CORRUPT | ACH_MASK_TIMEOUT)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char name[64];
static uint8_t *channel, *bell, *sound; /* the segments; the channel's bytes as they should be */
static struct ach_plate plate, sound_plate;
static int plate_fd;
static size_t channel_len;
static ach_channel_t chan;
static bool is_open, has_fd;

/* ---- the program ---- */

static const uint8_t *input, *input_end;

static unsigned next_byte(void)
{
	return input < input_end ? *input++ : 0;
}

static unsigned next_word(void)
{
	unsigned low = next_byte();

	return low | next_byte() << 8;
}

/* ---- its instructions ---- */

static void overwrite(uint8_t *at, size_t room)
{
	for (unsigned n = next_byte() % 33; n && room && input < input_end; n--, room--)
		*at++ = *input++;
}

/* Replaces a word of the geometry, the control words or the index by a value that is nearly right, or far off. */
static void forge(uint8_t *at)
{
	static const uint64_t far_off[] = { 0,	       1,	  COUNT,      COUNT + 1, BYTES,
					    BYTES + 1, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX };
	unsigned how = next_byte();
	uint64_t word;

	memcpy(&word, at, sizeof word);
	if (how < 128)
		word += (uint64_t)((int64_t)how - 64);
	else if (how < 160)
		word = far_off[how % (sizeof far_off / sizeof *far_off)];
	else if (how < 192) /* the upper half: len and keep share a word */
		word = (word & UINT32_MAX) | far_off[how % (sizeof far_off / sizeof *far_off)] << 32;
	else
		word ^= UINT64_C(1) << how % 64;
	memcpy(at, &word, sizeof word);
}

/* Corrects the checksums, so that the overwritten plate is not refused at once.  The bell stays: the bell of another
 * channel of this user would be accepted, and must not be overwritten. */
static void seal(void)
{
	plate.bell = sound_plate.bell;
	plate.geo.sum = ach_sum(&plate.geo, offsetof(struct ach_geometry, sum));
	plate.sum = ach_sum(&plate, offsetof(struct ach_plate, sum));
}

static volatile uint8_t sink;

static void touch(const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sink ^= bytes[i];
}

static void open_again(void)
{
	struct timespec none = { 0 };
	ach_attr_t attr;
	enum ach_status r;

	if (is_open)
		CHECK(ach_close(&chan) == ACH_OK);
	has_fd = false;
	ach_attr_init(&attr);
	ach_attr_set_put_timeout(&attr, &none);
	CHECK(pwrite(plate_fd, &plate, sizeof plate, 0) == sizeof plate);
	r = ach_open(&chan, name, &attr);
	ANSWERS(r, ACH_MASK_OK | ACH_MASK_BAD_SHM_FILE);
	is_open = r == ACH_OK;
}

static void put(void)
{
	static const uint8_t message[BYTES];
	size_t len = (1 + next_word()) % (BYTES + 2);
	enum ach_status r = ach_put(&chan, message, len);

	if (!len)
		ANSWERS(r, ACH_MASK_EINVAL);
	else
		ANSWERS(r, PUT_ANSWERS | ACH_MASK_OVERFLOW);
}

static void reserve(void)
{
	size_t max = 1 + next_word() % BYTES, len = next_word() % (BYTES + 2);
	void *room;
	enum ach_status r = ach_reserve(&chan, max, &room);

	ANSWERS(r, PUT_ANSWERS | ACH_MASK_OVERFLOW);
	if (r != ACH_OK)
		return;
	memset(room, 0x55, max);
	overwrite(channel + next_word() % channel_len / 2, 8); /* as another process would, meanwhile */
	r = ach_commit(&chan, len);
	ANSWERS(r, ACH_MASK_OK | ACH_MASK_CORRUPT | ACH_MASK_OVERFLOW);
	CHECK((r == ACH_OVERFLOW) == (len > max));
}

static void get(void)
{
	/* Of the exact size, on the heap: the sanitizer sees a byte too far. */
	unsigned options = next_byte() & (ACH_O_LAST | ACH_O_COPY | ACH_O_WAIT);
	size_t size = (BYTES + next_word()) % (2 * BYTES), len = SIZE_MAX;
	uint8_t *buf = malloc(size ? size : 1);
	struct timespec past = { 0 };
	enum ach_status r = ach_get(&chan, buf, size, &len, &past, (int)options);

	ANSWERS(r, GET_ANSWERS | ACH_MASK_TIMEOUT);
	if (r == ACH_OK || r == ACH_MISSED_FRAME)
		CHECK(len >= 1 && len <= size);
	if (r == ACH_OVERFLOW)
		CHECK(len > size);
	free(buf);
}

static void peek(void)
{
	const void *bytes;
	size_t len;
	enum ach_status r = ach_peek(&chan, &bytes, &len, NULL, (int)(next_byte() & (ACH_O_LAST | ACH_O_COPY)));

	ANSWERS(r, GET_ANSWERS);
	if (r != ACH_OK && r != ACH_MISSED_FRAME)
		return;
	touch(bytes, len);
	ANSWERS(ach_peek_end(&chan), ACH_MASK_OK | ACH_MASK_EAGAIN | ACH_MASK_CORRUPT);
}

static void wait_any(void)
{
	ach_channel_t *const chans[] = { &chan };
	struct timespec past = { 0 };
	size_t which;

	ANSWERS(ach_wait_any(chans, 1, &past, &which), ACH_MASK_OK | ACH_MASK_TIMEOUT);
}

static void descriptor(void)
{
	struct pollfd p = { .events = POLLIN };

	if (has_fd)
		return; /* it is expensive to make */
	has_fd = true;
	CHECK(ach_channel_fd(&chan, &p.fd) == ACH_OK);
	CHECK(poll(&p, 1, 0) >= 0);
}

static void step(void)
{
	unsigned op = next_byte() % 16;

	switch (op) {
	case 0:
		overwrite((uint8_t *)&plate, sizeof plate);
		break;
	case 1: {
		unsigned at = next_byte() % sizeof plate;

		if (at % 2)
			overwrite((uint8_t *)&plate + at, sizeof plate - at);
		else
			forge((uint8_t *)&plate + at / 8 * 8);
		break;
	}
	case 2: { /* geometry, control words, hints */
		unsigned at = next_word() % sizeof(struct ach_header);

		overwrite(channel + at, 64);
		break;
	}
	case 3: { /* index and data */
		size_t at = next_word() % channel_len;

		overwrite(channel + at, channel_len - at);
		break;
	}
	case 4:
		forge(channel + next_byte() % 64 * 8);
		break;
	case 5:
		overwrite(bell, 8);
		break;
	case 6:
		seal();
		break;
	case 7:
		open_again();
		break;
	default:
		if (!is_open)
			break;
		switch (op) {
		case 8:
		case 9:
			put();
			break;
		case 10:
			reserve();
			break;
		case 11:
		case 12:
			get();
			break;
		case 13:
			peek();
			break;
		case 14:
			wait_any();
			break;
		default:
			if (next_byte() % 4)
				ANSWERS(ach_flush(&chan), ACH_MASK_OK | ACH_MASK_CORRUPT);
			else
				descriptor();
		}
	}
}

/* ---- one channel, restored for each input ---- */

static uint8_t *map_segment(int id)
{
	void *m = shmat(id, NULL, 0);

	CHECK(m != (void *)-1);
	return m;
}

static void remove_channel(void)
{
	(void)!pwrite(plate_fd, &sound_plate, sizeof sound_plate, 0);
	(void)ach_unlink(name);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const uint8_t message[BYTES];
	ach_create_attr_t attr;
	char path[ACH_FILE_PATH_LEN];

	(void)argc;
	(void)argv;
	snprintf(name, sizeof name, "fuzz-%ld", (long)getpid());
	atexit(remove_channel);
	ach_create_attr_init(&attr);
	ach_create_attr_set_mode(&attr, 0644, (gid_t)-1); /* with a bell */
	CHECK(ach_create(name, COUNT, SIZE, &attr) == ACH_OK);
	ach_file_channel_path(path, name);
	plate_fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK(pread(plate_fd, &sound_plate, sizeof sound_plate, 0) == sizeof sound_plate);
	plate = sound_plate;
	channel = map_segment(plate.shm);
	channel_len = ach_geometry_size(&plate.geo);
	bell = map_segment(plate.bell);
	open_again();
	for (size_t len = 40; len < 90; len += 10)
		CHECK(ach_put(&chan, message, len) == ACH_OK);
	CHECK(ach_close(&chan) == ACH_OK);
	is_open = false;
	sound = malloc(channel_len);
	CHECK(sound);
	memcpy(sound, channel, channel_len);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	plate = sound_plate;
	memcpy(channel, sound, channel_len);
	memset(bell, 0, 8);
	open_again();
	CHECK(is_open);
	input = data;
	input_end = data + size;
	while (input < input_end)
		step();
	if (!is_open)
		return 0;
	/* Use once what was written last. */
	peek();
	get();
	put();
	reserve();
	get();
	CHECK(ach_close(&chan) == ACH_OK);
	is_open = false;
	return 0;
}
