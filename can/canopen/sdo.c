/* sdo.c: requests to an SDO server and its replies.  Checked: pure, covered. */
#include "can/canopen/sdo.h"
#include "config/base/base.h"

/* Command specifiers: the highest three bits of the first byte. */
#define SPECIFIER 0xE0
#define REQUEST_DOWN 0x20
#define REQUEST_UP 0x40
#define REPLY_UP 0x40
#define REPLY_DOWN 0x60

#define EXPEDITED 0x02
#define SIZED 0x01
#define UNUSED(command) ((command) >> 2 & 3) /* of four bytes */

#define TIMED_OUT 0x05040000
#define UNKNOWN_COMMAND 0x05040001
#define GENERAL_ERROR 0x08000000

/* ---- requests ---- */

static void request(struct frame *frame, unsigned int node, uint8_t command, uint16_t index, uint8_t sub)
{
	*frame = (struct frame){ .id = SDO_ID_REQUEST + node, .len = 8, .data = { command } };
	frame_put_le(frame->data + 1, index, 2);
	frame->data[3] = sub;
}

void sdo_read(struct frame *frame, unsigned int node, uint16_t index, uint8_t sub)
{
	request(frame, node, REQUEST_UP, index, sub);
}

void sdo_write(struct frame *frame, unsigned int node, uint16_t index, uint8_t sub, uint32_t value, unsigned int bytes)
{
	request(frame, node, (uint8_t)(REQUEST_DOWN | EXPEDITED | SIZED | (4 - bytes) << 2), index, sub);
	frame_put_le(frame->data + 4, value, bytes);
}

void sdo_abort(struct frame *frame, const struct frame *of, uint32_t code)
{
	*frame = *of;
	frame->data[0] = SDO_ABORT;
	frame_put_le(frame->data + 4, code == SDO_NO_REPLY ? TIMED_OUT : UNKNOWN_COMMAND, 4);
}

static bool writes(const struct frame *of)
{
	return (of->data[0] & SPECIFIER) == REQUEST_DOWN;
}

/* ---- replies ---- */

uint32_t sdo_reply(const struct frame *of, const struct frame *reply, uint32_t *value)
{
	const uint8_t *data;

	*value = 0;
	if (!reply)
		return SDO_NO_REPLY;
	data = reply->data;
	if (reply->len != 8 || memcmp(data + 1, of->data + 1, 3) != 0)
		return SDO_NOT_A_REPLY;
	if (data[0] == SDO_ABORT)
		return frame_le32(data + 4) > SDO_NOT_A_REPLY ? frame_le32(data + 4) : GENERAL_ERROR;
	if (writes(of))
		return (data[0] & SPECIFIER) == REPLY_DOWN ? 0 : SDO_NOT_A_REPLY;
	if ((data[0] & SPECIFIER) != REPLY_UP || !(data[0] & EXPEDITED))
		return SDO_NOT_A_REPLY;
	*value = frame_le32(data + 4);
	if (data[0] & SIZED)
		*value &= UINT32_MAX >> 8 * UNUSED(data[0]);
	return 0;
}

/* ---- abort codes of CiA 301 ---- */

static const struct {
	uint32_t code;
	const char *words;
} aborts[] = {
	{ SDO_NO_REPLY, "no reply" },
	{ SDO_NOT_A_REPLY, "not a reply" },
	{ 0x05030000, "toggle bit not alternated" },
	{ TIMED_OUT, "SDO protocol timed out" },
	{ UNKNOWN_COMMAND, "unknown command specifier" },
	{ 0x05040002, "invalid block size" },
	{ 0x05040003, "invalid sequence number" },
	{ 0x05040004, "CRC error" },
	{ 0x05040005, "out of memory" },
	{ 0x06010000, "unsupported access to an object" },
	{ 0x06010001, "attempt to read a write-only object" },
	{ 0x06010002, "attempt to write a read-only object" },
	{ SDO_ABSENT, "object does not exist" },
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
	{ GENERAL_ERROR, "general error" },
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
