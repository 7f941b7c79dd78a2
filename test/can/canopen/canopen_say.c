/* canopen_say.c: frames as our CANopen code writes them, each with what it is to say, for test_canopen_tshark.sh.
 *
 *	canopen_say SEED
 *	620#2F60600004000000 cob_id=0x620 sdo.ccs=1 sdo.main_idx=0x6060 sdo.sub_idx=0 sdo.n=3 sdo.data.bytes=04
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "can/bus/frame_text.h"
#include "can/canopen/nmt.h"
#include "can/canopen/sdo.h"

static void say(const struct frame *frame)
{
	char text[FRAME_TEXT_MAX];

	frame_text_write(text, frame);
	printf("%s cob_id=0x%x", text, frame_id(frame));
}

static void say_bytes(const uint8_t *data, unsigned int n, unsigned int room)
{
	printf(" sdo.n=%u sdo.data.bytes=", room - n);
	for (unsigned int i = 0; i < n; i++)
		printf("%02x", data[i]);
	printf("\n");
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

static void say_object(struct sdo *sdo, unsigned int ccs)
{
	struct frame frame;

	sdo_put(sdo, 1, &frame);
	say(&frame);
	printf(" sdo.ccs=%u sdo.main_idx=0x%04x sdo.sub_idx=0x%02x", ccs, sdo->index, sdo->sub);
}

/* A write in segments, which are acknowledged here. */
static void say_segments(struct sdo *sdo)
{
	struct frame reply = { .id = SDO_ID_REPLY + sdo->node, .len = 8, .data = { 0x60 } }, frame;

	memcpy(reply.data + 1, sdo->out.data + 1, 3);
	for (unsigned int at = 0; sdo_rx(sdo, &reply) == SDO_BUSY; at += 7) {
		const unsigned int left = sdo->len - at;

		sdo_put(sdo, 1, &frame);
		say(&frame);
		printf(" sdo.ccs=0 sdo.toggle=%u sdo.c=%d", at / 7 % 2, left <= 7);
		say_bytes(sdo->data + at, left < 7 ? left : 7, 7);
		memset(reply.data, 0, 8);
		reply.data[0] = (uint8_t)(0x20 | (at / 7 % 2) << 4);
	}
}

static void say_sdo(void)
{
	struct sdo sdo = { .node = 1u + (unsigned int)rand() % NMT_NODE_MAX, .late_ns = 10 };
	const uint16_t index = (uint16_t)(0x1000 + rand() % 0x6000);
	const uint8_t sub = (uint8_t)rand();
	const unsigned int len = 1u + (unsigned int)rand() % SDO_DATA_MAX;
	uint8_t data[SDO_DATA_MAX];
	struct frame frame;

	for (unsigned int i = 0; i < len; i++)
		data[i] = (uint8_t)rand();
	sdo_read(&sdo, index, sub);
	say_object(&sdo, 2);
	printf("\n");
	sdo_poll(&sdo, 100); /* the reply does not come */
	sdo_put(&sdo, 100, &frame);
	say(&frame);
	printf(" sdo.ccs=4 sdo.main_idx=0x%04x sdo.sub_idx=0x%02x sdo.abort_code=0x%08x\n", index, sub, sdo.code);
	sdo_write(&sdo, index, sub, data, 1 + len % 4);
	say_object(&sdo, 1);
	say_bytes(data, 1 + len % 4, 4);
	sdo.result = SDO_IDLE;
	if (len <= 4)
		return;
	sdo_write(&sdo, index, sub, data, len);
	say_object(&sdo, 1);
	printf("\n");
	say_segments(&sdo);
}

int main(int argc, char **argv)
{
	srand(argc > 1 ? (unsigned int)atoi(argv[1]) : 1);
	say_nmt();
	for (unsigned int i = 0; i < 100; i++)
		say_sdo();
	return 0;
}
