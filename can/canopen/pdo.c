/* pdo.c: sets up a CANopen node.  Checked: covered. */
#include "can/canopen/pdo.h"

#define MAPPINGS 0x200
#define COB 1
#define TYPE 2

/* ---- scripts ---- */

void pdo_add(struct pdo_script *script, enum pdo_how how, uint16_t index, uint8_t sub, uint8_t bytes, uint32_t value)
{
	if (script->n == PDO_STEPS_MAX) {
		script->full = true;
		return;
	}
	script->steps[script->n++] =
		(struct pdo_step){ .index = index, .sub = sub, .bytes = bytes, .how = (uint8_t)how, .value = value };
}

void pdo_map(struct pdo_script *script, const struct pdo *pdo)
{
	const uint16_t at = (uint16_t)((unsigned int)pdo->kind + pdo->number - 1);

	pdo_add(script, PDO_STEP_WRITE, at, COB, 4, pdo->id | PDO_OFF);
	if (pdo->mapped) {
		pdo_add(script, PDO_STEP_WRITE, at + MAPPINGS, 0, 1, 0);
		for (unsigned int i = 0; i < pdo->mapped; i++)
			pdo_add(script, PDO_STEP_SET, at + MAPPINGS, (uint8_t)(i + 1), 4, pdo->object[i]);
		pdo_add(script, PDO_STEP_SET, at + MAPPINGS, 0, 1, pdo->mapped);
	}
	pdo_add(script, PDO_STEP_SET, at, TYPE, 1, pdo->type);
	pdo_add(script, PDO_STEP_SET, at, COB, 4, pdo->id);
}

void pdo_off(struct pdo_script *script, enum pdo_kind kind, unsigned int number)
{
	pdo_add(script, PDO_STEP_DISABLE, (uint16_t)((unsigned int)kind + number - 1), COB, 4, 0);
}

/* ---- a run ---- */

void pdo_begin(struct pdo_script *script, enum pdo_mode mode)
{
	script->at = script->tries = 0;
	script->checks = mode == PDO_CHECK;
	script->writes_off = false;
	for (unsigned int i = 0; i < script->n; i++) /* what was read is of a node that may have started again since */
		if (script->steps[i].how == PDO_STEP_READ)
			script->steps[i].value = 0;
}

/* Is there anything to do in this pass?  The first one writes, the second one reads. */
static bool is_due(const struct pdo_script *script, const struct pdo_step *step)
{
	switch ((enum pdo_how)step->how) {
	case PDO_STEP_WRITE:
		return !script->checks;
	case PDO_STEP_READ:
	case PDO_STEP_CHECK:
		return script->checks;
	case PDO_STEP_SET:
	case PDO_STEP_DISABLE:
		break;
	}
	return true;
}

static void find_due(struct pdo_script *script)
{
	for (;; script->at++) {
		if (script->at == script->n && !script->checks) {
			script->at = 0;
			script->checks = true;
		}
		if (script->at == script->n || is_due(script, &script->steps[script->at]))
			return;
	}
}

/* The transfer of the step that is due reads; else it writes. */
static bool is_read(const struct pdo_script *script, const struct pdo_step *step)
{
	return script->checks || (step->how == PDO_STEP_DISABLE && !script->writes_off);
}

enum pdo_result pdo_step(struct pdo_script *script, unsigned int node, struct frame *request)
{
	const struct pdo_step *step;

	find_due(script);
	if (script->at == script->n)
		return PDO_DONE;
	step = &script->steps[script->at];
	if (is_read(script, step))
		sdo_read(request, node, step->index, step->sub);
	else
		sdo_write(request, node, step->index, step->sub, step->value, step->bytes);
	return PDO_BUSY;
}

static enum pdo_result next(struct pdo_script *script)
{
	script->at++;
	script->tries = 0;
	script->writes_off = false;
	find_due(script);
	return script->at == script->n ? PDO_DONE : PDO_BUSY;
}

/* A value was read, in either pass. */
static enum pdo_result got(struct pdo_script *script, struct pdo_step *step, uint32_t value)
{
	if (step->how == PDO_STEP_READ) {
		step->value = value;
	} else if (step->how == PDO_STEP_DISABLE) {
		if (script->checks && !(value & PDO_OFF))
			return PDO_DIFFERS;
		step->value = value | PDO_OFF;
		if (!script->checks && !(value & PDO_OFF)) {
			script->writes_off = true;
			return PDO_BUSY;
		}
	} else if (value != step->value) {
		return PDO_DIFFERS;
	}
	return next(script);
}

enum pdo_result pdo_done(struct pdo_script *script, uint32_t code, uint32_t value)
{
	struct pdo_step *step = &script->steps[script->at];

	if (code == SDO_NO_REPLY)
		return ++script->tries < PDO_TRIES ? PDO_BUSY : PDO_SILENT;
	if (code) /* a PDO that the device does not have is off */
		return step->how == PDO_STEP_DISABLE && code == SDO_ABSENT ? next(script) : PDO_REFUSED;
	return is_read(script, step) ? got(script, step, value & UINT32_MAX >> 8 * (4 - step->bytes)) : next(script);
}

const struct pdo_step *pdo_at(const struct pdo_script *script)
{
	return &script->steps[script->at < script->n ? script->at : script->n - 1];
}

uint32_t pdo_value(const struct pdo_script *script, uint16_t index, uint8_t sub)
{
	for (unsigned int i = 0; i < script->n; i++) {
		const struct pdo_step *step = &script->steps[i];

		if (step->how == PDO_STEP_READ && step->index == index && step->sub == sub)
			return step->value;
	}
	return 0;
}
