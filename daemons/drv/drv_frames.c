/* drv_frames.c: --frames, the frames a driver sends and receives as JSON; achstart --check and canreplay
 * --closed-loop read it.
 *
 * Checked: covered.
 */
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
	char text[2 * FRAME_DATA_MAX_FD + 1] = "";

	for (unsigned int i = 0; i < len && i < FRAME_DATA_MAX_FD; i++)
		snprintf(text + 2 * i, 3, "%02X", key[i]);
	json_text(j, "key", text);
}

/* The question that is asked with the row; NULL: none. */
static const struct drv_question *question_of(const struct drv *drv, const struct drv_send *send)
{
	for (unsigned int i = 0; i < drv->asks.questions_n; i++) {
		const struct drv_question *question = &drv->asks.questions[i].row;

		if (&drv->buses[drv->sends[question->send].bus].sends[drv->sends[question->send].row] == send)
			return question;
	}
	return NULL;
}

/* What makes two requests the same: the key of the slot, and what the device repeats of it. */
static void put_request_key(struct json *j, const struct drv_send *send, const struct drv_question *question,
			    unsigned int len)
{
	uint8_t key[FRAME_DATA_MAX_FD] = { 0 };

	memcpy(key, send->row.key, sizeof(send->row.key));
	for (unsigned int i = 0; question && i < DRV_ASK_ECHOES_MAX; i++)
		if (question->echo[i].request < sizeof(key))
			key[question->echo[i].request] |= question->echo[i].mask;
	put_key(j, key, len);
}

/* The bits of the reply that repeat those of the request at the same place. */
static void put_reply_key(struct json *j, const struct drv_send *send, const struct drv_question *question)
{
	uint8_t key[FRAME_DATA_MAX_FD] = { 0 };
	unsigned int len = question ? 0 : send->reply_bytes;

	memset(key, 0xFF, len < sizeof(key) ? len : sizeof(key));
	for (unsigned int i = 0; question && i < DRV_ASK_ECHOES_MAX && question->echo[i].mask; i++) {
		const struct drv_ask_echo *echo = &question->echo[i];

		if (echo->request != echo->reply || echo->reply >= sizeof(key))
			continue;
		key[echo->reply] |= echo->mask;
		len = echo->reply >= len ? echo->reply + 1u : len;
	}
	put_key(j, key, len);
}

/* The mask of the identifiers of the answer, if it has several. */
static void put_mask(struct json *j, const struct drv *drv, const struct drv_question *question)
{
	const struct drv_receive *row = NULL;
	uint32_t all = 0;

	if (question) {
		const unsigned int bus = drv->receives[question->receive].bus;

		row = &drv->buses[bus].receives[drv->receives[question->receive].row].row;
		all = row->id & FRAME_EXT ? FRAME_EXT_MASK : FRAME_STD_MASK;
	}
	if (row && (row->id_mask & all) != all)
		json_textf(j, "mask", "%03X", row->id_mask & all);
	else
		json_null(j, "mask");
}

static void put_reply(struct json *j, const struct drv *drv, const struct drv_send *send,
		      const struct drv_question *question)
{
	json_object(j, "reply");
	put_id(j, send->reply_id);
	put_mask(j, drv, question);
	put_reply_key(j, send, question);
	json_uint(j, "frames", question && question->replies ? question->replies : 1);
	put_us(j, "within_us", send->reply_within_ns);
	json_end(j);
}

/* send: NULL for a frame that is received. */
static void put_frame(struct json *j, const struct drv *drv, const struct drv_bus *bus, uint32_t id, unsigned int len,
		      uint8_t flags, int64_t period_ns, bool shared, const struct drv_send *send)
{
	const struct drv_question *question = send ? question_of(drv, send) : NULL;

	json_object(j, NULL);
	json_text(j, "bus", bus->setup->name);
	put_id(j, id);
	json_bool(j, "ext", id & FRAME_EXT);
	json_bool(j, "rtr", id & FRAME_RTR);
	json_bool(j, "fd", flags & FRAME_FD);
	json_bool(j, "brs", flags & FRAME_BRS);
	json_text(j, "dir", send ? "tx" : "rx");
	json_uint(j, "len", len);
	json_text(j, "class", send ? classes[send->row.class] : NULL);
	json_bool(j, "moves", send && send->moves);
	json_bool(j, "shared", shared);
	if (send)
		put_request_key(j, send, question, len);
	else
		json_null(j, "key");
	put_us(j, "period_us", period_ns);
	put_us(j, "deadline_us", !send ? 0 : send->row.deadline_ns ? send->row.deadline_ns : period_ns);
	if (send && send->answered)
		put_reply(j, drv, send, question);
	else
		json_null(j, "reply");
	json_end(j);
}

/* Beside NAME-state, -ref, -req, -rep and -event. */
static void put_channels(struct json *j, const struct drv_channel *channels, unsigned int n, const char *dir)
{
	for (unsigned int i = 0; i < n; i++) {
		json_object(j, NULL);
		json_text(j, "name", channels[i].channel);
		json_text(j, "type", msg_type_by_number(channels[i].type)->name);
		json_text(j, "dir", dir);
		json_end(j);
	}
}

void drv_frames_print(const struct drv *drv)
{
	struct json j = json_to(stdout);
	const struct drv_channel *info;
	struct port *port;

	json_object(&j, NULL);
	json_text(&j, "driver", drv->driver->program);
	json_text(&j, "name", drv->setup.name);
	json_real(&j, "tick_us", (double)drv_period_ns(drv) / 1000);
	json_array(&j, "frames");
	for (unsigned int b = 0; b < drv->buses_n; b++) {
		const struct drv_bus *bus = &drv->buses[b];

		for (const struct drv_send *s = bus->sends; s < bus->sends + bus->sends_n; s++)
			put_frame(&j, drv, bus, s->row.id, s->len, s->flags, s->row.period_ns, s->shared, s);
		for (unsigned int i = 0; i < bus->receives_n; i++) {
			const struct drv_receive *row = &bus->receives[i].row;
			const unsigned int most = row->flags & FRAME_FD ? FRAME_DATA_MAX_FD : FRAME_DATA_MAX;

			put_frame(&j, drv, bus, row->id, row->any_len ? most : row->len_max, row->flags, row->period_ns,
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
	json_array(&j, "channels");
	put_channels(&j, drv->outputs, drv->outputs_n, "out");
	for (unsigned int i = 0; (info = drv_parts_info(drv, i, &port)); i++)
		put_channels(&j, info, 1, "out");
	put_channels(&j, drv->inputs, drv->inputs_n, "in");
	json_end(&j);
	json_end(&j);
	putchar('\n');
}
