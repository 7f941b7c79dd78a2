/* canbudget.c: canbudget(1): the bits of frames, the load of the buses of a recording, and whether the buses of a robot
 * have time for its drivers. */
#include <unistd.h>

#include "can/bus/frame_text.h"
#include "can/log/id_filter.h"
#include "can/tool/budget_frames.h"
#include "can/tool/budget_show.h"
#include "channels/clock/clock.h"
#include "channels/tool/bar.h"
#include "config/base/base.h"
#include "config/settings/program.h"

#define DEFAULT_BITRATE 1000000
#define BITRATE_MIN 1000
#define BITRATE_MAX 10000000 /* above what CAN knows, for emulated buses */

struct canbudget_options {
	struct settings_strings frame, bitrate, fd, bus, only, not, frames;
	int64_t window_ns, over_ns, reply_ns, jitter_ns;
	const char *svg;
	int sort;
	bool lenient, json;
};

static const struct settings_row rows[] = {
	SETTINGS_STRINGS("frame", struct canbudget_options, frame, "a frame such as 123#DEADBEEF, instead of a log",
			 .value = "FRAME"),
	SETTINGS_STRINGS("bitrate", struct canbudget_options, bitrate,
			 "bit/s of all buses, or of one: 500000, 500k, can0=1M; 1M by default", .value = "[BUS=]N"),
	SETTINGS_STRINGS("fd", struct canbudget_options, fd,
			 "bit/s of the data of CAN FD frames, of all buses or of one: 2M, can0=5M", .value = "[BUS=]N"),
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
	SETTINGS_STRINGS("frames", struct canbudget_options, frames,
			 "what DRIVER --frames or achstart --frames printed, instead of a launch file",
			 .value = "FILE"),
	SETTINGS_DURATION("reply", struct canbudget_options, reply_ns, "200us", "0", "1s",
			  "time within which devices answer", .value = "TIME"),
	SETTINGS_DURATION("jitter", struct canbudget_options, jitter_ns, "0", "0", "1s", "by which drivers may be late",
			  .value = "TIME"),
	SETTINGS_STRING("svg", struct canbudget_options, svg, NULL, "draw the cycle of each bus", .value = "FILE"),
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

/* Bit rates of an option, and last the one for all other buses, usual: 0 if there is none. */
struct bitrates {
	struct budget_rate rates[SETTINGS_STRINGS_MAX + 1];
	char names[SETTINGS_STRINGS_MAX][BUDGET_BUS_MAX];
	size_t n; /* without the last */
	bool assumed;
};

static int read_bitrates(const char *option, const struct settings_strings *given, uint32_t usual, struct bitrates *to)
{
	struct budget_rate others = { .bitrate = usual };

	to->assumed = true;
	for (size_t i = 0; i < given->n; i++) {
		const char *text = given->item[i], *equals = strchr(text, '=');
		size_t len = equals ? (size_t)(equals - text) : 0;
		struct budget_rate rate = { .bus = equals ? to->names[i] : NULL };
		char quoted[TEXT_QUOTED_MAX];

		if (len >= BUDGET_BUS_MAX || (equals && !len) ||
		    !read_bitrate(equals ? equals + 1 : text, &rate.bitrate))
			return program_wrong("%s: %s is not a bit rate such as 500000, 500k or can0=1M "
					     "(%d to %d bit/s)",
					     option, text_quote(quoted, text), BITRATE_MIN, BITRATE_MAX);
		snprintf(to->names[i], BUDGET_BUS_MAX, "%.*s", (int)len, text);
		if (equals) {
			to->rates[to->n++] = rate;
		} else {
			others = rate;
			to->assumed = false;
		}
	}
	to->rates[to->n] = others;
	return 0;
}

/* ---- frames ---- */

static int read_frame(struct frame *f, const char *text, bool fd)
{
	const char *wrong = frame_text_read(f, text, strlen(text));
	char quoted[TEXT_QUOTED_MAX];

	if (wrong)
		return program_wrong("--frame: %s: %s", text_quote(quoted, text), wrong);
	if (f->id & FRAME_ERR)
		return program_wrong("--frame: %s is an error frame, which is not on the wire",
				     text_quote(quoted, text));
	if (f->flags & FRAME_BRS && !fd)
		return program_wrong("--frame: %s changes the bit rate: give that of its data, such as --fd 2M",
				     text_quote(quoted, text));
	return 0;
}

static int show_frames(const struct canbudget_options *want, const struct bits_rates *rates)
{
	struct frame frames[SETTINGS_STRINGS_MAX];

	for (size_t i = 0; i < want->frame.n; i++) {
		int status = read_frame(&frames[i], want->frame.item[i], rates->data);

		if (status)
			return status;
	}
	budget_show_frames(frames, want->frame.n, rates, want->json);
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

static int read_log(const struct canbudget_options *want, const struct id_filter *ids, struct log *log,
		    struct budget *b)
{
	struct bar bar = { .unit = "frames" };
	struct log_record r;
	int status;

	bar_start(&bar, clock_now_ns());
	while ((status = log_next(log, &r)) > 0) {
		if (r.line % 4096 == 0)
			bar_draw(&bar, b->frames, b->frames, clock_now_ns(), CLOCK_NEVER);
		if (!wants_bus(&want->bus, r.bus) || (!(r.frame.id & FRAME_ERR) && !id_filter_want(ids, &r.frame)))
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
	return status ? EXIT_RETRY : 0;
}

/* A bus without frames is most likely a typing error. */
static void check_name(const char *option, const char *name, const struct budget *b, const char *path)
{
	for (size_t i = 0; i < b->buses_n; i++)
		if (!strcmp(b->buses[i].name, name))
			return;
	program_say("%s: there are no frames of %s in %s", option, name, path);
}

static void check_names(const struct canbudget_options *want, const struct bitrates *nominal,
			const struct bitrates *data, const struct budget *b, const char *path)
{
	for (size_t i = 0; i < nominal->n; i++)
		check_name("--bitrate", nominal->rates[i].bus, b, path);
	for (size_t i = 0; i < data->n; i++)
		check_name("--fd", data->rates[i].bus, b, path);
	for (size_t i = 0; i < want->bus.n; i++)
		check_name("--bus", want->bus.item[i], b, path);
}

static int show_log(const struct canbudget_options *want, const char *path, const struct bitrates *nominal,
		    const struct bitrates *data)
{
	struct budget b = { .options = { .rates = nominal->rates,
					 .rates_n = nominal->n + 1,
					 .fd_rates = data->rates,
					 .fd_rates_n = data->n + 1,
					 .window_ns = want->window_ns,
					 .over_ns = want->over_ns } };
	const struct budget_show show = { .path = path, .assumed = nominal->assumed, .order = want->sort };
	static struct id_filter ids;
	static struct log log;
	int status;

	if (id_filter_read(&ids, &want->only, &want->not, &program_errors))
		return EXIT_WRONG;
	if (log_open(&log, path, log_formats_all, 0, &program_errors))
		return EXIT_RETRY;
	status = read_log(want, &ids, &log, &b);
	budget_end(&b);
	if (!status && !b.frames && !want->json)
		status = program_fail("%s: no frames%s", path,
				      ids.all && !want->bus.n ? " in it" : " that --bus, --only and --not leave");
	if (!status && b.frames)
		check_names(want, nominal, data, &b, path);
	if (!status && want->json)
		budget_show_json(&show, &b, &log);
	else if (!status)
		budget_show_text(&show, &b, &log);
	budget_free(&b);
	log_close(&log);
	return status;
}

/* ---- a robot ---- */

/* A launch file gives the bit rates; the option is for other frames. */
static void set_bitrate(const struct bitrates *given, const char *bus, uint32_t *bitrate)
{
	const uint32_t rate = budget_rate_of(given->rates, given->n + !given->assumed, bus);

	*bitrate = rate ? rate : *bitrate;
}

/* By its suffix; or a name without one, which achstart looks for in more folders than this one. */
static bool is_launch(const char *name)
{
	return text_ends_with(name, ".launch") || (strcmp(name, "-") && !strpbrk(name, "/.") && access(name, F_OK));
}

static int show_declared(const struct canbudget_options *want, const char *launch, const struct bitrates *nominal,
			 const struct bitrates *data)
{
	static struct traffic traffic;
	int status;

	traffic.reply_ns = want->reply_ns;
	traffic.jitter_ns = want->jitter_ns;
	status = budget_frames_open(&traffic, launch, &want->frames);
	if (!status) {
		for (struct traffic_bus *bus = traffic.buses; bus < traffic.buses + traffic.buses_n; bus++) {
			set_bitrate(nominal, bus->name, &bus->bitrate);
			set_bitrate(data, bus->name, &bus->data_bitrate);
		}
		status = traffic_solve(&traffic) ? program_fail("no memory") : 0;
	}
	if (!status) {
		traffic_offsets(&traffic);
		status = want->svg ? budget_svg(&traffic, want->svg) : 0;
	}
	if (!status)
		status = budget_frames_show(&traffic, want->json);
	traffic_free(&traffic);
	return status;
}

int main(int argc, char **argv)
{
	static struct bitrates nominal, data;
	static struct canbudget_options want;
	struct options options = { .program = "canbudget",
				   .about = "computes bits of frames, loads of recordings, times of a robot's frames",
				   .rows = rows,
				   .values = &want,
				   .arguments = "[LOG|LAUNCH]",
				   .arguments_max = 1,
				   .version = OPTIONS_VERSION };
	int status = program_options(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	if (!!want.frame.n + !!want.frames.n + argc != 1)
		return program_wrong("say one of: a log (- is standard input), a launch file, --frames FILE, "
				     "--frame 123#DEADBEEF");
	if (want.svg && !want.frames.n && !(argc && is_launch(argv[0])))
		return program_wrong("--svg: draws the buses of a launch file, or of --frames FILE");
	status = read_bitrates("--bitrate", &want.bitrate, DEFAULT_BITRATE, &nominal);
	if (!status)
		status = read_bitrates("--fd", &want.fd, 0, &data);
	if (status)
		return status;
	if (want.frame.n)
		status = show_frames(&want, &(struct bits_rates){ nominal.rates[nominal.n].bitrate,
								  data.rates[data.n].bitrate });
	else if (want.frames.n || is_launch(argv[0]))
		status = show_declared(&want, argc ? argv[0] : NULL, &nominal, &data);
	else
		status = show_log(&want, argv[0], &nominal, &data);
	if (fflush(stdout) || ferror(stdout))
		return status ? status : program_fail("cannot write: %s", strerror(errno));
	return status;
}
