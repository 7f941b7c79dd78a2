/* plain_pcio.c: a minimal hand-written driver for one PowerCube module: no limits, no e-stop, no lifecycle.
 *
 *	plain_pcio BUS MODULE PREFIX
 *
 * bench_drv compares pciod with it.  It waits for bus and reference in one call, sends a move and three requests for
 * each reference, and publishes a state when all four are answered.
 */
#include <stdio.h>
#include <stdlib.h>

#include "can/bus/bus.h"
#include "channels/ach/ach.h"
#include "channels/clock/clock.h"
#include "channels/msg/msg.h"
#include "daemons/pcio/pcio.h"

int main(int argc, char **argv)
{
	const unsigned int module = argc == 4 ? (unsigned int)atoi(argv[2]) : 0;
	static const uint8_t asked[] = { PCIO_ACTUAL_VELOCITY, PCIO_ACTUAL_CURRENT, PCIO_STATE, 0 };
	const struct bus_filter filter = { PCIO_ID_ACK + module, 0x7FF };
	static struct msg_joint_state state;
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct pcio_reply reply;
	struct msg_joint_ref ref;
	ach_channel_t in, out;
	struct bus_frame got[8];
	struct clock_fd fds[2] = { { .events = POLLIN }, { .events = POLLIN } };
	unsigned int answers = 0;
	struct frame frame;
	struct bus *bus;
	char name[64];
	size_t len;

	snprintf(name, sizeof(name), "%swaist-ref", argv[3]);
	if (!module || ach_open(&in, name, NULL) != ACH_OK)
		return 111;
	snprintf(name, sizeof(name), "%swaist-state", argv[3]);
	if (ach_open(&out, name, NULL) != ACH_OK)
		return 111;
	if (bus_open(&bus, argv[1], &(struct bus_options){ .filters = &filter, .filters_n = 1, .no_echo = true },
		     &errors))
		return 111;
	msg_init(&state, msg_type_by_number(msg_joint_state_number));
	ach_channel_fd(&in, &fds[0].fd);
	fds[1].fd = bus_fd(bus);
	for (state.count = 1;;) {
		if (clock_wait(fds, 2, bus_next_ns(bus)) < 0)
			return 111;
		if (fds[0].ready && ach_get(&in, &ref, sizeof(ref), &len, NULL, ACH_O_LAST) != ACH_EAGAIN) {
			pcio_encode_move(module, PCIO_VELOCITY_STATE, ref.velocity[0], &frame);
			bus_send(bus, &frame);
			for (const uint8_t *p = asked; *p; p++) {
				pcio_encode_get(module, *p, &frame);
				bus_send(bus, &frame);
			}
			answers = 0;
		}
		for (int i = 0, n = bus_receive(bus, got, 8); i < n; i++) {
			if (pcio_decode(&reply, &got[i].frame, got[i].t_ns))
				continue;
			if (reply.command == PCIO_MOVE)
				state.position[0] = reply.value;
			else if (reply.parameter == PCIO_ACTUAL_VELOCITY)
				state.velocity[0] = reply.value;
			else
				state.current[0] = reply.value;
			if (++answers < 4)
				continue;
			state.header.t_publish_ns = clock_now_ns();
			ach_put(&out, &state, sizeof(state));
		}
	}
}
