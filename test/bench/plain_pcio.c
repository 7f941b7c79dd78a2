/* plain_pcio.c: the driver one would write by hand for one PowerCube module: no limits, no e-stop, no lifecycle, nothing.
 *
 *	plain_pcio BUS MODULE PREFIX
 *
 * What bench_drv compares pciod with.  On each reference a move and three questions; when all four have been answered,
 * a state.
 */
#include <stdlib.h>
#include <stdio.h>

#include "can/bus.h"
#include "channels/ach.h"
#include "channels/clock.h"
#include "channels/msg/msg.h"
#include "daemons/pcio/pcio.h"

int main(int argc, char **argv)
{
	const unsigned int module = argc == 4 ? (unsigned int)atoi(argv[2]) : 0;
	const struct bus_filter filter = { PCIO_ID_ACK + module, 0x7FF };
	static struct msg_joint_state state;
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	struct pcio_reply reply;
	struct msg_joint_ref ref;
	ach_channel_t in, out;
	struct bus_frame got[8];
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
	for (state.count = 1;;) {
		unsigned int answers = 0;

		if (!(ach_status_mask(ach_get(&in, &ref, sizeof(ref), &len, NULL, ACH_O_WAIT | ACH_O_LAST)) &
		      (ACH_MASK_OK | ACH_MASK_MISSED_FRAME)))
			return 111;
		pcio_encode_move(module, PCIO_VELOCITY_STATE, ref.velocity[0], &frame);
		bus_send(bus, &frame);
		for (const uint8_t *p = (const uint8_t[]){ PCIO_ACTUAL_VELOCITY, PCIO_ACTUAL_CURRENT, PCIO_STATE, 0 };
		     *p; p++) {
			pcio_encode_get(module, *p, &frame);
			bus_send(bus, &frame);
		}
		while (answers < 4) {
			struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
			int n = clock_wait(&fd, 1, bus_next_ns(bus)) < 0 ? 0 : bus_receive(bus, got, 8);

			for (int i = 0; i < n; i++)
				if (!pcio_decode(&reply, &got[i].frame, got[i].t_ns)) {
					answers++;
					*(reply.command == PCIO_MOVE		    ? &state.position[0]
					  : reply.parameter == PCIO_ACTUAL_VELOCITY ? &state.velocity[0]
										    : &state.current[0]) = reply.value;
				}
		}
		state.header.t_publish_ns = clock_now_ns();
		ach_put(&out, &state, sizeof(state));
	}
}
