/* amc.h: the codec of AMC DigiFlex drives: objects, PDOs and their scaling; hw-docs/devices/amc.md.
 *
 *	struct amc_scale scale = { .kp_a = 20, .ks_hz = 20000, .ki = 1, .counts_per_rad = 4000 * 15 / (2 * M_PI) };
 *
 *	amc_encode(&frame, id, AMC_MODE_CURRENT, 0x0F, 5.0, &scale);	2E2#0F000020
 *	amc_decode(&sample, &frame, AMC_POSITION, &scale);		TPDO 26: statusword, position, current
 *
 * Values are of the joint, in SI units: counts_per_rad includes the gear, and is negative for a drive that counts
 * backwards; then currents change their sign, too.  Pure.
 */
#pragma once

#include "can/bus/frame.h"

/* Identifiers of a node's PDOs: base + step * node + one of these. */
enum amc_pdo {
	AMC_RPDO_POSITION,
	AMC_RPDO_VELOCITY,
	AMC_RPDO_CURRENT,
	AMC_TPDO_POSITION,
	AMC_TPDO_VELOCITY,
	AMC_TPDO_CURRENT,
	AMC_TPDO_STATUS,
};

/* Object 0x6060. */
enum amc_mode { AMC_MODE_POSITION = 1, AMC_MODE_VELOCITY = 3, AMC_MODE_CURRENT = 4 };

/* Objects: index << 8 | sub-index. */
#define AMC_KP 0x20D80Cu  /* u16, 0.1 A: peak current */
#define AMC_KS 0x20D824u  /* u32, kHz * 2^16: switching frequency */
#define AMC_KI 0x203208u  /* u16: feedback interpolation */
#define AMC_KOV 0x20D809u /* u16, 0.1 V: over-voltage limit */
#define AMC_VOLTAGE 0x200F01u
#define AMC_DRIVE_PROTECTION 0x200202u
#define AMC_SYSTEM_PROTECTION 0x200203u
#define AMC_DRIVE_STATUS 0x200205u
#define AMC_TIMER_MS 0x212000u
#define AMC_TIMER_TPDOS 0x212100u
#define AMC_TIMER_2_TPDOS 0x212400u
#define AMC_TIMER_26 (1u << 9) /* bits of AMC_TIMER_TPDOS */
#define AMC_TIMER_4 (1u << 2)
#define AMC_TIMER_3 (1u << 1)
#define AMC_INDEX(object) ((uint16_t)((object) >> 8))
#define AMC_SUB(object) ((uint8_t)(object))

struct amc_scale {
	double kp_a, ks_hz;
	unsigned int ki;
	double counts_per_rad;
};

enum amc_layout {
	AMC_POSITION,	   /* statusword, position, current: TPDO 26 */
	AMC_VELOCITY,	   /* statusword, velocity, current: TPDO 26 */
	AMC_POSITION_ONLY, /* statusword, position: TPDO 3 */
	AMC_VELOCITY_ONLY, /* statusword, velocity: TPDO 4 */
};

struct amc_sample {
	uint16_t status;
	double position_rad, velocity_rad_s, current_a; /* those that are in the frame; others stay as they were */
};

double amc_kp_a(uint32_t raw);
double amc_ks_hz(uint32_t raw);
double amc_voltage_v(uint16_t raw, uint32_t kov);

unsigned int amc_layout_len(enum amc_layout layout);

/* A command for a mode.  0; -EDOM: NaN or infinite, or the scale is not known; -ERANGE: the frame cannot say it. */
int amc_encode(struct frame *frame, uint32_t id, enum amc_mode mode, uint16_t controlword, double value,
	       const struct amc_scale *scale);
/* 0, or -EMSGSIZE. */
int amc_decode(struct amc_sample *sample, const struct frame *frame, enum amc_layout layout,
	       const struct amc_scale *scale);
