/* drv_fault.c: the faults of a device, as a set: of all of it, or of single joints and their groups.
 *
 * One joint that fails takes its group with it, unless the setting joint_independent says no; the others go on.  A bus
 * that is dead takes the joints that hang on it, or the device if no joint does; a row that is silent takes the device.
 * When the last joint has failed, the device has.
 *
 * Checked: covered.
 */
#include "daemons/drv/drv_inside.h"

/* ---- declaring ---- */

void drv_joint_group(struct drv *drv, unsigned int joint, unsigned int group)
{
	drv->joint_groups[joint] = group;
}

void drv_joint_bus(struct drv *drv, unsigned int joint, unsigned int bus)
{
	drv->joint_buses[joint] = bus + 1;
	drv->buses[bus].joints = true;
}

/* ---- the set ---- */

static unsigned int find(const struct drv *drv, unsigned int joint, const char *code)
{
	unsigned int i = 0;

	while (i < drv->faults_n && (drv->faults[i].joint != joint || strcmp(drv->faults[i].code, code) != 0))
		i++;
	return i;
}

/* A machine without time is the cause that is known: what the driver guesses, behind a semicolon, makes room for it. */
static void report(struct drv *drv, const char *code, const char *fmt, va_list args)
	__attribute__((format(printf, 3, 0)));

static void report(struct drv *drv, const char *code, const char *fmt, va_list args)
{
	char text[2 * MSG_TEXT_SIZE], skips[DRV_SKIPS_TEXT_MAX];
	size_t len;

	if (!drv_skips_explain(code) || !drv_skips_many(&drv->skips)) {
		report_event(&drv->report, clock_now_ns(), MSG_SEVERITY_ERROR, code, fmt, args);
		return;
	}
	vsnprintf(text, sizeof(text), fmt, args);
	len = strcspn(text, ";");
	drv_skips_text(&drv->skips, skips);
	len = num_min(len, MSG_TEXT_SIZE - 1 - (int64_t)strlen(skips));
	drv_event(drv, MSG_SEVERITY_ERROR, code, "%.*s%s", (int)len, text, skips);
}

/* A fault without room counts for the whole device until another fault ends. */
void drv_fault(struct drv *drv, unsigned int joint, const char *code, const char *fmt, ...)
{
	char name[MSG_NAME_SIZE];
	va_list args;

	snprintf(name, sizeof(name), "%s", code);
	if (find(drv, joint, name) < drv->faults_n || drv->faults_full)
		return;
	if (drv->faults_n == DRV_FAULTS_MAX) {
		drv->faults_full = true;
	} else {
		drv->faults[drv->faults_n].joint = joint;
		memcpy(drv->faults[drv->faults_n++].code, name, sizeof(name));
	}
	va_start(args, fmt);
	report(drv, name, fmt, args);
	va_end(args);
}

void drv_fault_clear(struct drv *drv, unsigned int joint, const char *code)
{
	char last[MSG_NAME_SIZE];
	unsigned int over = 0;

	for (unsigned int i = drv->faults_n; i-- > 0;) {
		if (drv->faults[i].joint != joint || (code && strncmp(drv->faults[i].code, code, MSG_NAME_SIZE - 1)))
			continue;
		if (!over++)
			memcpy(last, drv->faults[i].code, sizeof(last));
		drv->faults[i] = drv->faults[--drv->faults_n];
	}
	if (!over)
		return;
	drv->faults_full = false;
	if (over > 1)
		drv_event(drv, MSG_SEVERITY_INFO, "well", "%s and %u more are over", last, over - 1);
	else
		drv_event(drv, MSG_SEVERITY_INFO, "well", "%s is over", last);
}

bool drv_fault_active(const struct drv *drv, const char *code)
{
	for (unsigned int i = 0; i < drv->faults_n; i++)
		if (!strcmp(drv->faults[i].code, code))
			return true;
	return false;
}

/* ---- what follows from it ---- */

const char *drv_fault_device(const struct drv *drv)
{
	bool any = false;

	for (unsigned int i = 0; i < drv->faults_n; i++)
		if (drv->faults[i].joint == DRV_ALL)
			return drv->faults[i].code;
	if (drv->faults_full)
		return "too many faults";
	for (unsigned int i = 0; i < drv->buses_n; i++) {
		if (!drv->buses[i].joints && !drv->driver->outlives_buses && drv_bus_is_dead(&drv->buses[i]))
			return "its bus is dead";
		if (drv_bus_is_silent(&drv->buses[i]))
			return "it is silent";
	}
	for (unsigned int i = 0; i < drv->joints_n; i++) {
		if (!drv->joint_faulty[i] && !drv->joint_absent[i])
			return NULL;
		any |= drv->joint_faulty[i];
	}
	if (!any)
		return NULL;
	return drv->faults_n ? drv->faults[0].code : "its bus is dead";
}

/* failed begins as false. */
static void find_failed(const struct drv *drv, bool failed[MSG_JOINTS])
{
	for (unsigned int i = 0; i < drv->faults_n; i++)
		if (drv->faults[i].joint < drv->joints_n)
			failed[drv->faults[i].joint] = true;
	for (unsigned int i = 0; i < drv->joints_n && !drv->driver->outlives_buses; i++)
		if (drv->joint_buses[i])
			failed[i] |= drv_bus_is_dead(&drv->buses[drv->joint_buses[i] - 1]);
}

void drv_fault_spread(struct drv *drv)
{
	bool failed[MSG_JOINTS] = { false };

	find_failed(drv, failed);
	memcpy(drv->joint_faulty, failed, drv->joints_n * sizeof(*failed));
	for (unsigned int i = 0; i < drv->joints_n && !drv->setup.joint_independent; i++)
		for (unsigned int j = 0; j < drv->joints_n && failed[i]; j++)
			drv->joint_faulty[j] |= drv->joint_groups[j] == drv->joint_groups[i];
}
