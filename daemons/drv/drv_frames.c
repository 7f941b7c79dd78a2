/* drv_frames.c: --frames, the frames a driver sends and receives as JSON; achstart --check reads it. */
#include <stdio.h>

#include "daemons/drv/drv_inside.h"

static const char *const classes[] = {
	[SLOTS_URGENT] = "urgent", [SLOTS_LATEST] = "latest", [SLOTS_COMMAND] = "command", [SLOTS_QUEUE] = "queue"
};

static void print_id(uint32_t id)
{
	const bool ext = id & FRAME_EXT;

	printf("\"id\":\"%0*X\"", ext ? 8 : 3, id & (ext ? FRAME_EXT_MASK : FRAME_STD_MASK));
}

static void print_us(const char *key, int64_t ns)
{
	if (ns)
		printf(",\"%s\":%g", key, (double)ns / 1000);
	else
		printf(",\"%s\":null", key);
}

static void print_key(const uint8_t *key, unsigned int len)
{
	printf(",\"key\":\"");
	for (unsigned int i = 0; i < len; i++)
		printf("%02X", key[i]);
	putchar('"');
}

static void print_send(const struct drv_bus *bus, const struct drv_send *send)
{
	static const uint8_t all[FRAME_DATA_MAX] = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF };
	const struct slots_row *row = &send->row;

	printf("{\"bus\":\"%s\",", bus->setup->name);
	print_id(row->id);
	printf(",\"ext\":%s,\"dir\":\"tx\",\"len\":%u,\"class\":\"%s\",\"moves\":%s,\"shared\":%s",
	       row->id & FRAME_EXT ? "true" : "false", send->len, classes[row->class], send->moves ? "true" : "false",
	       send->shared ? "true" : "false");
	print_key(row->key, send->len);
	print_us("period_us", row->period_ns);
	print_us("deadline_us", row->deadline_ns ? row->deadline_ns : row->period_ns);
	if (send->answered) {
		printf(",\"reply\":{");
		print_id(send->reply_id);
		print_key(all, send->reply_bytes);
		print_us("within_us", send->reply_within_ns);
		printf("}}");
	} else {
		printf(",\"reply\":null}");
	}
}

static void print_receive(const struct drv_bus *bus, const struct drv_receive *row)
{
	printf("{\"bus\":\"%s\",", bus->setup->name);
	print_id(row->id);
	printf(",\"ext\":%s,\"dir\":\"rx\",\"len\":%u,\"class\":null,\"moves\":false,\"shared\":false,\"key\":null",
	       row->id & FRAME_EXT ? "true" : "false", (unsigned int)(row->any_len ? FRAME_DATA_MAX : row->len_max));
	print_us("period_us", row->period_ns);
	printf(",\"deadline_us\":null,\"reply\":null}");
}

void drv_frames_print(const struct drv *drv)
{
	const char *comma = "";

	printf("{\"driver\":\"%s\",\"name\":\"%s\",\"tick_us\":%g,\"frames\":[", drv->driver->program, drv->setup.name,
	       (double)drv_period_ns(drv) / 1000);
	for (unsigned int b = 0; b < drv->buses_n; b++) {
		const struct drv_bus *bus = &drv->buses[b];

		for (unsigned int i = 0; i < bus->sends_n; i++, comma = ",") {
			printf("%s", comma);
			print_send(bus, &bus->sends[i]);
		}
		for (unsigned int i = 0; i < bus->receives_n; i++, comma = ",") {
			printf("%s", comma);
			print_receive(bus, &bus->receives[i].row);
		}
	}
	printf("],\"claims\":[");
	for (unsigned int i = 0; i < drv->claims_n; i++)
		printf("%s{\"bus\":\"%s\",\"what\":\"%s\"}", i ? "," : "", drv->buses[drv->claims[i].bus].setup->name,
		       drv->claims[i].what);
	printf("]}\n");
}
