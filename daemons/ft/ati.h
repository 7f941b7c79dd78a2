/* ati.h: frames of an ATI Net CAN OEM force/torque sensor; see hw-docs/devices/ati.md.  Pure. */
#pragma once

#include "can/bus/frame.h"
#include "daemons/drv/mounting.h"

#define ATI_GAUGES 6
#define ATI_AXES 6 /* Fx Fy Fz Tx Ty Tz */
#define ATI_SERIAL_LEN 8
#define ATI_HALVES 2
#define ATI_ROW_FRAMES 3
#define ATI_STATUS_CAN_ERROR 0x4000u

/* The identifier is base * 16 + opcode.  Values are big endian. */
enum ati_opcode {
	ATI_GAUGE = 0x0,       /* no byte; evens: status (u16), gauges 0, 2, 4 (i16 each) */
	ATI_ODDS = 0x1,	       /* the other half of the reply: gauges 1, 3, 5 */
	ATI_MATRIX = 0x2,      /* axis; three replies of two f32 */
	ATI_SERIAL = 0x5,      /* no byte; 8 letters */
	ATI_CALIBRATION = 0x6, /* index; index */
	ATI_COUNTS = 0x7,      /* no byte; counts for each unit of force, of torque (u32 each) */
	ATI_UNITS = 0x8,       /* no byte; codes of force, of torque (u8 each) */
	ATI_RESET = 0xC,       /* no byte; no reply */
	ATI_FIRMWARE = 0xF,    /* no byte; major, minor (u8 each), build (u16) */
};

/* The frame of a request that carries argument, if the opcode has one. */
void ati_encode(struct frame *frame, unsigned int base, enum ati_opcode opcode, uint8_t argument);

/* ---- what it is ---- */

struct ati_firmware {
	uint8_t major, minor;
	uint16_t build;
};

/* 0, or -EMSGSIZE: not of this length; -EPROTO: of other contents. */
int ati_decode_serial(char serial[ATI_SERIAL_LEN + 1], const struct frame *frame);
int ati_decode_firmware(struct ati_firmware *firmware, const struct frame *frame);
int ati_decode_counts(uint32_t counts[2], const struct frame *frame); /* 0 counts: -EPROTO */
int ati_decode_units(uint8_t codes[2], const struct frame *frame);
int ati_decode_calibration(uint8_t *index, const struct frame *frame);
/* One of the three frames of a row, the place-th.  The second and third may have the identifier of the first, or the
 * two that follow it. */
int ati_decode_row(double row[ATI_GAUGES], unsigned int place, const struct frame *frame);

/* N or N m for a unit of this code; 0: unknown code. */
double ati_force_n(uint8_t code);
double ati_torque_nm(uint8_t code);

/* ---- samples ---- */

struct ati_sample {
	int64_t t_ns; /* when its first half was on the wire */
	uint16_t status;
	int16_t gauge[ATI_GAUGES];
};

/* The two halves of the sample that was asked for.  Begins as zeros. */
struct ati_halves {
	bool evens;   /* are there */
	bool spoiled; /* another sample may come in between: the rest of this one is not taken */
	struct ati_sample sample;
};

/* A request leaves: what is there of an older sample is dropped. */
void ati_halves_begin(struct ati_halves *halves);
/* A reply to it.  true: with it the sample is complete. */
bool ati_halves_take(struct ati_halves *halves, const struct frame *frame, int64_t t_ns, struct ati_sample *sample);

/* A bit for each gauge that is limit counts or more from zero. */
uint32_t ati_saturated(const struct ati_sample *sample, int32_t limit);

/* ---- wrenches: force in N, torque in N m ---- */

struct ati_wrench {
	double force_n[3], torque_nm[3];
};

struct ati_calibration {
	double matrix[ATI_AXES][ATI_GAUGES];
	double force_n, torque_nm; /* of a count */
};

struct ati_wrench ati_measure(const struct ati_calibration *calibration, const struct ati_sample *sample);
void ati_mount(const struct mounting *mounting, struct ati_wrench *wrench);
/* The wrench of a mass at center; direction: of gravity, of any length but 0. */
struct ati_wrench ati_weight(double mass_kg, const double center_m[3], const double direction[3]);
/* a + factor * b */
struct ati_wrench ati_add(const struct ati_wrench *a, double factor, const struct ati_wrench *b);
