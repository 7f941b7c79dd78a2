/* bus_state.c: the state of a bus, and what an error frame says about it.  Pure.
 *
 * The controller's driver writes an error frame for each change of its state: the class says what kind, data[1] which
 * state, data[6] and data[7] are the transmit and receive error counters.
 */
#include "can/bus/bus_backend.h"
#include "can/bus/frame_error.h"
#include "channels/msg/msg.h"

#define WARNING_AT 96
#define PASSIVE_AT 128

_Static_assert((int)BUS_ABSENT == MSG_LINK_ABSENT && (int)BUS_OFF == MSG_LINK_BUS_OFF, "the states of a message");

const char *bus_state_name(enum bus_state state)
{
	return msg_link_word(state);
}

static enum bus_state by_counters(enum bus_state state, uint32_t class, uint8_t sending, uint8_t receiving)
{
	uint8_t higher = sending > receiving ? sending : receiving;

	/* Before Linux 6.0 no flag says whether the counters are there, so two zeros are ignored.  The counters of a
	 * controller that is bus-off are ignored, too: it is bus-off until it reports a restart. */
	if ((!(class & CAN_ERR_CNT) && !higher) || state == BUS_OFF)
		return state;
	return higher >= PASSIVE_AT ? BUS_PASSIVE : higher >= WARNING_AT ? BUS_WARNING : BUS_ERROR_ACTIVE;
}

enum bus_state bus_state_after(enum bus_state state, const struct frame *error)
{
	const uint32_t class = error->id & FRAME_EXT_MASK;
	const uint8_t controller = class & CAN_ERR_CRTL ? error->data[1] : 0;

	if (class & CAN_ERR_BUSOFF)
		return BUS_OFF;
	if (controller & (CAN_ERR_CRTL_RX_PASSIVE | CAN_ERR_CRTL_TX_PASSIVE))
		return BUS_PASSIVE;
	if (controller & (CAN_ERR_CRTL_RX_WARNING | CAN_ERR_CRTL_TX_WARNING))
		return BUS_WARNING;
	if (controller & CAN_ERR_CRTL_ACTIVE || class & CAN_ERR_RESTARTED)
		return BUS_ERROR_ACTIVE;
	return by_counters(state, class, error->data[6], error->data[7]);
}
