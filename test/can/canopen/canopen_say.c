/* canopen_say.c: frames as our CANopen code writes them, each with what it is to say, for test_canopen_tshark.sh.
 *
 *	canopen_say SEED
 *	620#2F60600004000000 cob_id=0x620 sdo.ccs=1 sdo.main_idx=0x6060 sdo.sub_idx=0 sdo.n=3 sdo.data.bytes=04
 */
#include <stdio.h>
#include <stdlib.h>

#include "can/bus/frame_text.h"
#include "can/canopen/nmt.h"
#include "can/canopen/sdo.h"

static void say(const struct frame *frame)
{
	char text[FRAME_TEXT_MAX];

	frame_text_write(text, frame);
	printf("%s cob_id=0x%x", text, frame_id(frame));
}

static void say_nmt(void)
{
	static const enum nmt_order orders[] = { NMT_START, NMT_STOP, NMT_PREPARE, NMT_RESET_NODE,
						 NMT_RESET_COMMUNICATION };
	static const enum nmt_state states[] = { NMT_BOOT, NMT_STOPPED, NMT_OPERATIONAL, NMT_PRE_OPERATIONAL };
	struct frame frame;

	for (unsigned int node = 1; node <= NMT_NODE_MAX; node += 7) {
		for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
			nmt_command(&frame, orders[i], node);
			say(&frame);
			printf(" nmt_ctrl.cd=0x%02x nmt_ctrl.node_id=%u\n", orders[i], node);
		}
		for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
			nmt_heartbeat(&frame, node, states[i]);
			say(&frame);
			printf(" nmt_guard.state=0x%02x\n", states[i]);
		}
	}
}

static void say_object(const struct frame *frame, unsigned int ccs, uint16_t index, uint8_t sub)
{
	say(frame);
	printf(" sdo.ccs=%u sdo.main_idx=0x%04x sdo.sub_idx=0x%02x", ccs, index, sub);
}

static void say_sdo(void)
{
	const unsigned int node = 1u + (unsigned int)rand() % NMT_NODE_MAX, bytes = 1u + (unsigned int)rand() % 4;
	const uint16_t index = (uint16_t)(0x1000 + rand() % 0x6000);
	const uint8_t sub = (uint8_t)rand();
	const uint32_t value = (uint32_t)rand() ^ (uint32_t)rand() << 16;
	struct frame frame, abort;

	sdo_read(&frame, node, index, sub);
	say_object(&frame, 2, index, sub);
	printf("\n");
	sdo_abort(&abort, &frame, SDO_NO_REPLY);
	say_object(&abort, 4, index, sub);
	printf(" sdo.abort_code=0x05040000\n");
	sdo_write(&frame, node, index, sub, value, bytes);
	say_object(&frame, 1, index, sub);
	printf(" sdo.n=%u sdo.data.bytes=", 4 - bytes);
	for (unsigned int i = 0; i < bytes; i++)
		printf("%02x", value >> 8 * i & 0xFF);
	printf("\n");
}

int main(int argc, char **argv)
{
	srand(argc > 1 ? (unsigned int)atoi(argv[1]) : 1);
	say_nmt();
	for (unsigned int i = 0; i < 100; i++)
		say_sdo();
	return 0;
}
