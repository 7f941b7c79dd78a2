/* link_wire.c: the controller of a soft wire, as its owner sees it.  wire:BUS means the controller host, wire:BUS@NAME
 * another one.  The questions are those of can/wire/hub_control.c. */
#include "can/bus/attach.h"
#include "can/bus/link.h"

static int ask(const char *name, const char *verb, const char *rest, char *answer, size_t size,
	       struct error_sink *errors)
{
	char bus[TEXT_NAME_MAX + 1], controller[TEXT_NAME_MAX + 1], question[128];
	const char *wrong = attach_split(name, bus, controller);
	int r;

	if (wrong)
		return error_refuse(errors, -EINVAL, "%s: %s", name, wrong);
	snprintf(question, sizeof(question), "link %s %s%s", verb, controller, rest);
	r = attach_question(name, question, answer, size, errors);
	return r == -ENOENT || r == -ECONNREFUSED ? -ENODEV : r;
}

static int command(const char *name, const char *verb, const char *rest, struct error_sink *errors)
{
	char answer[1024];

	return ask(name, verb, rest, answer, sizeof(answer), errors);
}

static int set(const char *name, const char *key, uint32_t value, struct error_sink *errors)
{
	char rest[64];

	snprintf(rest, sizeof(rest), " %s %u", key, value);
	return command(name, "set", rest, errors);
}

/* The number behind " key " in the answer; 0 if there is none. */
static uint32_t number(const char *answer, const char *key)
{
	char want[32];
	const char *at;

	snprintf(want, sizeof(want), " %s ", key);
	at = strstr(answer, want);
	return at ? (uint32_t)strtoul(at + strlen(want), NULL, 10) : 0;
}

static int wire_query(const char *name, struct link_info *info, struct error_sink *errors)
{
	char answer[1024], state[32] = "";
	int r = ask(name, "look", "", answer, sizeof(answer), errors);

	if (r)
		return r;
	sscanf(answer, "state %31s", state);
	while (info->state < BUS_OFF && strcmp(state, bus_state_name(info->state)) != 0)
		info->state++;
	info->now.bitrate = number(answer, "bitrate");
	info->now.data_bitrate = number(answer, "data_bitrate");
	info->now.restart_ms = number(answer, "restart_ms");
	info->now.queue = number(answer, "queue");
	info->up = info->state > BUS_STOPPED;
	info->tx_errors = (uint16_t)number(answer, "tx_errors");
	info->rx_errors = (uint16_t)number(answer, "rx_errors");
	info->bus_offs = number(answer, "bus_offs");
	info->restarts = number(answer, "restarts");
	strcpy(info->kind, "wire");
	return 0;
}

/* The bit rate is the wire's: it is what canwire was started with. */
static int wire_up(const char *name, const struct link_settings *want, struct error_sink *errors)
{
	struct link_info info = { 0 };
	int r = wire_query(name, &info, errors);

	if (!r && want->bitrate && want->bitrate != info.now.bitrate)
		return error_refuse(errors, -EBUSY, "%s runs at %u bit/s, not %u: start canwire run with --bitrate %u",
				    name, info.now.bitrate, want->bitrate, want->bitrate);
	if (!r && want->data_bitrate && want->data_bitrate != info.now.data_bitrate)
		return error_refuse(errors, -EBUSY,
				    "%s has a data bit rate of %u, not %u: start canwire run with --fd %u", name,
				    info.now.data_bitrate, want->data_bitrate, want->data_bitrate);
	if (!r && info.state <= BUS_STOPPED)
		r = command(name, "up", "", errors);
	if (!r && want->restart_ms != info.now.restart_ms)
		r = set(name, "restart_ms", want->restart_ms, errors);
	if (!r && want->queue && want->queue != info.now.queue)
		r = set(name, "queue", want->queue, errors);
	return r;
}

static int wire_reset(const char *name, struct error_sink *errors)
{
	return command(name, "reset", "", errors);
}

const struct link_ops link_wire_ops = {
	.query = wire_query,
	.up = wire_up,
	.reset = wire_reset,
};
