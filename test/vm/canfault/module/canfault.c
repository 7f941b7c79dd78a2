// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* canfault.c: makes a CAN controller fail on demand, for tests: an emulated wire is faultless.
 *
 *	echo "can0 busoff" >/sys/module/canfault/parameters/inject
 *
 *	busoff, passive, warning, active	the state, with an error frame as a controller's driver sends it
 *	counters TX RX		the error counters, and the state that follows from them
 *	stall, resume		nothing gets onto the bus, as with the cable off: frames wait in the queue; it outlasts
 *				the link going down and up, which empties the queue as a reset does
 *
 * Counters are shown until the state changes by other means (a restart, the link going down).  A stalled or bus-off
 * controller goes on hearing the others: what is received is the driver's own business.
 *
 * write(2) answers EINVAL (no such word), ENODEV (no such interface), EOPNOTSUPP (not a CAN controller), ENETDOWN (it
 * is down, or bus-off: only a restart leads out of that).
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/can/dev.h>
#include <linux/can/error.h>
#include <net/net_namespace.h>

/* Replacements of the driver's own operations, by interface; all under the RTNL. */
struct canfault {
	struct list_head list;
	struct net_device *dev;
	const struct net_device_ops *ops;
	struct net_device_ops stalled_ops;
	int (*get_counters)(const struct net_device *dev, struct can_berr_counter *counters);
	struct can_berr_counter counters;
	enum can_state state; /* for which the counters hold; CAN_STATE_MAX: none */
};

static LIST_HEAD(canfault_list);

static struct canfault *canfault_find(const struct net_device *dev)
{
	struct canfault *fault;

	list_for_each_entry(fault, &canfault_list, list) if (fault->dev == dev) return fault;
	return NULL;
}

/* ---- stall ---- */

/* The queue is stopped here and not when the stall begins: a frame on its way then would start it again. */
static netdev_tx_t canfault_stalled_xmit(struct sk_buff *skb, struct net_device *dev)
{
	netif_stop_queue(dev);
	return NETDEV_TX_BUSY;
}

static void canfault_set_ops(struct canfault *fault, const struct net_device_ops *ops)
{
	netif_tx_lock_bh(fault->dev);
	WRITE_ONCE(fault->dev->netdev_ops, ops);
	netif_tx_unlock_bh(fault->dev);
}

static void canfault_resume(struct canfault *fault)
{
	canfault_set_ops(fault, fault->ops);
	/* Bus-off has its own reason for a stopped queue: the restart starts it. */
	if (netif_running(fault->dev) && netif_carrier_ok(fault->dev))
		netif_wake_queue(fault->dev);
}

/* ---- counters and state ---- */

static int canfault_get_counters(const struct net_device *dev, struct can_berr_counter *counters)
{
	struct can_priv *priv = netdev_priv(dev);
	struct canfault *fault = canfault_find(dev);

	if (fault && priv->state == fault->state) {
		*counters = fault->counters;
		return 0;
	}
	return fault && fault->get_counters ? fault->get_counters(dev, counters) : -EOPNOTSUPP;
}

static enum can_state canfault_state(unsigned int counter)
{
	return counter >= CAN_BUS_OFF_THRESHOLD		? CAN_STATE_BUS_OFF
	       : counter >= CAN_ERROR_PASSIVE_THRESHOLD ? CAN_STATE_ERROR_PASSIVE
	       : counter >= CAN_ERROR_WARNING_THRESHOLD ? CAN_STATE_ERROR_WARNING
							: CAN_STATE_ERROR_ACTIVE;
}

static int canfault_count(struct canfault *fault, unsigned int tx, unsigned int rx)
{
	struct can_priv *priv = netdev_priv(fault->dev);
	enum can_state tx_state = canfault_state(tx), rx_state = canfault_state(rx);
	struct can_frame *frame;
	struct sk_buff *skb;

	/* Only a sender goes bus-off. */
	if (tx > CAN_BUS_OFF_THRESHOLD || rx > U8_MAX)
		return -EINVAL;
	if (!netif_running(fault->dev) || priv->state >= CAN_STATE_BUS_OFF)
		return -ENETDOWN;
	fault->counters.txerr = tx;
	fault->counters.rxerr = rx;
	fault->state = max(tx_state, rx_state);
	priv->do_get_berr_counter = canfault_get_counters;
	if (priv->state == fault->state)
		return 0;
	skb = alloc_can_err_skb(fault->dev, &frame);
	can_change_state(fault->dev, skb ? frame : NULL, tx_state, rx_state);
	if (fault->state == CAN_STATE_BUS_OFF)
		can_bus_off(fault->dev);
	if (!skb)
		return -ENOMEM;
	if (fault->state != CAN_STATE_BUS_OFF) {
		frame->can_id |= CAN_ERR_CNT;
		frame->data[6] = tx;
		frame->data[7] = rx;
	}
	netif_rx(skb);
	return 0;
}

/* ---- which interfaces ---- */

static struct canfault *canfault_get(struct net_device *dev)
{
	struct canfault *fault = canfault_find(dev);
	struct can_priv *priv = safe_candev_priv(dev);

	if (!priv)
		return ERR_PTR(-EOPNOTSUPP);
	if (fault)
		return fault;
	fault = kzalloc(sizeof(*fault), GFP_KERNEL);
	if (!fault)
		return ERR_PTR(-ENOMEM);
	fault->dev = dev;
	fault->ops = dev->netdev_ops;
	fault->stalled_ops = *dev->netdev_ops;
	fault->stalled_ops.ndo_start_xmit = canfault_stalled_xmit;
	fault->get_counters = priv->do_get_berr_counter;
	fault->state = CAN_STATE_MAX;
	list_add(&fault->list, &canfault_list);
	return fault;
}

static void canfault_forget(struct canfault *fault)
{
	struct can_priv *priv = netdev_priv(fault->dev);

	canfault_resume(fault);
	priv->do_get_berr_counter = fault->get_counters;
	list_del(&fault->list);
	kfree(fault);
}

static int canfault_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct canfault *fault = canfault_find(netdev_notifier_info_to_dev(data));

	if (fault && event == NETDEV_DOWN)
		fault->state = CAN_STATE_MAX;
	else if (fault && event == NETDEV_UNREGISTER)
		canfault_forget(fault);
	return NOTIFY_DONE;
}

static struct notifier_block canfault_block = { .notifier_call = canfault_event };

/* ---- what is written ---- */

static int canfault_do(struct canfault *fault, const char *what)
{
	unsigned int tx, rx;

	if (sysfs_streq(what, "active"))
		return canfault_count(fault, 0, 0);
	if (sysfs_streq(what, "warning"))
		return canfault_count(fault, CAN_ERROR_WARNING_THRESHOLD, 0);
	if (sysfs_streq(what, "passive"))
		return canfault_count(fault, CAN_ERROR_PASSIVE_THRESHOLD, 0);
	if (sysfs_streq(what, "busoff"))
		return canfault_count(fault, CAN_BUS_OFF_THRESHOLD, 0);
	if (sscanf(what, "counters %u %u", &tx, &rx) == 2)
		return canfault_count(fault, tx, rx);
	if (sysfs_streq(what, "stall"))
		canfault_set_ops(fault, &fault->stalled_ops);
	else if (sysfs_streq(what, "resume"))
		canfault_resume(fault);
	else
		return -EINVAL;
	return 0;
}

static int canfault_inject(const char *text, const struct kernel_param *param)
{
	char name[IFNAMSIZ];
	struct net_device *dev;
	struct canfault *fault;
	int at = 0, result;

	if (sscanf(text, "%15s %n", name, &at) != 1 || !at)
		return -EINVAL;
	rtnl_lock();
	dev = __dev_get_by_name(&init_net, name);
	fault = dev ? canfault_get(dev) : ERR_PTR(-ENODEV);
	result = IS_ERR(fault) ? PTR_ERR(fault) : canfault_do(fault, text + at);
	rtnl_unlock();
	return result;
}

static const struct kernel_param_ops canfault_inject_ops = { .set = canfault_inject };
module_param_cb(inject, &canfault_inject_ops, NULL, 0200);
MODULE_PARM_DESC(inject, "INTERFACE busoff|passive|warning|active|counters TX RX|stall|resume");

static int __init canfault_init(void)
{
	return register_netdevice_notifier(&canfault_block);
}

static void __exit canfault_exit(void)
{
	struct canfault *fault, *next;

	unregister_netdevice_notifier(&canfault_block);
	rtnl_lock();
	list_for_each_entry_safe(fault, next, &canfault_list, list) canfault_forget(fault);
	rtnl_unlock();
}

module_init(canfault_init);
module_exit(canfault_exit);
MODULE_DESCRIPTION("CAN controller faults on demand, for tests");
MODULE_LICENSE("Dual BSD/GPL");
