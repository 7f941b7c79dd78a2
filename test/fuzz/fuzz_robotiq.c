/* fuzz_robotiq.c: arbitrary frames as replies of a Robotiq gripper, arbitrary registers and shares: what is decoded is
 * within its range, a reply is taken only for its own request, and a command is read back as it was encoded.
 *
 * Longest: 64 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "can/canopen/sdo.h"
#include "daemons/robotiq/robotiq.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reply(const uint8_t *data)
{
	struct frame request, reply = { .id = 0x58B, .len = data[0] % 9 };
	uint32_t value, code;

	memcpy(reply.data, data + 2, 8);
	if (data[1] & 1)
		robotiq_read(&request, 11, data[1] & 2 ? 0x40 : 0x4F, data[5]);
	else
		robotiq_write(&request, 11, data[5], data[6]);
	code = sdo_reply(&request, &reply, &value);
	must(code != SDO_NO_REPLY || reply.data[0] == SDO_ABORT);
	must(code == SDO_NOT_A_REPLY || (reply.len == 8 && !memcmp(reply.data + 1, request.data + 1, 3)));
	must(!value || (!code && data[1] & 1));
	must(code || !(data[1] & 1) || (uint8_t)value == reply.data[4]);
}

static void check_registers(const uint8_t *data)
{
	uint8_t in[ROBOTIQ_REGISTERS] = { 0 }, out[ROBOTIQ_REGISTERS] = { 0 };
	struct robotiq_command c = { 0 };
	struct robotiq_state s;

	memcpy(in + 1, data, 15);
	robotiq_decode(&s, in);
	must(s.mode <= ROBOTIQ_SCISSORS && s.phase <= ROBOTIQ_DONE && s.motion <= ROBOTIQ_AT_TARGET && s.fault < 16);
	must(robotiq_fault(s.fault)->words != NULL);
	c.active = s.active;
	c.go = s.go;
	c.mode = s.mode;
	for (unsigned int i = 0; i < ROBOTIQ_FINGERS; i++) {
		must(s.finger[i].stop <= ROBOTIQ_ARRIVED);
		c.finger[i].position = s.finger[i].requested;
	}
	robotiq_encode(&c, out);
	must(out[1] == robotiq_echo(&s) && out[1] == (in[1] & 0x0F));
	for (unsigned int i = 0; i < ROBOTIQ_FINGERS; i++)
		must(out[4 + 3 * i] == in[4 + 3 * i]);
}

static void check_share(const uint8_t *data)
{
	uint8_t ticks = 0;
	double share;
	int status;

	memcpy(&share, data, sizeof(share));
	status = robotiq_share(share, &ticks);
	must((status == 0) == (share >= 0 && share <= 1));
	must(status || fabs(ticks / 255.0 - share) <= 0.5 / 255 + 1e-12);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (; size >= 16; data += 16, size -= 16) {
		check_reply(data);
		check_registers(data);
		check_share(data);
	}
	return 0;
}
