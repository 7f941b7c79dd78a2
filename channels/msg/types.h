/* types.h: the messages, a table each.
 *
 *	ROW(kind, name, dims, used, unit, detail)
 *
 * kind	  u8 u16 u32 u64 i32 i64 f64; name, text (fixed lengths);
 *	  word, flags (detail: their words); group (detail: a struct)
 * dims	  [n] or [n][m] of an array, else nothing
 * used	  the u32 row of the same table that says how many elements count, or nothing: all of them
 * unit	  "rad", "N m", "" ...
 *
 * A word that is the name of a list which counts together with its own, as "position" in mode, says that there the
 * number in that list is meant.
 *
 * Rows are ordered so that nothing needs padding; the compiler checks it.  A changed table is a new version, unless a
 * reserved row, which was always 0, gets a name and a meaning that 0 does not change.
 */
#ifndef MSG_TYPES_H
#define MSG_TYPES_H

#include <stdint.h>

/* clang-format off */

#define MSG_JOINTS 48  /* Hubo has 42 places */
#define MSG_BUSES 8    /* per process */
#define MSG_FINGERS 4  /* scissor axis included */
#define MSG_CELLS 128
#define MSG_SOURCES 8  /* of references for one device */
#define MSG_SIZE_MAX 8192 /* two pages */

/* ---- words: W(prefix, name, word) ---- */

#define MSG_WORDS_FLAG(W) \
	W(FLAG, PARTIAL, "partial") W(FLAG, HELD, "held") W(FLAG, FREERUN, "freerun") \
	W(FLAG, SIMULATED, "simulated") W(FLAG, REPLAYED, "replayed")
#define MSG_WORDS_LIFE(W) \
	W(LIFE, DOWN, "down") W(LIFE, STARTING, "starting") W(LIFE, DISARMED, "disarmed") \
	W(LIFE, HOLDING, "holding") W(LIFE, HOMING, "homing") W(LIFE, ACTIVE, "active") \
	W(LIFE, FAULT, "fault") W(LIFE, STOPPING, "stopping")
#define MSG_WORD(prefix, name, word) word, /* as W: a list of the words */
#define MSG_WORDS_LEVEL(W) \
	W(LEVEL, RUN, "run") W(LEVEL, HOLD, "hold") W(LEVEL, ESTOP, "estop")
#define MSG_WORDS_ESTOP(W) \
	W(ESTOP, RAISE, "raise") W(ESTOP, LOWER, "lower")
#define MSG_WORDS_LATCH(W) \
	W(LATCH, POSITION_UNKNOWN, "position-unknown") W(LATCH, HOMING_ABORTED, "homing-aborted") \
	W(LATCH, HALTED_BY_OTHER, "halted-by-other") W(LATCH, WAITS_FOR_PERSON, "waits-for-person")
#define MSG_WORDS_LINK(W) \
	W(LINK, ABSENT, "absent") W(LINK, STOPPED, "stopped") W(LINK, ERROR_ACTIVE, "error-active") \
	W(LINK, WARNING, "warning") W(LINK, PASSIVE, "passive") W(LINK, BUS_OFF, "bus-off")
#define MSG_WORDS_MODE(W) \
	W(MODE, NONE, "none") W(MODE, POSITION, "position") W(MODE, VELOCITY, "velocity") \
	W(MODE, CURRENT, "current") W(MODE, COMPLIANT, "compliant") /* around position, as a spring */
#define MSG_WORDS_JOINT(W) \
	W(JOINT, HOMED, "homed") W(JOINT, ENABLED, "enabled") W(JOINT, MOVING, "moving") \
	W(JOINT, BRAKED, "braked") W(JOINT, FAULT, "fault") W(JOINT, WARNING, "warning") \
	W(JOINT, LIMIT_LOW, "limit-low") W(JOINT, LIMIT_HIGH, "limit-high") W(JOINT, SILENT, "silent") \
	W(JOINT, COMPLIANT, "compliant")
#define MSG_WORDS_GRIP(W) \
	W(GRIP, BASIC, "basic") W(GRIP, PINCH, "pinch") W(GRIP, WIDE, "wide") W(GRIP, SCISSOR, "scissor") \
	W(GRIP, UNKNOWN, "unknown")
#define MSG_WORDS_FINGER(W) \
	W(FINGER, MOVING, "moving") W(FINGER, OPENING_STOPPED, "stopped-opening") \
	W(FINGER, CLOSING_STOPPED, "stopped-closing") W(FINGER, ARRIVED, "arrived") W(FINGER, UNKNOWN, "unknown")
#define MSG_WORDS_ALARM(W) \
	W(ALARM, OVER_VOLTAGE, "over-voltage") W(ALARM, UNDER_VOLTAGE, "under-voltage") \
	W(ALARM, OVER_TEMPERATURE, "over-temperature") W(ALARM, UNDER_TEMPERATURE, "under-temperature") \
	W(ALARM, OVER_CURRENT, "over-current") W(ALARM, CHARGE_REFUSED, "charge-refused") \
	W(ALARM, DISCHARGE_REFUSED, "discharge-refused") W(ALARM, INTERNAL, "internal")
#define MSG_WORDS_SEVERITY(W) \
	W(SEVERITY, INFO, "info") W(SEVERITY, WARNING, "warning") W(SEVERITY, ERROR, "error") \
	W(SEVERITY, FATAL, "fatal")
#define MSG_WORDS_VERB(W) \
	W(VERB, NONE, "none") W(VERB, HOME, "home") W(VERB, RESET, "reset") W(VERB, CLEAR, "clear") \
	W(VERB, BIAS, "bias") W(VERB, ACTIVATE, "activate") W(VERB, SET, "set") W(VERB, GET, "get") \
	W(VERB, CANCEL, "cancel")
#define MSG_WORDS_BALANCE(W) \
	W(BALANCE, OFF, "off") W(BALANCE, STANDING_UP, "standing-up") W(BALANCE, STANDING, "standing") \
	W(BALANCE, SITTING_DOWN, "sitting-down") W(BALANCE, FALLEN, "fallen")
#define MSG_WORDS_BODY(W) \
	W(BODY, HELD, "held") W(BODY, SITTING, "sitting") W(BODY, STANDING, "standing") W(BODY, FALLEN, "fallen")
#define MSG_WORDS_INPUT(W) \
	W(INPUT, LOST, "lost") W(INPUT, PREDICTED, "predicted") W(INPUT, FRESH, "fresh")
#define MSG_WORDS_SOURCE(W) \
	W(SOURCE, ABSENT, "absent") W(SOURCE, STALE, "stale") W(SOURCE, REFUSED, "refused") \
	W(SOURCE, READY, "ready") W(SOURCE, IN_CHARGE, "in-charge")

/* ---- groups ---- */

#define MSG_HEADER(ROW) \
	ROW(u32, type, , , "", ) \
	ROW(u16, version, , , "", ) \
	ROW(u16, uncertainty_us, , , "us", ) /* of all times, which are another machine's; 0: they are this one's */ \
	ROW(u32, size, , , "B", ) \
	ROW(u32, incarnation, , , "", ) \
	ROW(flags, flags, , , "", msg_words_flag) \
	ROW(u32, for_incarnation, , , "", ) /* references: the driver's they are meant for */ \
	ROW(u64, sequence, , , "", ) \
	ROW(i64, t_sample_ns, , , "ns", ) /* of the oldest frame used */ \
	ROW(i64, t_publish_ns, , , "ns", ) \
	ROW(i64, valid_until_ns, , , "ns", ) /* references; 0 elsewhere */

/* References not taken, by reason. */
#define MSG_REFUSED(ROW) \
	ROW(u32, no_validity, , , "", ) \
	ROW(u32, past, , , "", ) \
	ROW(u32, too_far, , , "", ) \
	ROW(u32, other_type, , , "", ) \
	ROW(u32, other_version, , , "", ) \
	ROW(u32, other_size, , , "", ) \
	ROW(u32, not_finite, , , "", ) \
	ROW(u32, other_incarnation, , , "", )

#define MSG_BUS(ROW) \
	ROW(name, name, , , "", ) \
	ROW(name, interface, , , "", ) \
	ROW(word, state, , , "", msg_words_link) \
	ROW(u32, can_reset, , , "", ) /* 1: a process here may reset the link */ \
	ROW(i64, stalled_since_ns, , , "ns", ) /* 0: it is not */ \
	ROW(i64, last_confirmed_ns, , , "ns", ) \
	ROW(i64, last_received_ns, , , "ns", ) \
	ROW(u64, sent, , , "", ) \
	ROW(u64, confirmed, , , "", ) \
	ROW(u64, replaced, , , "", ) \
	ROW(u64, expired, , , "", ) \
	ROW(u64, lost, , , "", ) \
	ROW(u64, stale, , , "", ) \
	ROW(u64, rx_dropped, , , "", ) \
	ROW(u64, errors, , , "", ) /* error frames: every process on a bus sees each */

/* The part of a state that every driver publishes. */
#define MSG_COMMON(ROW) \
	ROW(word, lifecycle, , , "", msg_words_life) \
	ROW(word, level, , , "", msg_words_level) /* of the e-stop, as obeyed */ \
	ROW(u64, epoch, , , "", ) \
	ROW(u64, boot, [2], , "", ) /* boot id: all that follows up to latches holds in this boot only */ \
	ROW(u64, base_chan, , , "", ) /* id of the channel estop that holds the lowering obeyed */ \
	ROW(u64, base_seq, , , "", ) /* Ach sequence number of that lowering; 0: none is obeyed */ \
	ROW(word, base_level, , , "", msg_words_level) /* highest level since that lowering */ \
	ROW(flags, latches, , , "", msg_words_latch) /* conditions that wait for a person and outlive the process */ \
	ROW(u64, refs_taken, , , "", ) \
	ROW(group, refs_refused, , , "", msg_refused) \
	ROW(i64, period_ns, , , "ns", ) /* of its ticks */ \
	ROW(u64, ticks, , , "", ) \
	ROW(u64, skipped, , , "", ) \
	ROW(i64, late_p99_ns, , , "ns", ) \
	ROW(i64, late_max_ns, , , "ns", ) \
	ROW(u64, frames_odd, , , "", ) /* of unexpected length */ \
	ROW(u64, frames_missing, , , "", ) /* that should have come by their rate */ \
	ROW(u64, frames_withheld, , , "", ) /* motion frames that the loop did not let out */ \
	ROW(u32, put_timeouts, , , "", ) \
	ROW(u32, bus_count, , , "", ) \
	ROW(group, bus, [MSG_BUSES], bus_count, "", msg_bus)

#define MSG_CLOCK_BUS(ROW) \
	ROW(name, name, , , "", ) \
	ROW(u32, divider, , , "", ) \
	ROW(u32, reserved, , , "", ) \
	ROW(u64, sent, , , "", ) \
	ROW(u64, confirmed, , , "", ) \
	ROW(f64, load, , , "1", )

/* ---- messages: all begin with the header, every state with the common block after it ---- */

#define MSG_JOINT_STATE(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(group, common, , , "", msg_common) \
	ROW(u32, count, , , "", ) \
	ROW(u32, reserved, , , "", ) \
	ROW(name, joint, [MSG_JOINTS], count, "", ) \
	ROW(f64, position, [MSG_JOINTS], count, "rad", ) \
	ROW(f64, velocity, [MSG_JOINTS], count, "rad/s", ) \
	ROW(f64, current, [MSG_JOINTS], count, "A", ) \
	ROW(f64, temperature, [MSG_JOINTS], count, "K", ) /* NaN: not measured */ \
	ROW(i64, age_ns, [MSG_JOINTS], count, "ns", ) \
	ROW(word, lifecycle, [MSG_JOINTS], count, "", msg_words_life) /* fault where it, or its group, has failed */ \
	ROW(flags, status, [MSG_JOINTS], count, "", msg_words_joint) \
	ROW(u32, state_word, [MSG_JOINTS], count, "", ) /* as the device gave it */

#define MSG_JOINT_REF(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(u32, count, , , "", ) \
	ROW(u32, reserved, , , "", ) \
	ROW(word, mode, [MSG_JOINTS], count, "", msg_words_mode) \
	ROW(f64, position, [MSG_JOINTS], count, "rad", ) \
	ROW(f64, velocity, [MSG_JOINTS], count, "rad/s", ) \
	ROW(f64, current, [MSG_JOINTS], count, "A", )

#define MSG_IMU(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(group, common, , , "", msg_common) \
	ROW(f64, acceleration, [3], , "m/s^2", ) \
	ROW(f64, rate, [3], , "rad/s", ) \
	ROW(f64, orientation, [4], , "1", ) /* w x y z; NaN: the device gives none */ \
	ROW(f64, temperature, , , "K", ) \
	ROW(i64, age_ns, , , "ns", ) \
	ROW(u32, status, , , "", ) /* as the device gave it */ \
	ROW(u32, samples, , , "", ) /* averaged into this one */

#define MSG_FT(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(group, common, , , "", msg_common) \
	ROW(f64, force, [3], , "N", ) \
	ROW(f64, torque, [3], , "N m", ) \
	ROW(f64, bias_force, [3], , "N", ) /* already subtracted */ \
	ROW(f64, bias_torque, [3], , "N m", ) \
	ROW(i64, age_ns, , , "ns", ) \
	ROW(u32, status, , , "", ) \
	ROW(u32, saturated, , , "", ) /* a bit per gauge */

#define MSG_GRIPPER_STATE(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(group, common, , , "", msg_common) \
	ROW(word, grip, , , "", msg_words_grip) \
	ROW(u32, activated, , , "", ) \
	ROW(u32, status, , , "", ) \
	ROW(u32, count, , , "", ) \
	ROW(f64, position, [MSG_FINGERS], count, "1", ) /* 0 open, 1 closed */ \
	ROW(f64, current, [MSG_FINGERS], count, "A", ) \
	ROW(word, finger, [MSG_FINGERS], count, "", msg_words_finger) \
	ROW(i64, age_ns, , , "ns", )

#define MSG_GRIPPER_REF(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(word, grip, , , "", msg_words_grip) \
	ROW(u32, count, , , "", ) \
	ROW(f64, position, [MSG_FINGERS], count, "1", ) \
	ROW(f64, speed, [MSG_FINGERS], count, "1", ) \
	ROW(f64, force, [MSG_FINGERS], count, "1", )

#define MSG_BATTERY(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(group, common, , , "", msg_common) \
	ROW(f64, voltage, , , "V", ) \
	ROW(f64, current, , , "A", ) /* positive charges */ \
	ROW(f64, charge, , , "1", ) \
	ROW(f64, health, , , "1", ) \
	ROW(f64, temperature, , , "K", ) \
	ROW(f64, current_limit, , , "A", ) /* of discharge */ \
	ROW(i64, age_ns, , , "ns", ) \
	ROW(flags, alarms, , , "", msg_words_alarm) \
	ROW(u32, cell_count, , , "", ) \
	ROW(f64, cell, [MSG_CELLS], cell_count, "V", )

#define MSG_BUS_STATS(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(name, name, , , "", ) \
	ROW(name, interface, , , "", ) \
	ROW(word, state, , , "", msg_words_link) \
	ROW(u32, bitrate, , , "bit/s", ) \
	ROW(u32, tx_errors, , , "", ) /* the controller's counters */ \
	ROW(u32, rx_errors, , , "", ) \
	ROW(f64, load, , , "1", ) \
	ROW(f64, load_max, , , "1", ) \
	ROW(u64, frames, , , "", ) \
	ROW(u64, error_frames, , , "", ) \
	ROW(u64, bus_offs, , , "", ) \
	ROW(u64, resets, , , "", )

#define MSG_CLOCK(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(group, common, , , "", msg_common) \
	ROW(u64, cycle, , , "", ) \
	ROW(i64, t_cycle_ns, , , "ns", ) \
	ROW(i64, period_ns, , , "ns", ) \
	ROW(i64, late_ns, , , "ns", ) \
	ROW(u32, bus_count, , , "", ) \
	ROW(u32, reserved, , , "", ) \
	ROW(group, bus, [MSG_BUSES], bus_count, "", msg_clock_bus)

#define MSG_EVENT(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(word, severity, , , "", msg_words_severity) \
	ROW(u32, repeated, , , "", ) /* times since it was last sent */ \
	ROW(name, source, , , "", ) \
	ROW(name, code, , , "", ) \
	ROW(text, text, , , "", )

#define MSG_ESTOP(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(word, kind, , , "", msg_words_estop) \
	ROW(word, level, , , "", msg_words_level) \
	ROW(u64, epoch, , , "", ) /* a label: last + 1 for each lowering */ \
	ROW(u64, boot, [2], , "", ) /* boot id */ \
	ROW(u64, chan, [2], , "", ) /* ids of estop and estop-b */ \
	ROW(u64, seen, [2], , "", ) /* Ach sequence numbers its writer had read on estop and estop-b */ \
	ROW(i64, until_ns, , , "ns", ) /* of a lowering: drivers take it no later */ \
	ROW(u32, uid, , , "", ) \
	ROW(u32, pid, , , "", ) \
	ROW(name, who, , , "", ) \
	ROW(text, why, , , "", )

#define MSG_REQUEST(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(u64, id, , , "", ) \
	ROW(u32, client_pid, , , "", ) \
	ROW(word, verb, , , "", msg_words_verb) \
	ROW(name, key, , , "", ) \
	ROW(text, value, , , "", )

#define MSG_REPLY(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(u64, id, , , "", ) \
	ROW(u32, client_pid, , , "", ) \
	ROW(i32, result, , , "", ) /* 0, or -errno with the reason in words */ \
	ROW(text, error, , , "", ) \
	ROW(text, value, , , "", )

#define MSG_BALANCE_STATE(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(group, common, , , "", msg_common) \
	ROW(word, mode, , , "", msg_words_balance) \
	ROW(word, imu, , , "", msg_words_input) \
	ROW(word, wheels, , , "", msg_words_input) \
	ROW(word, waist, , , "", msg_words_input) \
	ROW(f64, pitch, , , "rad", ) /* of the base, forward positive */ \
	ROW(f64, pitch_rate, , , "rad/s", ) \
	ROW(f64, rate_bias, , , "rad/s", ) /* of the gyroscope, already subtracted */ \
	ROW(f64, lean, , , "rad", ) /* of the centre of mass, seen from the axle */ \
	ROW(f64, lean_rate, , , "rad/s", ) \
	ROW(f64, travel, , , "m", ) /* of the axle */ \
	ROW(f64, speed, , , "m/s", ) \
	ROW(f64, heading, , , "rad", ) /* left positive */ \
	ROW(f64, turn_rate, , , "rad/s", ) \
	ROW(f64, waist_position, , , "rad", ) /* as it is used: 0 straight, positive folds forward */ \
	ROW(f64, waist_velocity, , , "rad/s", ) \
	ROW(f64, speed_ref, , , "m/s", ) \
	ROW(f64, turn_rate_ref, , , "rad/s", ) \
	ROW(f64, current, [2], , "A", ) /* commanded: left, right */ \
	ROW(i64, age_ns, , , "ns", )

#define MSG_BALANCE_REF(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(f64, speed, , , "m/s", ) \
	ROW(f64, turn_rate, , , "rad/s", )

#define MSG_MUX_STATE(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(group, common, , , "", msg_common) \
	ROW(name, output, , , "", ) /* the device that gets the references */ \
	ROW(name, in_charge, , , "", ) /* source of the highest priority that is followed; empty: none */ \
	ROW(u64, handovers, , , "", ) \
	ROW(u32, source_count, , , "", ) \
	ROW(u32, joint_count, , , "", ) \
	ROW(name, source, [MSG_SOURCES], source_count, "", ) /* by priority, the first wins */ \
	ROW(word, state, [MSG_SOURCES], source_count, "", msg_words_source) \
	ROW(i64, age_ns, [MSG_SOURCES], source_count, "ns", ) /* of its newest reference */ \
	ROW(u64, taken, [MSG_SOURCES], source_count, "", ) \
	ROW(u64, refused, [MSG_SOURCES], source_count, "", ) \
	ROW(i32, author, [MSG_JOINTS], joint_count, "", ) /* place of the joint's source; -1: none */

/* The simulated body of the robot, as it really moves. */
#define MSG_BODY(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(word, mode, , , "", msg_words_body) \
	ROW(u32, falls, , , "", ) /* since the simulator was started */ \
	ROW(u32, starts, , , "", ) /* of the simulator; more than 1: it died, and the robot began again */ \
	ROW(u32, reserved, , , "", ) \
	ROW(f64, pitch, , , "rad", ) /* of the base, forward positive */ \
	ROW(f64, pitch_rate, , , "rad/s", ) \
	ROW(f64, lean, , , "rad", ) /* of the centre of mass, seen from the axle */ \
	ROW(f64, travel, , , "m", ) \
	ROW(f64, speed, , , "m/s", ) \
	ROW(f64, heading, , , "rad", ) \
	ROW(f64, turn_rate, , , "rad/s", ) \
	ROW(f64, waist_position, , , "rad", ) /* positive folds forward */ \
	ROW(f64, waist_velocity, , , "rad/s", ) \
	ROW(f64, waist_load, , , "N m", ) \
	ROW(f64, current, [2], , "A", ) /* of the wheels' motors: left, right */ \
	ROW(f64, push, , , "N", )

/* What the boards of a Hubo have stored, as it was read, in their own units.  A number that was never read, or may have
 * changed since, is -1; one that may be negative is NaN then. */
#define MSG_BOARD_PARAM(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(u32, count, , , "", ) \
	ROW(u32, reserved, , , "", ) \
	ROW(name, joint, [MSG_JOINTS], count, "", ) \
	ROW(i64, t_read_ns, [MSG_JOINTS], count, "ns", ) /* when the last reply was on the wire; 0: there was none */ \
	ROW(f64, home_offset, [MSG_JOINTS], count, "", ) /* encoder counts */ \
	ROW(f64, lower, [MSG_JOINTS], count, "", ) /* limits of position, encoder counts */ \
	ROW(f64, upper, [MSG_JOINTS], count, "", ) \
	ROW(i32, board, [MSG_JOINTS], count, "", ) /* its number; -1: none */ \
	ROW(i32, kp, [MSG_JOINTS], count, "", ) \
	ROW(i32, ki, [MSG_JOINTS], count, "", ) \
	ROW(i32, kd, [MSG_JOINTS], count, "", ) \
	ROW(i32, encoder, [MSG_JOINTS], count, "", ) /* bits 0 to 13 resolution, 14 auto-scale, 15 direction */ \
	ROW(i32, dead_zone, [MSG_JOINTS], count, "", ) \
	ROW(i32, home_direction, [MSG_JOINTS], count, "", ) \
	ROW(i32, home_mode, [MSG_JOINTS], count, "", ) \
	ROW(i32, search_turns, [MSG_JOINTS], count, "", ) \
	ROW(i32, acceleration, [MSG_JOINTS], count, "", ) /* the greatest */ \
	ROW(i32, velocity, [MSG_JOINTS], count, "", ) \
	ROW(i32, pwm, [MSG_JOINTS], count, "", ) \
	ROW(i32, current, [MSG_JOINTS], count, "", ) \
	ROW(i32, current_kp, [MSG_JOINTS], count, "", ) \
	ROW(i32, current_kd, [MSG_JOINTS], count, "", ) \
	ROW(i32, current_kf, [MSG_JOINTS], count, "", ) \
	ROW(i32, rate, [MSG_JOINTS], count, "ms", ) /* from here on of the board, the same for all its joints */ \
	ROW(i32, board_type, [MSG_JOINTS], count, "", ) \
	ROW(i32, home_acceleration, [MSG_JOINTS], count, "", ) \
	ROW(i32, home_to_limit, [MSG_JOINTS], count, "", ) \
	ROW(i32, home_to_offset, [MSG_JOINTS], count, "", ) \
	ROW(i32, jam_time, [MSG_JOINTS], count, "", ) \
	ROW(i32, saturation_time, [MSG_JOINTS], count, "", ) \
	ROW(i32, saturation_duty, [MSG_JOINTS], count, "%", ) \
	ROW(i32, jam_duty, [MSG_JOINTS], count, "%", ) \
	ROW(i32, input_difference, [MSG_JOINTS], count, "", ) \
	ROW(i32, error, [MSG_JOINTS], count, "", ) /* the greatest */ \
	ROW(i32, encoder_error, [MSG_JOINTS], count, "", )

/* A device as it is known before it moves: its joints, and what may be asked of them. */
#define MSG_DEVICE_INFO(ROW) \
	ROW(group, header, , , "", msg_header) \
	ROW(name, driver, , , "", ) /* the program */ \
	ROW(name, state_type, , , "", ) \
	ROW(name, ref_type, , , "", ) /* empty: it takes no references */ \
	ROW(i64, period_ns, , , "ns", ) /* of its ticks */ \
	ROW(i64, valid_max_ns, , , "ns", ) /* longest validity of a reference */ \
	ROW(u32, count, , , "", ) \
	ROW(u32, reserved, , , "", ) \
	ROW(name, joint, [MSG_JOINTS], count, "", ) \
	ROW(flags, modes, [MSG_JOINTS], count, "", msg_words_mode) /* that references may have, but for none */ \
	ROW(f64, position_min, [MSG_JOINTS], count, "rad", ) /* infinite, here and below: no limit */ \
	ROW(f64, position_max, [MSG_JOINTS], count, "rad", ) \
	ROW(f64, velocity, [MSG_JOINTS], count, "rad/s", ) \
	ROW(f64, acceleration, [MSG_JOINTS], count, "rad/s^2", ) \
	ROW(f64, jerk, [MSG_JOINTS], count, "rad/s^3", ) \
	ROW(f64, current, [MSG_JOINTS], count, "A", )

/* struct, table, number, version, name, messages retained.  Numbers are never used again for something else. */
#define MSG_TYPES(TYPE) \
	TYPE(msg_joint_state, MSG_JOINT_STATE, 1, 3, "joint-state", 64) \
	TYPE(msg_joint_ref, MSG_JOINT_REF, 2, 1, "joint-ref", 64) \
	TYPE(msg_imu, MSG_IMU, 3, 3, "imu", 64) \
	TYPE(msg_ft, MSG_FT, 4, 3, "force-torque", 64) \
	TYPE(msg_gripper_state, MSG_GRIPPER_STATE, 5, 3, "gripper-state", 64) \
	TYPE(msg_gripper_ref, MSG_GRIPPER_REF, 6, 1, "gripper-ref", 64) \
	TYPE(msg_battery, MSG_BATTERY, 7, 3, "battery", 64) \
	TYPE(msg_bus_stats, MSG_BUS_STATS, 8, 1, "bus-stats", 64) \
	TYPE(msg_clock, MSG_CLOCK, 9, 3, "clock", 64) \
	TYPE(msg_event, MSG_EVENT, 10, 1, "event", 64) \
	TYPE(msg_estop, MSG_ESTOP, 11, 2, "estop", 64) \
	TYPE(msg_request, MSG_REQUEST, 12, 1, "request", 64) \
	TYPE(msg_reply, MSG_REPLY, 13, 1, "reply", 64) \
	TYPE(msg_balance_state, MSG_BALANCE_STATE, 14, 1, "balance-state", 64) \
	TYPE(msg_balance_ref, MSG_BALANCE_REF, 15, 1, "balance-ref", 64) \
	TYPE(msg_mux_state, MSG_MUX_STATE, 16, 1, "mux-state", 64) \
	TYPE(msg_body, MSG_BODY, 17, 1, "body", 64) \
	TYPE(msg_board_param, MSG_BOARD_PARAM, 18, 1, "board-param", 64) \
	TYPE(msg_device_info, MSG_DEVICE_INFO, 19, 1, "device-info", 2)

/* ---- from the tables: enums and structs ---- */

#define MSG_NAME_SIZE 24
#define MSG_TEXT_SIZE 120

#define MSG_C_u8(d) uint8_t
#define MSG_C_u16(d) uint16_t
#define MSG_C_u32(d) uint32_t
#define MSG_C_u64(d) uint64_t
#define MSG_C_i32(d) int32_t
#define MSG_C_i64(d) int64_t
#define MSG_C_f64(d) double
#define MSG_C_name(d) msg_name
#define MSG_C_text(d) msg_text_field
#define MSG_C_word(d) uint32_t
#define MSG_C_flags(d) uint32_t
#define MSG_C_group(d) struct d

typedef char msg_name[MSG_NAME_SIZE];
typedef char msg_text_field[MSG_TEXT_SIZE];

#define MSG_VALUE(prefix, name, word) MSG_##prefix##_##name,
enum msg_life { MSG_WORDS_LIFE(MSG_VALUE) };
enum msg_level { MSG_WORDS_LEVEL(MSG_VALUE) };
enum msg_estop_kind { MSG_WORDS_ESTOP(MSG_VALUE) };
enum msg_link { MSG_WORDS_LINK(MSG_VALUE) };
enum msg_mode { MSG_WORDS_MODE(MSG_VALUE) };
enum msg_grip { MSG_WORDS_GRIP(MSG_VALUE) };
enum msg_finger { MSG_WORDS_FINGER(MSG_VALUE) };
enum msg_severity { MSG_WORDS_SEVERITY(MSG_VALUE) };
enum msg_verb { MSG_WORDS_VERB(MSG_VALUE) };
enum msg_balance { MSG_WORDS_BALANCE(MSG_VALUE) };
enum msg_body_mode { MSG_WORDS_BODY(MSG_VALUE) };
enum msg_input { MSG_WORDS_INPUT(MSG_VALUE) };
enum msg_source { MSG_WORDS_SOURCE(MSG_VALUE) };

#define MSG_BIT(prefix, name, word) MSG_##prefix##_BIT_##name,
enum { MSG_WORDS_FLAG(MSG_BIT) };
enum { MSG_WORDS_JOINT(MSG_BIT) };
enum { MSG_WORDS_ALARM(MSG_BIT) };
enum { MSG_WORDS_LATCH(MSG_BIT) };
#define MSG_BIT_VALUE(prefix, name, word) MSG_##prefix##_##name = 1u << MSG_##prefix##_BIT_##name,
enum msg_flag { MSG_WORDS_FLAG(MSG_BIT_VALUE) };
enum msg_joint_status { MSG_WORDS_JOINT(MSG_BIT_VALUE) };
enum msg_alarm { MSG_WORDS_ALARM(MSG_BIT_VALUE) };
enum msg_latch { MSG_WORDS_LATCH(MSG_BIT_VALUE) };
#define MSG_MODE_BIT(prefix, name, word) MSG_MODE_BIT_##name = 1u << MSG_##prefix##_##name,
enum msg_mode_bit { MSG_WORDS_MODE(MSG_MODE_BIT) };

#ifdef __cplusplus
#define MSG_ASSERT static_assert
#else
#define MSG_ASSERT __extension__ _Static_assert
#endif

#define MSG_MEMBER(kind, name, dims, used, unit, detail) MSG_C_##kind(detail) name dims;
#define MSG_MEMBER_SIZE(kind, name, dims, used, unit, detail) +sizeof(MSG_C_##kind(detail) dims)
#define MSG_STRUCT(struct_name, TABLE) \
	struct struct_name { TABLE(MSG_MEMBER) }; \
	MSG_ASSERT(sizeof(struct struct_name) == 0 TABLE(MSG_MEMBER_SIZE), #struct_name " has padding");

/* struct, table; a group is defined before the tables that use it */
#define MSG_GROUPS(GROUP) \
	GROUP(msg_header, MSG_HEADER) \
	GROUP(msg_refused, MSG_REFUSED) \
	GROUP(msg_bus, MSG_BUS) \
	GROUP(msg_common, MSG_COMMON) \
	GROUP(msg_clock_bus, MSG_CLOCK_BUS)
MSG_GROUPS(MSG_STRUCT)

#define MSG_TYPE_STRUCT(struct_name, TABLE, number, version, name, retained) \
	MSG_STRUCT(struct_name, TABLE) \
	MSG_ASSERT(sizeof(struct struct_name) <= MSG_SIZE_MAX, "one message is at most two pages");
MSG_TYPES(MSG_TYPE_STRUCT)

#define MSG_TYPE_NUMBER(struct_name, TABLE, number, version, name, retained) struct_name##_number = number,
enum msg_number { MSG_TYPES(MSG_TYPE_NUMBER) };
#define MSG_TYPE_VERSION(struct_name, TABLE, number, version, name, retained) struct_name##_version = version,
enum msg_version { MSG_TYPES(MSG_TYPE_VERSION) };

/* clang-format on */

#endif
