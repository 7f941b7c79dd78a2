// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* canfdfake.c: a controller of CAN FD without a wire, "canfd0", for tests of its settings: QEMU's CAN FD controller has
 * no driver in Debian's kernel.  What is sent is confirmed and goes nowhere.
 */
#include <linux/can/dev.h>
#include <linux/module.h>
#include <linux/netdevice.h>

static const struct can_bittiming_const limits = {
	.name = "canfdfake",
	.tseg1_min = 2,
	.tseg1_max = 256,
	.tseg2_min = 1,
	.tseg2_max = 128,
	.sjw_max = 128,
	.brp_min = 1,
	.brp_max = 256,
	.brp_inc = 1,
};

static struct net_device *device;

static int open(struct net_device *dev)
{
	struct can_priv *priv = netdev_priv(dev);
	int status = open_candev(dev);

	if (status)
		return status;
	priv->state = CAN_STATE_ERROR_ACTIVE;
	netif_start_queue(dev);
	return 0;
}

static int stop(struct net_device *dev)
{
	struct can_priv *priv = netdev_priv(dev);

	netif_stop_queue(dev);
	priv->state = CAN_STATE_STOPPED;
	close_candev(dev);
	return 0;
}

static netdev_tx_t transmit(struct sk_buff *frame, struct net_device *dev)
{
	if (can_dropped_invalid_skb(dev, frame))
		return NETDEV_TX_OK;
	can_put_echo_skb(frame, dev, 0, 0);
	can_get_echo_skb(dev, 0, NULL);
	return NETDEV_TX_OK;
}

static const struct net_device_ops operations = {
	.ndo_open = open, .ndo_stop = stop, .ndo_start_xmit = transmit, .ndo_change_mtu = can_change_mtu
};

static int set_mode(struct net_device *dev, enum can_mode mode)
{
	return mode == CAN_MODE_START ? 0 : -EOPNOTSUPP;
}

static int __init begin(void)
{
	struct can_priv *priv;
	int status;

	device = alloc_candev(sizeof(*priv), 1);
	if (!device)
		return -ENOMEM;
	strscpy(device->name, "canfd0", sizeof(device->name));
	device->netdev_ops = &operations;
	device->flags |= IFF_ECHO;
	priv = netdev_priv(device);
	priv->clock.freq = 80000000;
	priv->bittiming_const = &limits;
	priv->data_bittiming_const = &limits;
	priv->do_set_mode = set_mode;
	priv->ctrlmode_supported = CAN_CTRLMODE_FD | CAN_CTRLMODE_LISTENONLY | CAN_CTRLMODE_LOOPBACK;
	status = register_candev(device);
	if (status)
		free_candev(device);
	return status;
}

static void __exit end(void)
{
	unregister_candev(device);
	free_candev(device);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("A controller of CAN FD without a wire, for tests");
MODULE_LICENSE("Dual BSD/GPL");
