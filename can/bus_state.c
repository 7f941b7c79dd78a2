/* bus_state.c: how a bus is, and what an error frame says about it.  Pure.
 *
 * linux/can/error.h has the bits.  The controller's driver writes one such frame for each change of its state: the
 * class says what kind, data[1] which state, data[6] and data[7] are the counters for sending and receiving.
 */
#include <linux/can/error.h>

#include "can/bus_backend.h"

#ifndef CAN_ERR_CNT
#define CAN_ERR_CNT 0x00000200u /* the counters are there; since Linux 6.0 */
#endif

#define WARNING_AT 96
#define PASSIVE_AT 128

static const char *const names[] = {
	[BUS_ABSENT] = "absent",   [BUS_STOPPED] = "stopped", [BUS_ERROR_ACTIVE] = "error-active",
	[BUS_WARNING] = "warning", [BUS_PASSIVE] = "passive", [BUS_OFF] = "bus-off",
};

const char *bus_state_name(enum bus_state state)
{
	return (size_t)state < sizeof(names) / sizeof(names[0]) ? names[state] : "unknown";
}

static enum bus_state by_counters(enum bus_state state, uint32_t class, uint8_t sending, uint8_t receiving)
{
	uint8_t higher = sending > receiving ? sending : receiving;

	/* Before Linux 6.0 nothing told counters from an empty place; 0 then says nothing.  The counters of a
	 * controller that is off say nothing either: it is off until it says that it was restarted. */
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
