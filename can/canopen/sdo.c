/* sdo.c: client of an SDO server. */
#include "can/canopen/sdo.h"

#include <errno.h>
#include <string.h>

#define SEGMENT 7 /* bytes */

/* Command specifiers: the highest three bits of the first byte. */
#define SPECIFIER 0xE0
#define REQUEST_SEGMENT_DOWN 0x00
#define REQUEST_DOWN 0x20
#define REQUEST_UP 0x40
#define REQUEST_SEGMENT_UP 0x60
#define REPLY_SEGMENT_UP 0x00
#define REPLY_SEGMENT_DOWN 0x20
#define REPLY_UP 0x40
#define REPLY_DOWN 0x60
#define ABORT 0x80

#define EXPEDITED 0x02
#define SIZED 0x01
#define TOGGLE 0x10
#define LAST 0x01

/* ---- frames ---- */

/* Eight bytes, as every SDO frame. */
static void request(struct sdo *sdo, uint8_t command)
{
	sdo->out = (struct frame){ .id = SDO_ID_REQUEST + sdo->node, .len = 8, .data = { command } };
	sdo->waits = true;
	sdo->due_ns = 0;
}

static void request_object(struct sdo *sdo, uint8_t command)
{
	request(sdo, command);
	frame_put_le(sdo->out.data + 1, sdo->index, 2);
	sdo->out.data[3] = sdo->sub;
}

static void request_segment(struct sdo *sdo)
{
	const unsigned int left = sdo->len - sdo->at, n = left < SEGMENT ? left : SEGMENT;
	const uint8_t toggle = sdo->toggle ? TOGGLE : 0;

	if (!sdo->writes) {
		request(sdo, REQUEST_SEGMENT_UP | toggle);
		return;
	}
	request(sdo, (uint8_t)(REQUEST_SEGMENT_DOWN | toggle | (SEGMENT - n) << 1 | (n == left ? LAST : 0)));
	memcpy(sdo->out.data + 1, sdo->data + sdo->at, n);
	sdo->at += n;
}

/* ---- a transfer ---- */

static int begin(struct sdo *sdo, uint16_t index, uint8_t sub, bool writes)
{
	if (sdo->result == SDO_BUSY)
		return -EBUSY;
	sdo->result = SDO_BUSY;
	sdo->writes = writes;
	sdo->segmented = sdo->toggle = sdo->sized = false;
	sdo->index = index;
	sdo->sub = sub;
	sdo->len = sdo->at = 0;
	sdo->code = 0;
	memset(sdo->data, 0, sizeof(sdo->data));
	return 0;
}

int sdo_read(struct sdo *sdo, uint16_t index, uint8_t sub)
{
	const int status = begin(sdo, index, sub, false);

	if (!status)
		request_object(sdo, sdo->upload ? sdo->upload : REQUEST_UP);
	return status;
}

int sdo_write(struct sdo *sdo, uint16_t index, uint8_t sub, const void *data, unsigned int len)
{
	int status;

	if (!len || len > SDO_DATA_MAX)
		return -EMSGSIZE;
	status = begin(sdo, index, sub, true);
	if (status)
		return status;
	memcpy(sdo->data, data, len);
	sdo->len = len;
	if (len > 4) {
		request_object(sdo, REQUEST_DOWN | SIZED);
		frame_put_le(sdo->out.data + 4, len, 4);
	} else {
		request_object(sdo, (uint8_t)(REQUEST_DOWN | EXPEDITED | SIZED | (4 - len) << 2));
		memcpy(sdo->out.data + 4, data, len);
	}
	return 0;
}

bool sdo_put(struct sdo *sdo, int64_t now_ns, struct frame *frame)
{
	if (!sdo->waits)
		return false;
	*frame = sdo->out;
	sdo->waits = false;
	sdo->due_ns = now_ns + sdo->late_ns;
	return true;
}

static enum sdo_result end(struct sdo *sdo, enum sdo_result result)
{
	sdo->result = SDO_IDLE;
	return result;
}

/* This client ends it, and sends an abort to the server. */
static enum sdo_result give_up(struct sdo *sdo, uint32_t code, enum sdo_result result)
{
	request_object(sdo, ABORT);
	frame_put_le(sdo->out.data + 4, code, 4);
	sdo->code = code;
	return end(sdo, result);
}

enum sdo_result sdo_poll(struct sdo *sdo, int64_t now_ns)
{
	if (sdo->result == SDO_BUSY && sdo->due_ns && now_ns >= sdo->due_ns)
		return give_up(sdo, SDO_TIMEOUT, SDO_LATE);
	return sdo->result;
}

/* ---- replies ---- */

static enum sdo_result next_segment(struct sdo *sdo)
{
	request_segment(sdo);
	return SDO_BUSY;
}

/* To the first request: the value, or that segments follow. */
static enum sdo_result upload_begun(struct sdo *sdo, const uint8_t *data)
{
	if (data[0] & EXPEDITED) {
		sdo->sized = data[0] & SIZED;
		sdo->len = sdo->sized ? 4 - (data[0] >> 2 & 3) : 4;
		memcpy(sdo->data, data + 4, sdo->len);
		return end(sdo, SDO_DONE);
	}
	if (data[0] & SIZED && frame_le32(data + 4) > SDO_DATA_MAX)
		return give_up(sdo, SDO_MEMORY, SDO_ABORTED);
	sdo->len = data[0] & SIZED ? frame_le32(data + 4) : 0;
	sdo->sized = data[0] & SIZED;
	sdo->segmented = true;
	return next_segment(sdo);
}

static enum sdo_result upload_segment(struct sdo *sdo, const uint8_t *data)
{
	const unsigned int n = SEGMENT - (data[0] >> 1 & 7);

	if (sdo->at + n > SDO_DATA_MAX)
		return give_up(sdo, SDO_MEMORY, SDO_ABORTED);
	memcpy(sdo->data + sdo->at, data + 1, n);
	sdo->at += n;
	sdo->toggle = !sdo->toggle;
	if (!(data[0] & LAST))
		return next_segment(sdo);
	if (sdo->sized && sdo->at != sdo->len)
		return give_up(sdo, SDO_LENGTH, SDO_ABORTED);
	sdo->len = sdo->at;
	return end(sdo, SDO_DONE);
}

static enum sdo_result download_segment(struct sdo *sdo)
{
	sdo->toggle = !sdo->toggle;
	return sdo->at == sdo->len ? end(sdo, SDO_DONE) : next_segment(sdo);
}

static bool is_of_object(const struct sdo *sdo, const uint8_t *data)
{
	return data[1] == (uint8_t)sdo->index && data[2] == sdo->index >> 8 && data[3] == sdo->sub;
}

static enum sdo_result object_reply(struct sdo *sdo, const uint8_t *data)
{
	const uint8_t specifier = data[0] & SPECIFIER;

	if (specifier != (sdo->writes ? REPLY_DOWN : REPLY_UP))
		return give_up(sdo, SDO_COMMAND, SDO_ABORTED);
	if (!sdo->writes)
		return upload_begun(sdo, data);
	if (sdo->len <= 4)
		return end(sdo, SDO_DONE);
	sdo->segmented = true;
	return next_segment(sdo);
}

static enum sdo_result segment_reply(struct sdo *sdo, const uint8_t *data)
{
	if ((data[0] & SPECIFIER) != (sdo->writes ? REPLY_SEGMENT_DOWN : REPLY_SEGMENT_UP))
		return give_up(sdo, SDO_COMMAND, SDO_ABORTED);
	if (!(data[0] & TOGGLE) != !sdo->toggle)
		return give_up(sdo, SDO_TOGGLE, SDO_ABORTED);
	return sdo->writes ? download_segment(sdo) : upload_segment(sdo, data);
}

enum sdo_result sdo_rx(struct sdo *sdo, const struct frame *frame)
{
	const uint8_t *data = frame->data;

	/* A reply from before the request left belongs to another one. */
	if (frame->id != SDO_ID_REPLY + sdo->node || frame->len != 8 || sdo->result != SDO_BUSY || !sdo->due_ns)
		return sdo->result;
	if (data[0] == ABORT && is_of_object(sdo, data)) {
		sdo->code = frame_le32(data + 4);
		return end(sdo, SDO_ABORTED);
	}
	if (sdo->segmented)
		return segment_reply(sdo, data);
	return is_of_object(sdo, data) ? object_reply(sdo, data) : SDO_BUSY;
}

uint32_t sdo_value(const struct sdo *sdo, unsigned int bytes)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < bytes && i < 4; i++)
		value |= (uint32_t)sdo->data[i] << 8 * i;
	return value;
}

/* ---- abort codes of CiA 301 ---- */

static const struct {
	uint32_t code;
	const char *words;
} aborts[] = {
	{ 0x05030000, "toggle bit not alternated" },
	{ 0x05040000, "SDO protocol timed out" },
	{ 0x05040001, "unknown command specifier" },
	{ 0x05040002, "invalid block size" },
	{ 0x05040003, "invalid sequence number" },
	{ 0x05040004, "CRC error" },
	{ 0x05040005, "out of memory" },
	{ 0x06010000, "unsupported access to an object" },
	{ 0x06010001, "attempt to read a write-only object" },
	{ 0x06010002, "attempt to write a read-only object" },
	{ 0x06020000, "object does not exist" },
	{ 0x06040041, "object cannot be mapped to a PDO" },
	{ 0x06040042, "mapped objects exceed the length of the PDO" },
	{ 0x06040043, "incompatible parameters" },
	{ 0x06040047, "incompatibility inside the device" },
	{ 0x06060000, "hardware error" },
	{ 0x06070010, "length of the parameter does not match" },
	{ 0x06070012, "parameter too long" },
	{ 0x06070013, "parameter too short" },
	{ 0x06090011, "sub-index does not exist" },
	{ 0x06090030, "value out of range" },
	{ 0x06090031, "value too high" },
	{ 0x06090032, "value too low" },
	{ 0x06090036, "maximum less than minimum" },
	{ 0x060A0023, "resource not available" },
	{ 0x08000000, "general error" },
	{ 0x08000020, "data cannot be transferred" },
	{ 0x08000021, "data cannot be transferred because of local control" },
	{ 0x08000022, "data cannot be transferred in the present device state" },
	{ 0x08000023, "no object dictionary present" },
	{ 0x08000024, "no data available" },
};

const char *sdo_words(uint32_t code)
{
	for (unsigned int i = 0; i < sizeof(aborts) / sizeof(*aborts); i++)
		if (aborts[i].code == code)
			return aborts[i].words;
	return "unknown abort code";
}
