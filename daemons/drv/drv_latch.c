/* drv_latch.c: conditions that only a person may end.  Checked: covered. */
#include "daemons/drv/drv_inside.h"

#define HOMING_ENDS (MSG_LATCH_POSITION_UNKNOWN | MSG_LATCH_HOMING_ABORTED)

static const char *const words[] = { MSG_WORDS_LATCH(MSG_WORD) NULL };

/* All of them have room. */
static const char *words_of(uint32_t latches, char text[MSG_TEXT_SIZE])
{
	char *end = text;

	for (const char *const *word = words; *word; word++, latches >>= 1)
		if (latches & 1)
			end += sprintf(end, "%s%s", end == text ? "" : ", ", *word);
	return text;
}

/* ---- what a driver says ---- */

static void set(struct drv *drv, uint32_t latches, const char *code, const char *text)
{
	const uint32_t before = drv->latches;
	char code_before[MSG_NAME_SIZE];

	memcpy(code_before, drv->latch_code, sizeof(code_before));
	snprintf(drv->latch_code, sizeof(drv->latch_code), "%s", code);
	drv->latches |= latches;
	drv->unlatching &= ~latches;
	if (drv->latches == before && !strcmp(drv->latch_code, code_before))
		return;
	if (!drv_fault_active(drv, drv->latch_code))
		drv_event(drv, MSG_SEVERITY_ERROR, drv->latch_code, "%s", text);
}

void drv_latch(struct drv *drv, uint32_t latches, const char *code, const char *fmt, ...)
{
	char text[MSG_TEXT_SIZE];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	drv->latched_here = true;
	set(drv, latches, code, text);
}

void drv_unlatch(struct drv *drv, uint32_t latches)
{
	drv->unlatching |= latches & drv->latches;
}

uint32_t drv_latched(const struct drv *drv)
{
	return drv->latches;
}

const void *drv_previous(const struct drv *drv)
{
	return drv->previous.found ? &drv->previous.state : NULL;
}

/* ---- what the loop does with it ---- */

/* A sensor moves nothing, and no person is asked for it. */
void drv_latch_begin(struct drv *drv)
{
	char list[MSG_TEXT_SIZE], text[MSG_TEXT_SIZE];

	if (!drv->driver->ref || !drv->previous.latches)
		return;
	if (drv->previous.lost)
		snprintf(text, sizeof(text),
			 "what was latched before cannot be read: all is; the request clear ends it");
	else
		snprintf(text, sizeof(text), "since before this start: %.67s; the request clear ends it",
			 words_of(drv->previous.latches, list));
	set(drv, drv->previous.latches, "latched", text);
}

bool drv_latch_blocks(const struct drv *drv)
{
	return drv->latches & ~(uint32_t)(drv->homing ? HOMING_ENDS : 0);
}

void drv_latch_published(struct drv *drv)
{
	if (!drv->unlatching)
		return;
	drv->latches &= ~drv->unlatching;
	drv->unlatching = 0;
	if (!drv->latches)
		drv_event(drv, MSG_SEVERITY_INFO, "well", "%s is over", drv->latch_code);
}

/* ---- requests ---- */

bool drv_latch_refuses(struct drv *drv)
{
	const uint32_t in_the_way = drv->latches & ~(uint32_t)HOMING_ENDS;
	char list[MSG_TEXT_SIZE];

	if (!in_the_way)
		return false;
	drv_why(drv, "latched: %s; the request clear comes first", words_of(in_the_way, list));
	return true;
}

int drv_latch_clear(struct drv *drv)
{
	const char *wrong = drv_fault_device(drv);

	if (!drv->up || wrong)
		return drv_refuse(drv, -EPERM, "the device is not well: %s", wrong ? wrong : "it is starting");
	drv_unlatch(drv, drv->latches);
	drv_why(drv, "cleared");
	return 0;
}
