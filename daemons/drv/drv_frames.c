/* drv_frames.c: --frames, the frames a driver sends and receives as JSON; achstart --check reads it. */
#include "config/json.h"
#include "daemons/drv/drv_inside.h"

static const char *const classes[] = {
	[SLOTS_URGENT] = "urgent", [SLOTS_LATEST] = "latest", [SLOTS_COMMAND] = "command", [SLOTS_QUEUE] = "queue"
};

static void put_id(struct json *j, uint32_t id)
{
	json_textf(j, "id", "%0*X", id & FRAME_EXT ? 8 : 3, id & (id & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK));
}

static void put_us(struct json *j, const char *name, int64_t ns)
{
	if (ns)
		json_real(j, name, (double)ns / 1000);
	else
		json_null(j, name);
}

static void put_key(struct json *j, const uint8_t *key, unsigned int len)
{
	char text[2 * FRAME_DATA_MAX + 1] = "";

	for (unsigned int i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02X", key[i]);
	json_text(j, "key", text);
}

static void put_reply(struct json *j, const struct drv_send *send)
{
	static const uint8_t all[FRAME_DATA_MAX] = { 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF };

	json_object(j, "reply");
	put_id(j, send->reply_id);
	put_key(j, all, send->reply_bytes);
	put_us(j, "within_us", send->reply_within_ns);
	json_end(j);
}

/* send: NULL for a frame that is received. */
static void put_frame(struct json *j, const struct drv_bus *bus, uint32_t id, unsigned int len, int64_t period_ns,
		      bool shared, const struct drv_send *send)
{
	json_object(j, NULL);
	json_text(j, "bus", bus->setup->name);
	put_id(j, id);
	json_bool(j, "ext", id & FRAME_EXT);
	json_text(j, "dir", send ? "tx" : "rx");
	json_uint(j, "len", len);
	json_text(j, "class", send ? classes[send->row.class] : NULL);
	json_bool(j, "moves", send && send->moves);
	json_bool(j, "shared", shared);
	if (send)
		put_key(j, send->row.key, len);
	else
		json_null(j, "key");
	put_us(j, "period_us", period_ns);
	put_us(j, "deadline_us", !send ? 0 : send->row.deadline_ns ? send->row.deadline_ns : period_ns);
	if (send && send->answered)
		put_reply(j, send);
	else
		json_null(j, "reply");
	json_end(j);
}

void drv_frames_print(const struct drv *drv)
{
	struct json j = json_to(stdout);

	json_object(&j, NULL);
	json_text(&j, "driver", drv->driver->program);
	json_text(&j, "name", drv->setup.name);
	json_real(&j, "tick_us", (double)drv_period_ns(drv) / 1000);
	json_array(&j, "frames");
	for (unsigned int b = 0; b < drv->buses_n; b++) {
		const struct drv_bus *bus = &drv->buses[b];

		for (const struct drv_send *s = bus->sends; s < bus->sends + bus->sends_n; s++)
			put_frame(&j, bus, s->row.id, s->len, s->row.period_ns, s->shared, s);
		for (unsigned int i = 0; i < bus->receives_n; i++) {
			const struct drv_receive *row = &bus->receives[i].row;

			put_frame(&j, bus, row->id, row->any_len ? FRAME_DATA_MAX : row->len_max, row->period_ns,
				  row->shared, NULL);
		}
	}
	json_end(&j);
	json_array(&j, "claims");
	for (unsigned int i = 0; i < drv->claims_n; i++) {
		json_object(&j, NULL);
		json_text(&j, "bus",
			  drv->claims[i].bus == DRV_CHANNEL ? NULL : drv->buses[drv->claims[i].bus].setup->name);
		json_text(&j, "what", drv->claims[i].what);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	putchar('\n');
}
