/* pcio.c: the codec; see pcio.h and hw-docs/devices/powercube.md.  Checked: pure, covered. */
#include <float.h>
#include <math.h>

#include "config/base/base.h"
#include "daemons/pcio/pcio.h"

#define MODULE_MASK 0x1Fu

/* ---- tables ---- */

#define PARAMETER(NAME, id, type, flags, word, unit) [id] = { word, unit, PCIO_##type, flags },
static const struct pcio_parameter parameters[PCIO_PARAMETER_MAX + 1] = { PCIO_PARAMETERS(PARAMETER) };

#define STATE(NAME, bit, kind, word) { PCIO_STATE_##NAME, PCIO_KIND_##kind, word },
const struct pcio_bit pcio_state_bits[] = { PCIO_STATES(STATE){ 0 } };

#define ROW(ID, CLASS, LEN, REPLY, ...) \
	.id = PCIO_ID_##ID, .class = SLOTS_##CLASS, .len = (LEN), .reply_bytes = (REPLY), __VA_ARGS__
const struct pcio_send_row pcio_send_rows[PCIO_SENDS] = {
	[PCIO_SEND_HALT] = { ROW(PUT, URGENT, 1, 1, .key = { 0xFF }) },
	[PCIO_SEND_MOVE] = { ROW(PUT, LATEST, 8, 2, .key = { 0xFF }, .moves = true) },
	[PCIO_SEND_WATCHDOG] = { ROW(ALL, LATEST, 1, 0, .key = { 0xFF }, .harmless = true, .shared = true) },
	[PCIO_SEND_COMMAND] = { ROW(PUT, COMMAND, 6, 2, .key = { 0xFF, 0xFF }) },
	[PCIO_SEND_HOME] = { ROW(PUT, COMMAND, 1, 1, .key = { 0xFF }, .moves = true) },
	[PCIO_SEND_GET] = { ROW(GET, QUEUE, 2, 2, .key = { 0xFF, 0xFF }, .harmless = true) },
};

const struct pcio_parameter *pcio_parameter(unsigned int id)
{
	return id <= PCIO_PARAMETER_MAX && parameters[id].name ? &parameters[id] : NULL;
}

/* ---- the state word ---- */

#define FAULT(NAME, bit, kind, word) | (PCIO_KIND_##kind >= PCIO_KIND_FAULT ? 1u << (bit) : 0)

uint32_t pcio_faults(uint32_t state)
{
	return state & (0 PCIO_STATES(FAULT));
}

enum pcio_kind pcio_worst(uint32_t state)
{
	enum pcio_kind worst = PCIO_KIND_INFO;

	/* The amplifier's word for a lost supply is this pair, and it goes with its cause. */
	if (state & PCIO_STATE_VOLTAGE)
		state &= ~(uint32_t)PCIO_STATE_POWER_FAULT;
	for (const struct pcio_bit *b = pcio_state_bits; b->bit; b++)
		if (state & b->bit && b->kind > worst)
			worst = b->kind;
	return worst;
}

bool pcio_only_comm_error(uint32_t state)
{
	return (pcio_faults(state) & ~PCIO_STATE_ERROR) == PCIO_STATE_COMM_ERROR;
}

void pcio_text(char *text, size_t size, uint32_t state)
{
	size_t len = 0;

	*text = '\0';
	for (const struct pcio_bit *b = pcio_state_bits; b->bit; b++) {
		if (!(state & b->bit))
			continue;
		len += strlen(b->name) + (len ? 2 : 0);
		if (len >= size)
			break;
		if (*text)
			strcat(text, ", ");
		strcat(text, b->name);
	}
}

/* ---- bytes ---- */

static double get_f32(const uint8_t *data)
{
	const uint32_t bits = frame_le32(data);
	float value;

	memcpy(&value, &bits, sizeof(value));
	return (double)value;
}

/* What four bytes say of value: as f32, else as u32. */
static int to_bits(double value, bool f32, uint32_t *bits)
{
	float narrow;

	if (!isfinite(value))
		return -EDOM;
	if (f32 ? fabs(value) > (double)FLT_MAX : value < 0 || value > UINT32_MAX || value != trunc(value))
		return -ERANGE;
	if (f32) {
		narrow = (float)value;
		memcpy(bits, &narrow, sizeof(narrow));
	} else {
		*bits = (uint32_t)value;
	}
	return 0;
}

static unsigned int width(enum pcio_type type)
{
	return type == PCIO_U8 ? 1 : type == PCIO_U16 || type == PCIO_I16 ? 2 : 4;
}

static double parameter_value(enum pcio_type type, const uint8_t *data)
{
	switch (type) {
	case PCIO_F32:
		return get_f32(data);
	case PCIO_U8:
		return *data;
	case PCIO_U16:
		return frame_le16(data);
	case PCIO_I16:
		return (int16_t)frame_le16(data);
	case PCIO_I32:
		return (int32_t)frame_le32(data);
	case PCIO_U32:
		break;
	}
	return frame_le32(data);
}

/* ---- replies ---- */

static bool motion_known(unsigned int motion)
{
	switch (motion) {
	case PCIO_RAMP:
	case PCIO_STEP:
	case PCIO_VELOCITY:
	case PCIO_CURRENT:
	case PCIO_RAMP_STATE:
	case PCIO_STEP_STATE:
	case PCIO_VELOCITY_STATE:
	case PCIO_CURRENT_STATE:
		return true;
	default:
		return false;
	}
}

static int decode_get(struct pcio_reply *r, const struct frame *f)
{
	const struct pcio_parameter *p = pcio_parameter(r->parameter);

	if (!p)
		return -EBADMSG;
	if (f->len != 2 + width(p->type))
		return -EMSGSIZE;
	r->value = parameter_value(p->type, f->data + 2);
	return isfinite(r->value) ? 0 : -EDOM;
}

static int decode_move(struct pcio_reply *r, const struct frame *f)
{
	if (!motion_known(r->parameter))
		return -EBADMSG;
	r->with_state = r->parameter >= PCIO_RAMP_STATE;
	if (f->len != (r->with_state ? 8 : 3))
		return -EMSGSIZE;
	if (!r->with_state) {
		r->status = f->data[2];
		return 0;
	}
	r->value = get_f32(f->data + 2);
	return isfinite(r->value) ? 0 : -EDOM;
}

static int decode_set(struct pcio_reply *r, const struct frame *f)
{
	if (!pcio_parameter(r->parameter))
		return -EBADMSG;
	if (f->len != 3)
		return -EMSGSIZE;
	r->status = f->data[2];
	return 0;
}

/* The bytes at the front that say what a request or a reply is about; 0: not a command of ours. */
static unsigned int command_bytes(unsigned int command)
{
	switch (command) {
	case PCIO_RESET:
	case PCIO_HOME:
	case PCIO_HALT:
		return 1;
	case PCIO_SET:
	case PCIO_GET:
	case PCIO_MOVE:
		return 2;
	default:
		return 0;
	}
}

int pcio_decode(struct pcio_reply *reply, const struct frame *frame, int64_t t_ns)
{
	struct pcio_reply r = { .t_ns = t_ns };
	unsigned int bytes;
	int error;

	r.module = frame->id & MODULE_MASK;
	if (!r.module || frame->flags || (frame->id & ~MODULE_MASK) != PCIO_ID_ACK)
		return -ENOMSG;
	if (!frame->len)
		return -EMSGSIZE;
	r.command = frame->data[0];
	bytes = command_bytes(r.command);
	if (!bytes)
		return -EBADMSG;
	if (bytes == 1) {
		error = frame->len == 1 ? 0 : -EMSGSIZE;
	} else if (frame->len < 2) {
		error = -EMSGSIZE;
	} else {
		r.parameter = frame->data[1];
		error = r.command == PCIO_GET	? decode_get(&r, frame)
			: r.command == PCIO_SET ? decode_set(&r, frame)
						: decode_move(&r, frame);
	}
	if (!error)
		*reply = r;
	return error;
}

/* ---- requests ---- */

static struct frame request(uint32_t id, uint8_t command, uint8_t second, uint8_t len)
{
	return (struct frame){ .id = id, .len = len, .data = { command, second } };
}

static bool module_valid(unsigned int module)
{
	return module >= 1 && module <= PCIO_MODULE_MAX;
}

int pcio_encode_command(unsigned int module, enum pcio_command command, struct frame *frame)
{
	if (!module_valid(module) || command_bytes(command) != 1)
		return -EINVAL;
	*frame = request(PCIO_ID_PUT + module, (uint8_t)command, 0, 1);
	return 0;
}

int pcio_encode_get(unsigned int module, unsigned int parameter, struct frame *frame)
{
	if (!module_valid(module) || !pcio_parameter(parameter))
		return -EINVAL;
	*frame = request(PCIO_ID_GET + module, PCIO_GET, (uint8_t)parameter, 2);
	return 0;
}

int pcio_encode_set(unsigned int module, unsigned int parameter, double value, struct frame *frame)
{
	const struct pcio_parameter *p = pcio_parameter(parameter);
	uint32_t bits;
	int error;

	if (!module_valid(module) || !p)
		return -EINVAL;
	if (!(p->flags & PCIO_SETTABLE))
		return -EPERM;
	error = to_bits(value, p->type == PCIO_F32, &bits);
	if (error)
		return error;
	if (p->flags & PCIO_MAGNITUDE && value < 0)
		return -ERANGE;
	*frame = request(PCIO_ID_PUT + module, PCIO_SET, (uint8_t)parameter, 6);
	frame_put_le(frame->data + 2, bits, 4);
	return 0;
}

int pcio_encode_move(unsigned int module, enum pcio_motion motion, double value, struct frame *frame)
{
	uint32_t bits;
	int error;

	if (!module_valid(module) || !motion_known(motion) || motion == PCIO_STEP || motion == PCIO_STEP_STATE)
		return -EINVAL;
	error = to_bits(value, true, &bits);
	if (error)
		return error;
	*frame = request(PCIO_ID_PUT + module, PCIO_MOVE, (uint8_t)motion, 6);
	frame_put_le(frame->data + 2, bits, 4);
	return 0;
}

int pcio_encode_all(enum pcio_command command, struct frame *frame)
{
	if (command != PCIO_HALT && command != PCIO_WATCHDOG && command != PCIO_START)
		return -EINVAL;
	*frame = request(PCIO_ID_ALL, (uint8_t)command, 0, 1);
	return 0;
}
