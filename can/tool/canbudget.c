/* canbudget.c: canbudget(1): the bits of frames, and the load of the buses of a recording. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "can/bits.h"
#include "can/budget.h"
#include "can/frame_text.h"
#include "can/log.h"
#include "can/tool/budget_show.h"
#include "can/tool/ids.h"
#include "can/tool/program.h"
#include "channels/clock.h"
#include "channels/tool/bar.h"
#include "config/text.h"

#define DEFAULT_BITRATE 1000000
#define BITRATE_MIN 1000
#define BITRATE_MAX 10000000 /* above what CAN knows, for emulated buses */

struct canbudget_options {
	struct settings_strings frame, bitrate, bus, only, not ;
	int64_t window_ns, over_ns;
	int sort;
	bool lenient, json;
};

static const struct settings_row rows[] = {
	SETTINGS_STRINGS("frame", struct canbudget_options, frame, "a frame such as 123#DEADBEEF, instead of a log",
			 .value = "FRAME"),
	SETTINGS_STRINGS("bitrate", struct canbudget_options, bitrate,
			 "bit/s of all buses, or of one: 500000, 500k, can0=1M; 1M by default", .value = "[BUS=]N"),
	SETTINGS_STRINGS("bus", struct canbudget_options, bus, "only this bus of the log", .value = "BUS"),
	SETTINGS_STRINGS("only", struct canbudget_options, only, "only these identifiers: 123,200-2FF,00012345",
			 .value = "IDS"),
	SETTINGS_STRINGS("not", struct canbudget_options, not, "not these identifiers", .value = "IDS"),
	SETTINGS_DURATION("window", struct canbudget_options, window_ns, "100ms", "1ms", "1h",
			  "time over which the peak is taken", .value = "TIME"),
	SETTINGS_DURATION("over", struct canbudget_options, over_ns, NULL, "1ms", "24h",
			  "load over time, a line for each interval", .value = "TIME"),
	SETTINGS_WORD("sort", struct canbudget_options, sort, budget_show_orders, "id",
		      "order of identifiers: id, load or rate", .value = "WORD"),
	SETTINGS_BOOL("lenient", struct canbudget_options, lenient, "no",
		      "leave out damaged lines, instead of failing"),
	SETTINGS_BOOL("json", struct canbudget_options, json, "no", "JSON instead of tables"),
	SETTINGS_END,
};

/* ---- bit rates ---- */

/* 500000, 500k, 1M, 83.3k */
static bool read_bitrate(const char *text, uint32_t *bitrate)
{
	size_t len = strlen(text);
	char digits[32];
	double value, unit = 1;

	if (len && (text[len - 1] == 'k' || text[len - 1] == 'M'))
		unit = text[--len] == 'k' ? 1e3 : 1e6;
	snprintf(digits, sizeof(digits), "%.*s", (int)len, text);
	if (len >= sizeof(digits) || text_real(digits, &value))
		return false;
	value = value * unit + 0.5;
	if (!(value >= BITRATE_MIN && value < BITRATE_MAX + 1.0))
		return false;
	*bitrate = (uint32_t)value;
	return true;
}

/* Those of the options, and last the one for all other buses.  names: room for the names. */
static int read_bitrates(const struct settings_strings *given, struct budget_rate *rates, char (*names)[BUDGET_BUS_MAX],
			 bool *assumed)
{
	struct budget_rate *others = &rates[given->n];

	*others = (struct budget_rate){ .bitrate = DEFAULT_BITRATE };
	*assumed = true;
	for (size_t i = 0; i < given->n; i++) {
		const char *text = given->item[i], *equals = strchr(text, '=');
		size_t len = equals ? (size_t)(equals - text) : 0;
		char quoted[TEXT_QUOTED_MAX];

		rates[i] = (struct budget_rate){ .bus = names[i] };
		if (len >= BUDGET_BUS_MAX || (equals && !len) ||
		    !read_bitrate(equals ? equals + 1 : text, &rates[i].bitrate))
			return program_wrong("--bitrate: %s is not a bit rate such as 500000, 500k or can0=1M "
					     "(%d to %d bit/s)",
					     text_quote(quoted, text), BITRATE_MIN, BITRATE_MAX);
		snprintf(names[i], BUDGET_BUS_MAX, "%.*s", (int)len, text);
		if (!equals) {
			*others = (struct budget_rate){ .bitrate = rates[i].bitrate };
			*assumed = false;
		}
	}
	return 0;
}

/* ---- frames ---- */

static int read_frame(struct frame *f, struct bits *bits, const char *text)
{
	const char *wrong = frame_text_read(f, text, strlen(text));
	char quoted[TEXT_QUOTED_MAX];

	if (wrong)
		return program_wrong("--frame: %s: %s", text_quote(quoted, text), wrong);
	if (!bits_of(bits, f))
		return program_wrong("--frame: %s is %s: bits are counted of classic frames only",
				     text_quote(quoted, text),
				     f->id & FRAME_ERR ? "an error frame, which is not on the wire" : "CAN FD");
	return 0;
}

static int show_frames(const struct canbudget_options *want, uint32_t bitrate)
{
	struct frame frames[SETTINGS_STRINGS_MAX];
	struct bits bits[SETTINGS_STRINGS_MAX];

	for (size_t i = 0; i < want->frame.n; i++) {
		int status = read_frame(&frames[i], &bits[i], want->frame.item[i]);

		if (status)
			return status;
	}
	budget_show_frames(frames, bits, want->frame.n, bitrate, want->json);
	return 0;
}

/* ---- a log ---- */

static bool wants_bus(const struct settings_strings *buses, const char *bus)
{
	for (size_t i = 0; i < buses->n; i++)
		if (!strcmp(buses->item[i], bus))
			return true;
	return !buses->n;
}

static int read_log(const struct canbudget_options *want, const struct ids *ids, struct log *log, struct budget *b)
{
	struct bar bar = { .unit = "frames" };
	struct log_record r;
	int status;

	bar_start(&bar, clock_now_ns());
	while ((status = log_next(log, &r)) > 0) {
		if (r.line % 4096 == 0)
			bar_draw(&bar, b->frames, b->frames, clock_now_ns(), CLOCK_NEVER);
		if (!wants_bus(&want->bus, r.bus) || (!(r.frame.id & FRAME_ERR) && !ids_want(ids, &r.frame)))
			continue;
		if (budget_add(b, r.bus, r.t_ns, &r.frame)) {
			bar_clear(&bar);
			return program_fail("no memory");
		}
	}
	bar_clear(&bar);
	if (!status && log->damaged && !want->lenient)
		return program_fail("%s: damaged in %" PRIu64 " places: --lenient leaves those out", log->path,
				    log->damaged);
	return status ? PROGRAM_FAILED : 0;
}

/* A bus without frames is most likely a typing error. */
static void check_name(const char *option, const char *name, const struct budget *b, const char *path)
{
	for (size_t i = 0; i < b->buses_n; i++)
		if (!strcmp(b->buses[i].name, name))
			return;
	program_say("%s: there are no frames of %s in %s", option, name, path);
}

static void check_names(const struct canbudget_options *want, const struct budget_rate *rates, const struct budget *b,
			const char *path)
{
	for (size_t i = 0; i < want->bitrate.n; i++)
		if (*rates[i].bus)
			check_name("--bitrate", rates[i].bus, b, path);
	for (size_t i = 0; i < want->bus.n; i++)
		check_name("--bus", want->bus.item[i], b, path);
}

static int show_log(const struct canbudget_options *want, const char *path, const struct budget_rate *rates,
		    bool assumed)
{
	const struct budget_options options = {
		.rates = rates, .rates_n = want->bitrate.n + 1, .window_ns = want->window_ns, .over_ns = want->over_ns
	};
	const struct budget_show show = { .path = path, .assumed = assumed, .order = want->sort };
	static struct ids ids;
	static struct log log;
	struct error_sink errors = program_errors();
	struct budget b;
	int status;

	if (ids_read(&ids, &want->only, &want->not, &errors))
		return PROGRAM_WRONG;
	if (log_open(&log, path, 0, &errors))
		return PROGRAM_FAILED;
	budget_start(&b, &options);
	status = read_log(want, &ids, &log, &b);
	budget_end(&b);
	if (!status && !b.frames && !want->json)
		status = program_fail("%s: no frames%s", path,
				      ids.all && !want->bus.n ? " in it" : " that --bus, --only and --not leave");
	if (!status && b.frames)
		check_names(want, rates, &b, path);
	if (!status && want->json)
		budget_show_json(&show, &b, &log);
	else if (!status)
		budget_show_text(&show, &b, &log);
	budget_free(&b);
	log_close(&log);
	return status;
}

int main(int argc, char **argv)
{
	static struct budget_rate rates[SETTINGS_STRINGS_MAX + 1];
	static char names[SETTINGS_STRINGS_MAX][BUDGET_BUS_MAX];
	static struct canbudget_options want;
	struct options options = { .program = "canbudget",
				   .about = "counts the bits of frames, and the load of the buses of a recording",
				   .rows = rows,
				   .values = &want,
				   .arguments = "[LOG]",
				   .arguments_max = 1,
				   .version = PROGRAM_VERSION };
	int status = program_options(&options, &argc, argv);
	bool assumed;

	if (status != PROGRAM_GO)
		return status;
	if (!want.frame.n == !argc)
		return program_wrong("say either a log (- is standard input) or --frame 123#DEADBEEF");
	status = read_bitrates(&want.bitrate, rates, names, &assumed);
	if (status)
		return status;
	if (want.frame.n)
		status = show_frames(&want, rates[want.bitrate.n].bitrate);
	else
		status = show_log(&want, argv[0], rates, assumed);
	if (fflush(stdout) || ferror(stdout))
		return status ? status : program_fail("cannot write: %s", strerror(errno));
	return status;
}
