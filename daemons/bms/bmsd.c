/* bmsd.c: a battery: a Pylontech pack, and the cells that an Orion BMS broadcasts.  Each telegram is a message. */
#include <math.h>

#include "daemons/bms/bms.h"
#include "daemons/bms/bmsd_settings.h"
#include "daemons/bms/orion.h"
#include "daemons/bms/pylon.h"
#include "daemons/drv/drv_missed.h"

#define SILENT_PERIODS 3
/* An event ends so far from its threshold, so that a value near it does not raise one after the other. */
#define CHARGE_BAND 0.03 /* of a full battery */
#define TEMPERATURE_BAND_K 3.0
#define IMBALANCE_BAND_V 0.02
#define CURRENT_BAND_A 1.0
#define VOLTAGE_BAND_V 0.5

enum { KEEP_ALIVE };						    /* the row it sends */
enum { LIMITS, CHARGE, MEASURED, ALARMS, PERMITS, CELL, RECEIVES }; /* the rows it receives */

/* The quantities that have a threshold, by the names of their events. */
enum { LOW, CRITICAL, HOT, COLD, IMBALANCE, CURRENT, HIGH_VOLTAGE, LOW_VOLTAGE, THRESHOLDS };
static const struct {
	const char *code, *clear, *text, *unit;
	enum msg_severity severity;
} names[THRESHOLDS] = {
	[LOW] = { "charge-low", "charge-low-clear", "the charge is", "%", MSG_SEVERITY_WARNING },
	[CRITICAL] = { "charge-critical", "charge-critical-clear", "the charge is", "%", MSG_SEVERITY_ERROR },
	[HOT] = { "over-temperature", "over-temperature-clear", "the temperature is", "degC", MSG_SEVERITY_ERROR },
	[COLD] = { "under-temperature", "under-temperature-clear", "the temperature is", "degC", MSG_SEVERITY_WARNING },
	[IMBALANCE] = { "imbalance", "imbalance-clear", "the cells differ by", "mV", MSG_SEVERITY_WARNING },
	[CURRENT] = { "over-current", "over-current-clear", "it discharges with", "A", MSG_SEVERITY_WARNING },
	[HIGH_VOLTAGE] = { "over-voltage", "over-voltage-clear", "the voltage is", "V", MSG_SEVERITY_WARNING },
	[LOW_VOLTAGE] = { "under-voltage", "under-voltage-clear", "the voltage is", "V", MSG_SEVERITY_WARNING },
};

struct bmsd {
	struct bmsd_settings settings; /* first: the loop fills them in */
	struct pylon pylon;
	struct bms_cells cells;
	struct pylon_pack pack; /* of the last telegram */
	int64_t started_ns;
	int64_t keep_alive_ns; /* the next one; 0: now */
	bool crossed[THRESHOLDS];
	uint32_t protections, warnings, refused; /* reported */
	bool wants_charge, cells_missing;
	uint32_t checksum, unknown; /* frames of cells whose checksum does not match, or that there are not */
	uint32_t checksum_noted, unknown_noted, telegrams_noted; /* reported */
};

/* ---- declaring ---- */

static int declare(void *self, struct drv *drv, struct error_sink *errors)
{
	static const struct drv_receive rows[RECEIVES] = {
		[LIMITS] = { .id = PYLON_ID_LIMITS, .len_min = 6, .len_max = 8 },
		[CHARGE] = { .id = PYLON_ID_CHARGE, .len_min = 4, .len_max = 6 },
		[MEASURED] = { .id = PYLON_ID_MEASURED, .len_min = 6, .len_max = 6 },
		[ALARMS] = { .id = PYLON_ID_ALARMS, .len_min = 7, .len_max = 7 },
		[PERMITS] = { .id = PYLON_ID_PERMITS, .len_min = 2, .len_max = 2 },
		[CELL] = { .len_min = ORION_LEN, .len_max = ORION_LEN },
	};
	struct bmsd *b = self;
	const struct bmsd_settings *s = &b->settings;
	const struct drv_send keep_alive = {
		.row = { .id = PYLON_ID_KEEP_ALIVE, .class = SLOTS_LATEST, .period_ns = s->keep_alive_ns },
		.len = PYLON_KEEP_ALIVE_LEN,
	};

	if (s->charge_critical > s->charge_low)
		error_add(errors, "charge_critical: it must not be above charge_low");
	if (s->temperature_low_c >= s->temperature_high_c)
		error_add(errors, "temperature_low: it must be below temperature_high");
	if (s->voltage_high_v > 0 && s->voltage_low_v >= s->voltage_high_v)
		error_add(errors, "voltage_low: it must be below voltage_high");
	b->pylon.pause_ns = s->period_ns / 2;
	b->cells.n = (unsigned int)s->cells;
	b->cells.stale_ns = s->cell_silent_ns;
	if (s->keep_alive_ns)
		drv_add_send(drv, &keep_alive, errors);
	for (unsigned int i = 0; i < (s->cells ? RECEIVES : CELL); i++) {
		struct drv_receive row = rows[i];

		if (s->cells && i < CELL && row.id == (uint32_t)s->cell_id)
			error_add(errors, "cell_id: the pack itself sends 0x%03X", row.id);
		row.id = i == CELL ? (uint32_t)s->cell_id : row.id;
		row.period_ns = i < PERMITS ? s->period_ns : 0;
		row.from = i == CELL ? "the cells" : "the pack";
		drv_add_receive(drv, &row, errors);
	}
	if (s->cells && s->cell_id == PYLON_ID_KEEP_ALIVE)
		error_add(errors, "cell_id: 0x%03X is the keep-alive", PYLON_ID_KEEP_ALIVE);
	return errors->count ? -EINVAL : 0;
}

/* ---- thresholds ---- */

static void compare(struct bmsd *b, struct drv *drv, unsigned int i, double value, double scale,
		    struct bms_threshold threshold)
{
	const enum bms_crossing crossing = bms_cross(&b->crossed[i], value, &threshold);

	if (crossing == BMS_CROSSED)
		drv_event(drv, names[i].severity, names[i].code, "%s %.4g %s, the threshold is %.4g %s", names[i].text,
			  value * scale, names[i].unit, threshold.threshold * scale, names[i].unit);
	else if (crossing == BMS_CLEARED)
		drv_event(drv, MSG_SEVERITY_INFO, names[i].clear, "%s %.4g %s again", names[i].text, value * scale,
			  names[i].unit);
}

static void compare_all(struct bmsd *b, struct drv *drv, int64_t now_ns)
{
	const struct bmsd_settings *s = &b->settings;
	const struct pylon_pack *p = &b->pack;
	const double celsius = p->temperature_k - KELVIN;
	const double current_max = s->current_max_a > 0 ? s->current_max_a : p->discharge_limit_a;
	const double current_band = fmin(CURRENT_BAND_A, current_max / 2); /* no load ends it */

	compare(b, drv, LOW, p->charge, 100, (struct bms_threshold){ s->charge_low, CHARGE_BAND, true });
	compare(b, drv, CRITICAL, p->charge, 100, (struct bms_threshold){ s->charge_critical, CHARGE_BAND, true });
	compare(b, drv, HOT, celsius, 1, (struct bms_threshold){ s->temperature_high_c, TEMPERATURE_BAND_K, false });
	compare(b, drv, COLD, celsius, 1, (struct bms_threshold){ s->temperature_low_c, TEMPERATURE_BAND_K, true });
	compare(b, drv, IMBALANCE, bms_spread_v(&b->cells, now_ns), 1000,
		(struct bms_threshold){ s->imbalance_v, IMBALANCE_BAND_V, false });
	compare(b, drv, CURRENT, -p->current_a, 1, (struct bms_threshold){ current_max, current_band, false });
	if (s->voltage_high_v > 0)
		compare(b, drv, HIGH_VOLTAGE, p->voltage_v, 1,
			(struct bms_threshold){ s->voltage_high_v, VOLTAGE_BAND_V, false });
	if (s->voltage_low_v > 0)
		compare(b, drv, LOW_VOLTAGE, p->voltage_v, 1,
			(struct bms_threshold){ s->voltage_low_v, VOLTAGE_BAND_V, true });
}

/* ---- what the pack says of itself ---- */

static void report_alarms(struct drv *drv, uint32_t alarms, uint32_t *reported, enum msg_severity severity,
			  const char *code, const char *clear)
{
	static const char *const words[] = { MSG_WORDS_ALARM(MSG_WORD) };
	char text[MSG_TEXT_SIZE] = "";

	if (alarms == *reported)
		return;
	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (alarms & 1u << i)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), " %s", words[i]);
	if (alarms)
		drv_event(drv, severity, code, "the pack reports%s", text);
	else
		drv_event(drv, MSG_SEVERITY_INFO, clear, "the pack reports it no more");
	*reported = alarms;
}

static void report_pack(struct bmsd *b, struct drv *drv)
{
	const struct pylon_pack *p = &b->pack;

	report_alarms(drv, p->protections, &b->protections, MSG_SEVERITY_ERROR, "protection", "protection-clear");
	report_alarms(drv, p->warnings, &b->warnings, MSG_SEVERITY_WARNING, "pack-warning", "pack-warning-clear");
	report_alarms(drv, p->refused, &b->refused, MSG_SEVERITY_WARNING, "refused", "refused-clear");
	if (p->wants_charge && !b->wants_charge)
		drv_event(drv, MSG_SEVERITY_WARNING, "charge-wanted", "the pack asks to be charged");
	else if (!p->wants_charge && b->wants_charge)
		drv_event(drv, MSG_SEVERITY_INFO, "charge-wanted-clear", "the pack no longer asks to be charged");
	b->wants_charge = p->wants_charge;
}

/* ---- frames ---- */

static void take_telegram(struct bmsd *b, struct drv *drv, int64_t now_ns)
{
	drv_publish(drv);
	report_pack(b, drv);
	compare_all(b, drv, now_ns);
}

static void take_cell(struct bmsd *b, const struct bus_frame *got)
{
	struct orion_cell cell;
	const int status = orion_decode(&cell, &got->frame);

	if (status) {
		b->checksum++;
	} else if (cell.number >= b->cells.n) {
		b->unknown++;
	} else {
		b->cells.voltage_v[cell.number] = cell.voltage_v;
		b->cells.open_v[cell.number] = cell.open_v;
		b->cells.t_ns[cell.number] = got->t_ns;
	}
}

static bool rx(void *self, struct drv *drv, unsigned int row, const struct bus_frame *got)
{
	struct bmsd *b = self;

	if (row == CELL)
		take_cell(b, got);
	else if (pylon_take(&b->pylon, &got->frame, got->t_ns, &b->pack))
		take_telegram(b, drv, got->t_ns);
	return false;
}

static int64_t fill(void *self, struct drv *drv, void *state, int64_t now_ns)
{
	const struct bmsd *b = self;
	const struct pylon_pack *p = &b->pack;
	struct msg_battery *s = state;

	(void)drv;
	s->cell_count = b->cells.n;
	for (unsigned int i = 0; i < b->cells.n; i++)
		s->cell[i] = bms_cell_v(&b->cells, i, now_ns);
	if (!p->t_ns)
		return 0;
	s->voltage = p->voltage_v;
	s->current = p->current_a;
	s->charge = p->charge;
	s->health = p->health;
	s->temperature = p->temperature_k;
	s->current_limit = p->discharge_limit_a;
	s->alarms = p->protections | p->warnings | p->refused;
	s->age_ns = now_ns - p->t_ns;
	return p->t_ns;
}

/* ---- each tick ---- */

static void keep_alive(struct bmsd *b, struct drv *drv, int64_t tick_ns)
{
	struct frame frame;

	if (!b->settings.keep_alive_ns || tick_ns < b->keep_alive_ns)
		return;
	pylon_encode_keep_alive(&frame);
	drv_send(drv, KEEP_ALIVE, &frame);
	b->keep_alive_ns =
		(b->keep_alive_ns && tick_ns - b->keep_alive_ns < b->settings.keep_alive_ns ? b->keep_alive_ns
											    : tick_ns) +
		b->settings.keep_alive_ns;
}

static void report_losses(struct bmsd *b, struct drv *drv)
{
	const struct pylon *p = &b->pylon;

	if (drv_missed_more(&b->checksum_noted, b->checksum))
		drv_event(drv, MSG_SEVERITY_WARNING, "checksum", "so far the checksum of %u frames of cells was wrong",
			  b->checksum);
	if (drv_missed_more(&b->unknown_noted, b->unknown))
		drv_event(drv, MSG_SEVERITY_WARNING, "cell-unknown",
			  "so far %u frames were of cells beyond the %u of the setting cells", b->unknown, b->cells.n);
	if (drv_missed_more(&b->telegrams_noted, p->incomplete + p->odd))
		drv_event(drv, MSG_SEVERITY_WARNING, "telegrams-lost",
			  "incomplete telegrams so far: %u, frames of another length or value: %u", p->incomplete,
			  p->odd);
}

static void report_cells(struct bmsd *b, struct drv *drv, int64_t now_ns)
{
	unsigned int missing = 0;

	if (now_ns - b->started_ns <= b->cells.stale_ns)
		return;
	for (unsigned int i = 0; i < b->cells.n; i++)
		missing += isnan(bms_cell_v(&b->cells, i, now_ns));
	if (missing && !b->cells_missing)
		drv_event(drv, MSG_SEVERITY_WARNING, "cells-missing", "%u of %u cells have not been heard for %lld s",
			  missing, b->cells.n, (long long)(b->cells.stale_ns / NS_PER_S));
	else if (!missing && b->cells_missing)
		drv_event(drv, MSG_SEVERITY_INFO, "cells-missing-clear", "every cell is heard again");
	b->cells_missing = missing;
}

static const char *missing_part(unsigned int lacked)
{
	return lacked & PYLON_LIMITS	 ? ", and 0x351 is missing"
	       : lacked & PYLON_CHARGE	 ? ", and 0x355 is missing"
	       : lacked & PYLON_MEASURED ? ", and 0x356 is missing"
	       : lacked & PYLON_ALARMS	 ? ", and 0x359 is missing"
					 : "";
}

/* Has a telegram come lately? */
static bool is_live(struct bmsd *b, struct drv *drv, const struct drv_orders *orders)
{
	const int64_t now_ns = orders->now_ns;
	long long ms;

	if (pylon_pause(&b->pylon, now_ns, &b->pack))
		take_telegram(b, drv, now_ns);
	keep_alive(b, drv, orders->tick_ns);
	report_losses(b, drv);
	report_cells(b, drv, now_ns);
	ms = drv_missed_ms(drv, b->pack.t_ns, b->started_ns, SILENT_PERIODS * b->settings.period_ns, now_ns);
	if (ms)
		drv_fault(drv, DRV_ALL, "no-telegram", "no telegram for %lld ms%s", ms, missing_part(b->pylon.lacked));
	return !ms;
}

static enum drv_step start(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct bmsd *b = self;

	if (!b->started_ns)
		b->started_ns = orders->now_ns;
	if (!is_live(b, drv, orders) || !b->pack.t_ns)
		return DRV_AGAIN;
	drv_fault_clear(drv, DRV_ALL, "no-telegram");
	return DRV_DONE;
}

static void tick(void *self, struct drv *drv, const struct drv_orders *orders)
{
	struct bmsd *b = self;

	if (is_live(b, drv, orders))
		return;
	pylon_forget(&b->pylon);
	drv_start_again(drv);
}

static const struct drv_driver driver = {
	.program = "bmsd",
	.about = "drives a battery",
	.size = sizeof(struct bmsd),
	.settings = bmsd_settings_rows,
	.tick_preset = "250ms",
	.state = msg_battery_number,
	.streams = true,
	.declare = declare,
	.start = start,
	.tick = tick,
	.rx = rx,
	.fill = fill,
};

int main(int argc, char **argv)
{
	return drv_main(&driver, argc, argv);
}
