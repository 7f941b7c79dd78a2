/* emcy.c: emergency messages.  Checked: covered. */
#include "can/canopen/emcy.h"
#include "config/base/base.h"

bool emcy_decode(struct emcy *emcy, const struct frame *frame)
{
	if (frame->id <= EMCY_ID || frame->id > EMCY_ID + 0x7F || frame->len != 8)
		return false;
	emcy->code = frame_le16(frame->data);
	emcy->error_register = frame->data[2];
	memcpy(emcy->specific, frame->data + 3, sizeof(emcy->specific));
	return true;
}

/* From the particular to the general: the first whose masked code matches. */
static const struct {
	uint16_t code;
	const char *words;
} codes[] = {
	{ 0x0000, "error reset or no error" },
	{ 0x2310, "continuous over-current" },
	{ 0x2320, "short circuit or earth leakage at the output" },
	{ 0x2340, "short circuit at the motor" },
	{ 0x3110, "mains over-voltage" },
	{ 0x3120, "mains under-voltage" },
	{ 0x3210, "bus over-voltage" },
	{ 0x3220, "bus under-voltage" },
	{ 0x4210, "device too hot" },
	{ 0x4310, "drive too hot" },
	{ 0x5113, "internal 5 V supply too low" },
	{ 0x6010, "software watchdog" },
	{ 0x6320, "parameter error" },
	{ 0x7121, "motor blocked" },
	{ 0x7122, "motor error or commutation" },
	{ 0x7305, "incremental sensor 1 fault" },
	{ 0x7380, "position sensor fault" },
	{ 0x8110, "CAN overrun: messages lost" },
	{ 0x8120, "CAN in error passive mode" },
	{ 0x8130, "heartbeat or life guard lost" },
	{ 0x8140, "recovered from bus off" },
	{ 0x8150, "CAN identifier collision" },
	{ 0x8210, "PDO too short, not processed" },
	{ 0x8220, "PDO too long" },
	{ 0x8240, "SYNC of unexpected length" },
	{ 0x8250, "RPDO time-out" },
	{ 0x8611, "following error" },
	{ 0x1000, "generic error" },
	{ 0x2100, "current on the device input side" },
	{ 0x2200, "current inside the device" },
	{ 0x2300, "current on the device output side" },
	{ 0x2000, "current" },
	{ 0x3100, "mains voltage" },
	{ 0x3200, "voltage inside the device" },
	{ 0x3300, "output voltage" },
	{ 0x3000, "voltage" },
	{ 0x4100, "ambient temperature" },
	{ 0x4200, "device temperature" },
	{ 0x4000, "temperature" },
	{ 0x5000, "device hardware" },
	{ 0x6000, "device software" },
	{ 0x7000, "additional module" },
	{ 0x8100, "communication" },
	{ 0x8200, "protocol error" },
	{ 0x8000, "monitoring" },
	{ 0x9000, "external error" },
	{ 0xFF00, "device specific" },
	{ 0xF000, "additional function" },
};

/* A code that ends in zeros stands for all that begin as it does. */
static uint16_t mask(uint16_t code)
{
	if (!code || code & 0xFF)
		return 0xFFFF;
	return code & 0xF00 ? 0xFF00 : 0xF000;
}

const char *emcy_words(uint16_t code)
{
	for (unsigned int i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		if ((code & mask(codes[i].code)) == codes[i].code)
			return codes[i].words;
	return "unknown error";
}
