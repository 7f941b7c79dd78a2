/* orion.h: the cell broadcast of an Orion BMS; see hw-docs/devices/bms.md.  Pure. */
#pragma once

#include "can/bus/frame.h"

#define ORION_LEN 8

struct orion_cell {
	unsigned int number;	  /* from 0 */
	double voltage_v, open_v; /* instant, without load */
	double resistance_ohm;
	bool shunting; /* it is being balanced */
};

/* 0, or -EMSGSIZE: another length; -EBADMSG: the checksum does not match. */
int orion_decode(struct orion_cell *cell, const struct frame *frame);
