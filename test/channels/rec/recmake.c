/* recmake RECORDING EXPECTED FRAMES: a recording with three messages of every type, of another program and of a bus.
 *
 * EXPECTED gets a line of JSON for each message of Endplate: its topic, number, times, and its fields with numbers as
 * they are (64 bits as text, NaN as null), names as text, and lists as long as they count.  FRAMES gets the frames of
 * the bus as candump -L prints them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "channels/msg/msg.h"
#include "channels/rec/reclog.h"
#include "channels/ros/ros_can.h"
#include "test/lib/lib.h"

#define START_NS 5000000000
#define WALL_NS INT64_C(1700000000000000000)
#define ROUNDS 3

static FILE *recording, *expected, *frames;
static uint64_t state = 7;
static int64_t t_ns = START_NS;

static void put(enum reclog_kind kind, size_t channel, uint64_t number, const void *body, size_t len)
{
	const struct reclog_record r = {
		.kind = kind, .channel = (uint16_t)channel, .t_ns = t_ns, .number = number, .body = body, .len = len
	};
	uint8_t head[RECLOG_HEAD_SIZE];

	reclog_head(head, &r);
	fwrite(head, sizeof(head), 1, recording);
	fwrite(body, len, 1, recording);
	t_ns += 1234567;
}

static void put_channel(size_t channel, const char *name, uint32_t type)
{
	struct reclog_channel what = { .count = 64, .size = 8192, .mode = 0640, .type = type };
	uint8_t body[RECLOG_CHANNEL_MAX];

	snprintf(what.name, sizeof(what.name), "%s", name);
	put(RECLOG_CHANNEL, channel, 1000 + channel, body, reclog_channel_write(body, &what));
}

/* ---- messages ---- */

static void fill_one(const struct msg_field *f, uint8_t *to)
{
	const uint64_t r = lib_random(&state);

	if (f->kind == MSG_name || f->kind == MSG_text)
		snprintf((char *)to, f->size, "%s %u", f->name, (unsigned int)(r & 255));
	else if (f->kind == MSG_f64)
		memcpy(to, &(double){ r & 15 ? (double)(int32_t)r / 1024 : NAN }, sizeof(double));
	else if (f->kind == MSG_word)
		memcpy(to, &(uint32_t){ (uint32_t)r & 1 }, sizeof(uint32_t));
	else
		memcpy(to, &r, f->size);
}

static void fill(const struct msg_group *group, uint8_t *base, int round)
{
	uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++)
		for (size_t i = 0; i < group->n; i++)
			if (group->fields[i].used && !strcmp(group->fields[i].used, f->name))
				memcpy(at, &(uint32_t){ 2u * (uint32_t)round }, sizeof(uint32_t));
	at = base;
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		bool skip = !strcmp(f->name, "reserved") || !strcmp(f->name, "header");

		for (size_t i = 0; i < group->n; i++)
			skip |= group->fields[i].used && !strcmp(group->fields[i].used, f->name);
		for (size_t i = 0; !skip && i < msg_used(group, f, base); i++) {
			if (f->kind == MSG_group)
				fill(f->group, at + i * f->size, round);
			else
				fill_one(f, at + i * f->size);
		}
	}
}

/* ---- JSON ---- */

static void print_group(const struct msg_group *group, const uint8_t *base);

static void print_one(const struct msg_field *f, const uint8_t *at)
{
	const union msg_any v = msg_any(f, at);

	if (f->kind == MSG_group)
		print_group(f->group, at);
	else if (f->kind == MSG_name || f->kind == MSG_text)
		fprintf(expected, "\"%s\"", (const char *)at);
	else if (f->kind == MSG_f64 && isnan(v.f64))
		fprintf(expected, "null");
	else if (f->kind == MSG_f64)
		fprintf(expected, "%.17g", v.f64);
	else if (f->kind == MSG_u64)
		fprintf(expected, "\"%" PRIu64 "\"", v.u64);
	else if (f->kind == MSG_i64)
		fprintf(expected, "\"%" PRId64 "\"", v.i64);
	else if (f->kind == MSG_i32)
		fprintf(expected, "%" PRId32, v.i32);
	else
		fprintf(expected, "%" PRIu64, v.u64);
}

static void print_group(const struct msg_group *group, const uint8_t *base)
{
	const char *between = "{";
	const uint8_t *at = base;

	for (const struct msg_field *f = group->fields; f < group->fields + group->n; at += msg_field_size(f), f++) {
		bool skip = !strcmp(f->name, "reserved");

		for (size_t i = 0; i < group->n; i++)
			skip |= group->fields[i].used && !strcmp(group->fields[i].used, f->name);
		if (skip)
			continue;
		fprintf(expected, "%s\"%s\":%s", between, f->name, f->count ? "[" : "");
		between = ",";
		for (size_t i = 0; i < msg_used(group, f, base); i++) {
			fprintf(expected, "%s", i ? "," : "");
			print_one(f, at + i * f->size);
		}
		fprintf(expected, "%s", f->count ? "]" : "");
	}
	fprintf(expected, "}");
}

static void put_message(size_t i, int round)
{
	const struct msg_type *type = &msg_types[i];
	uint64_t msg[MSG_SIZE_MAX / 8];
	struct msg_header h;

	msg_init(msg, type);
	if (round == 1)
		msg_unknown(msg, type);
	fill(type->body, (uint8_t *)msg, round);
	memcpy(&h, msg, sizeof(h));
	h.sequence = lib_random(&state);
	h.t_sample_ns = t_ns - 2000;
	h.t_publish_ns = t_ns - 1000;
	memcpy(msg, &h, sizeof(h));
	fprintf(expected,
		"{\"topic\":\"/%s\",\"sequence\":%d,\"log\":\"%" PRId64 "\",\"publish\":\"%" PRId64 "\",\"message\":",
		type->name, round + 1, t_ns + WALL_NS, h.t_publish_ns + WALL_NS);
	print_group(type->body, (const uint8_t *)msg);
	fprintf(expected, "}\n");
	put(RECLOG_MESSAGE, i, (uint64_t)round + 1, msg, type->body->size);
}

/* ---- the bus ---- */

static void put_frame(size_t channel, int round)
{
	struct ros_can can = { .direction = 'R' };
	uint8_t body[RECLOG_CAN_MAX];
	const int64_t wall_ns = t_ns + WALL_NS;

	can.frame.can_id = 0x120u + (uint32_t)round;
	can.frame.len = (uint8_t)(round + 1);
	fprintf(frames, "(%" PRId64 ".%06" PRId64 ") can0 %03X#", wall_ns / 1000000000, wall_ns % 1000000000 / 1000,
		can.frame.can_id);
	for (int i = 0; i < can.frame.len; i++) {
		can.frame.data[i] = (uint8_t)lib_random(&state);
		fprintf(frames, "%02X", can.frame.data[i]);
	}
	fprintf(frames, " R\n");
	put(RECLOG_MESSAGE, channel, (uint64_t)round + 1, body, reclog_can_write(body, &can));
}

int main(int argc, char **argv)
{
	const size_t other = msg_types_n, bus = msg_types_n + 1;

	if (argc != 4)
		return 2;
	recording = fopen(argv[1], "w");
	expected = fopen(argv[2], "w");
	frames = fopen(argv[3], "w");
	if (!recording || !expected || !frames)
		return 1;
	fwrite(RECLOG_MAGIC, RECLOG_MAGIC_SIZE, 1, recording);
	put(RECLOG_START, 0, (uint64_t)(START_NS + WALL_NS), "", 0);
	for (size_t i = 0; i < msg_types_n; i++)
		put_channel(i, msg_types[i].name, msg_types[i].number);
	put_channel(other, "other", 0);
	put_channel(bus, "can0", RECLOG_CAN);
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < msg_types_n; i++)
			put_message(i, round);
		put(RECLOG_MESSAGE, other, (uint64_t)round + 1, "bytes", 5);
		put_frame(bus, round);
	}
	put(RECLOG_LOSS, 0, 3, "", 0);
	put(RECLOG_END, 0, ROUNDS * (msg_types_n + 2), "", 0);
	return fclose(recording) || fclose(expected) || fclose(frames);
}
