// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* gpiofake.c: a GPIO chip of eight inputs, for tests of stopd: Debian's kernel has neither gpio-sim nor gpio-mockup.
 *
 *	echo 3 >/sys/module/gpiofake/parameters/levels	lines 0 and 1 are high, the others low
 *	echo N >/sys/module/gpiofake/parameters/present	the chip is unplugged; Y: it is plugged in again
 */
#include <linux/gpio/driver.h>
#include <linux/module.h>

static unsigned int levels;
module_param(levels, uint, 0600);

static bool present;
static DEFINE_MUTEX(lock);

static int get_direction(struct gpio_chip *chip, unsigned int line)
{
	return GPIO_LINE_DIRECTION_IN;
}

static int direction_input(struct gpio_chip *chip, unsigned int line)
{
	return 0;
}

static int get(struct gpio_chip *chip, unsigned int line)
{
	return READ_ONCE(levels) >> line & 1;
}

static struct gpio_chip chip;

static int plug(bool in)
{
	int status = 0;

	if (in && !present) {
		chip = (struct gpio_chip){ .label = "gpiofake",
					   .owner = THIS_MODULE,
					   .base = -1,
					   .ngpio = 8,
					   .get_direction = get_direction,
					   .direction_input = direction_input,
					   .get = get };
		status = gpiochip_add_data(&chip, NULL);
	} else if (!in && present) {
		gpiochip_remove(&chip);
	}
	if (!status)
		present = in;
	return status;
}

static int set_present(const char *text, const struct kernel_param *param)
{
	bool in;
	int status = kstrtobool(text, &in);

	mutex_lock(&lock);
	if (!status)
		status = plug(in);
	mutex_unlock(&lock);
	return status;
}

static const struct kernel_param_ops present_ops = { .set = set_present, .get = param_get_bool };
module_param_cb(present, &present_ops, &present, 0600);

static int __init begin(void)
{
	return plug(true);
}

static void __exit end(void)
{
	plug(false);
}

module_init(begin);
module_exit(end);
MODULE_DESCRIPTION("GPIO chip for tests");
MODULE_LICENSE("Dual BSD/GPL");
