/* canreplay.c: sends the frames of a log again, with the same timing. */
#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "can/log/bus_map.h"
#include "can/log/id_filter.h"
#include "can/log/log.h"
#include "can/replay/replay_live.h"
#include "can/replay/sender.h"
#include "can/tool/can_tool.h"
#include "channels/clock/clock.h"
#include "channels/rec/schedule.h"
#include "channels/tool/bar.h"
#include "config/settings/program.h"

#define REPLAY_LEAD_NS 1000000	     /* from the opening to the first frame */
#define REPLAY_JUMP_NS 3600000000000 /* a longer gap is a jump of the clock, unless --max-gap is given */
#define REPLAY_JUMP_TO_NS 1000000000 /* what it becomes */
#define REPLAY_EPOCH_S \
	INT64_C(100000000) /* larger values are seconds of the epoch, smaller ones are relative to the start */

struct replay {
	const char *speed, *max_gap, *max_late, *from, *until, *pause;
	int64_t loop;
	struct settings_strings maps, only, without;
	bool lenient, errors, json, dry_run, rx_only, tx_only;

	const char *file;
	bool again; /* it can be read more than once */
	struct log log;
	struct id_filter ids;
	struct bus_map map;
	struct schedule schedule;
	struct sender sender;
	struct bar bar;
	bool at_once; /* --speed max */
	int64_t from_ns, until_ns;
	bool begun;	     /* first_ns is known: */
	int64_t first_ns;    /* the first stamp of the file */
	int64_t newest_ns;   /* of this pass */
	int64_t jumped_ns;   /* by which the clock jumped forward in this pass, as far as it is left out */
	uint64_t jumps_upto; /* the line of the last jump that was reported */
	bool cap_jumps;

	uint64_t total;	  /* frames of a pass, if the file was read before */
	uint64_t in_pass; /* of this one so far */
	uint64_t frames;  /* so far */
	int64_t start_ns; /* when the first was due */
	struct sender_log of_log;
	struct replay_live closed;
};

static const struct settings_row rows[] = {
	SETTINGS_STRINGS("map", struct replay, maps,
			 "send the frames of OLD to NEW; none: leave them out; *: all others", .value = "OLD=NEW"),
	SETTINGS_STRING("speed", struct replay, speed, "1",
			"2: twice as fast; max: as fast as the bus takes the frames", .value = "X"),
	SETTINGS_INT("loop", struct replay, loop, "", "1", "0", NULL, "play it that many times; 0: until ^C",
		     .value = "N"),
	SETTINGS_STRING("from", struct replay, from, NULL, "begin there: a time from the start, or a stamp of the file",
			.value = "TIME"),
	SETTINGS_STRING("until", struct replay, until, NULL, "end before that", .value = "TIME"),
	SETTINGS_STRING("pause", struct replay, pause, "10ms", "least time between two rounds of --loop",
			.value = "TIME"),
	SETTINGS_STRING("max-gap", struct replay, max_gap, NULL,
			"cap gaps at TIME; none: not even those above 1h, which else become 1s", .value = "TIME"),
	SETTINGS_STRING("max-late", struct replay, max_late, "1s",
			"leave out a frame that a full queue refuses for TIME", .value = "TIME"),
	SETTINGS_STRINGS("only", struct replay, only, "these identifiers: 123,200-2FF,00012345", .value = "IDS"),
	SETTINGS_STRINGS("not", struct replay, without, "all but these identifiers", .value = "IDS"),
	SETTINGS_BOOL("rx-only", struct replay, rx_only, "no", "only frames that were received when it was recorded"),
	SETTINGS_BOOL("tx-only", struct replay, tx_only, "no", "only frames that were sent by the recorder"),
	SETTINGS_BOOL("errors", struct replay, errors, "no", "error frames too, to buses that take them"),
	SETTINGS_BOOL("lenient", struct replay, lenient, "no", "leave out damaged lines, instead of sending nothing"),
	SETTINGS_BOOL("closed-loop", struct replay, closed.on, "no",
		      "play only the devices, and answer the requests of a live driver"),
	SETTINGS_STRINGS("frames", struct replay, closed.frames, "closed loop: what DRIVER ... --frames prints",
			 .value = "JSON"),
	SETTINGS_STRINGS("bus", struct replay, closed.bus, "closed loop: the driver's bus NAME is OLD in the log",
			 .value = "NAME=OLD"),
	SETTINGS_STRING("channels", struct replay, closed.channels, NULL,
			"closed loop: publish the references of a recording of ach record", .value = "REC"),
	SETTINGS_STRINGS("channel", struct replay, closed.channel, "instead of every ...-ref in it",
			 .value = "NAME[=NEW]"),
	SETTINGS_BOOL("force", struct replay, closed.force, "no", "references on a real bus, too"),
	SETTINGS_BOOL("diff", struct replay, closed.shown.diff, "no",
		      "closed loop: print every frame that the driver sends otherwise; status 1"),
	SETTINGS_BOOL("all", struct replay, closed.shown.all, "no", "with --diff: every frame of the driver"),
	SETTINGS_STRINGS("tolerance", struct replay, closed.tolerance,
			 "what may differ: ID[#BYTES]:BYTE:TYPE=NUMBER, any or offset; or order", .value = "WHAT"),
	SETTINGS_STRING("window", struct replay, closed.window, NULL,
			"how far a frame of the driver may be from its moment; else half its interval, at most 1s",
			.value = "TIME"),
	SETTINGS_STRING("settle", struct replay, closed.settle, NULL,
			"with a missing beginning: differences count from there on; 1s", .value = "TIME"),
	SETTINGS_STRING("wait", struct replay, closed.wait, NULL, "for the driver's first frame; 10s", .value = "TIME"),
	SETTINGS_BOOL("strict", struct replay, closed.options.strict, "no",
		      "a request that was not sent then gets no answer of another one"),
	SETTINGS_STRING("step", struct replay, closed.step, NULL,
			"stop at each difference until FILE has a line: n: next frame; c: go on", .value = "FILE"),
	SETTINGS_STRING("report", struct replay, closed.report, NULL, "write the result of a closed loop to FILE",
			.value = "FILE"),
	SETTINGS_INT("bitrate", struct replay, closed.bitrate, "", "1000000", "1000", "20000000",
		     "closed loop: of the bus, so that answers end when they did", .value = "BIT/S"),
	SETTINGS_BOOL("dry-run", struct replay, dry_run, "no", "print what would be sent, and send nothing"),
	SETTINGS_BOOL("json", struct replay, json, "no", "the summary as JSON"),
	SETTINGS_END,
};

/* ---- the end ---- */

static int stop_fd = -1, stop_input = -1, stop_nothing = -1;
static volatile sig_atomic_t stopped;

/* Also ends a read from a pipe: it then returns the end of the file. */
static void on_signal(int signal)
{
	uint64_t one = 1;
	int saved = errno;

	(void)signal;
	stopped = 1;
	if (write(stop_fd, &one, sizeof(one)) < 0 || (stop_input >= 0 && dup2(stop_nothing, stop_input) < 0))
		_exit(EXIT_RETRY);
	errno = saved;
}

static int catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	stop_nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (stop_fd < 0 || stop_nothing < 0)
		return program_fail("%s", strerror(errno));
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return 0;
}

/* ---- which frames ---- */

static bool in_window(const struct replay *play, int64_t t_ns)
{
	int64_t since = t_ns - play->first_ns;
	const int64_t epoch_ns = REPLAY_EPOCH_S * NS_PER_S;

	if (play->from_ns && (play->from_ns >= epoch_ns ? t_ns : since) < play->from_ns)
		return false;
	return play->until_ns == CLOCK_NEVER || (play->until_ns >= epoch_ns ? t_ns : since) < play->until_ns;
}

/* A stamp with the jumps of the clock taken out; each is reported once. */
static void take_out_jumps(struct replay *play, struct log_record *r)
{
	const int64_t gap_ns = r->t_ns - play->newest_ns;

	if (play->cap_jumps && gap_ns > REPLAY_JUMP_NS) {
		play->jumped_ns += gap_ns - REPLAY_JUMP_TO_NS;
		if (r->line > play->jumps_upto) {
			program_say("%s:%" PRIu64
				    ": the clock jumps forward by %.1f h, replayed as 1 s; --max-gap none waits",
				    play->log.path, r->line, (double)gap_ns / 3.6e12);
			play->jumps_upto = r->line;
		}
	}
	/* After a step back of more than a second time goes on from there. */
	if (r->t_ns > play->newest_ns || gap_ns < -SCHEDULE_STEP_NS)
		play->newest_ns = r->t_ns;
	r->t_ns -= play->jumped_ns;
}

/* 1: the direction is wanted; 0: not; EXIT_RETRY after a line. */
static int has_direction(const struct replay *play, const struct log_record *r)
{
	if ((!play->rx_only && !play->tx_only) || r->frame.id & FRAME_ERR)
		return 1;
	if (!r->direction)
		return program_fail("%s:%" PRIu64 ": the direction of the frame is not recorded: leave out --%s",
				    play->log.path, r->line, play->rx_only ? "rx-only" : "tx-only");
	return r->direction == (play->rx_only ? 'R' : 'T');
}

/* Where a record goes; NULL: nowhere.  0, or EXIT_RETRY after a line. */
static int choose(struct replay *play, struct log_record *r, struct bus_map_bus **to)
{
	struct bus_map_entry *entry = bus_map_of(&play->map, r->bus);
	bool wanted;
	int direction;

	*to = NULL;
	if (!entry)
		return program_fail("%s:%" PRIu64 ": more than %d buses", play->log.path, r->line, BUS_MAP_BUSES_MAX);
	if (!play->begun)
		play->first_ns = play->newest_ns = r->t_ns;
	play->begun = true;
	wanted = in_window(play, r->t_ns) && (r->frame.id & FRAME_ERR || id_filter_want(&play->ids, &r->frame));
	take_out_jumps(play, r);
	direction = has_direction(play, r);
	if (direction == EXIT_RETRY)
		return EXIT_RETRY;
	if (entry->to && wanted && direction)
		*to = entry->to;
	return 0;
}

static bool is_left_out(const struct replay *play, const struct log_record *r)
{
	return r->frame.id & FRAME_ERR && !play->errors;
}

/* ---- the file, before anything is sent ---- */

static int check_names(const struct replay *play)
{
	char seen[160];
	struct text_out out = text_out(seen, sizeof(seen));

	for (size_t i = 0; i < play->map.n; i++)
		if (play->map.entry[i].seen)
			text_add(&out, "%s%s", out.len ? ", " : "", play->map.entry[i].from);
	for (size_t i = 0; i < play->map.n; i++) {
		const struct bus_map_entry *r = &play->map.entry[i];

		if (!r->seen && r != play->map.others)
			return program_fail("--map: %s has no frame of %s%s%s", play->file, r->from,
					    *seen ? "; it has those of " : "", seen);
	}
	return 0;
}

static void count_file(struct replay *play)
{
	play->of_log.damaged = play->log.damaged;
	play->of_log.backward = play->log.backward;
	play->of_log.lost = play->log.lost;
}

/* Reads all of it: what is damaged, which buses there are, how many frames. */
static int scan(struct replay *play)
{
	struct log_record r;
	struct bus_map_bus *to;
	int n = 0;

	bar_start(&play->bar, clock_now_ns());
	while (!stopped && (n = log_next(&play->log, &r)) > 0) {
		if (r.line % 4096 == 0)
			bar_draw(&play->bar, play->total, play->total, clock_now_ns(), CLOCK_NEVER);
		if (choose(play, &r, &to))
			return EXIT_RETRY;
		if (!to)
			continue;
		if (is_left_out(play, &r)) {
			play->of_log.errors_left_out++;
			continue;
		}
		to->wanted = true;
		bus_map_will_send(to, &r.frame);
		play->total++;
	}
	bar_clear(&play->bar);
	if (stopped)
		return 0;
	if (n < 0)
		return EXIT_RETRY;
	count_file(play);
	if (play->log.damaged && !play->lenient)
		return program_fail("%s: damaged in %" PRIu64 " places, so nothing was sent: --lenient sends the rest",
				    play->log.path, play->log.damaged);
	play->newest_ns = play->first_ns;
	play->jumped_ns = 0;
	n = log_rewind(&play->log);
	return n ? program_fail("%s: %s", play->file, strerror(-n)) : check_names(play);
}

/* Opens the buses that frames go to; from a pipe those of the command line, the others with their first frame. */
static int open_buses(struct replay *play)
{
	for (size_t i = 0; i < play->map.buses; i++) {
		struct bus_map_bus *b = &play->map.bus[i];

		if ((b->wanted || !play->again) && bus_map_open(&play->map, b))
			return EXIT_RETRY;
	}
	return 0;
}

/* ---- playing ---- */

static int wait_until(struct replay *play, int64_t due_ns)
{
	int64_t now = clock_now_ns();
	int r = 0;

	while (!r && now < due_ns) {
		int64_t bar_ns = bar_next_ns(&play->bar);

		r = sender_wait(&play->sender, bar_ns > now && bar_ns < due_ns ? bar_ns : due_ns);
		now = clock_now_ns();
		bar_draw(&play->bar, play->frames, play->frames, now, due_ns);
	}
	return r;
}

/* When the first frame is due, once it is known. */
static void start(struct replay *play, const struct log_record *r)
{
	play->start_ns = play->dry_run ? r->t_ns : clock_now_ns() + REPLAY_LEAD_NS;
	schedule_start(&play->schedule, play->start_ns);
	bar_start(&play->bar, play->start_ns);
}

/* 0, SENDER_STOP, or less than 0: failed. */
static int play_record(struct replay *play, struct bus_map_bus *b, const struct log_record *r)
{
	int64_t due_ns;
	int stop = 0;

	if (!play->dry_run && !b->bus && bus_map_open(&play->map, b))
		return -1;
	if (!play->frames)
		start(play, r);
	due_ns = schedule_at(&play->schedule, r->t_ns);
	if (!play->dry_run) {
		if (play->at_once) {
			due_ns = clock_now_ns();
			bar_draw(&play->bar, play->frames, play->frames, due_ns, CLOCK_NEVER);
		} else {
			stop = wait_until(play, due_ns);
		}
		if (!stop)
			stop = sender_send(&play->sender, b, r, due_ns);
	} else if (can_tool_frame(due_ns, b->name, &r->frame)) {
		stop = -1;
	}
	play->frames += !stop;
	play->in_pass++;
	return stop;
}

/* From where the log stands to its end, or to the last frame that is wanted. */
static int play_pass(struct replay *play)
{
	struct log_record r;
	struct bus_map_bus *to;
	int n = 0, stop = 0;

	while (!stop && !(play->again && play->in_pass == play->total) && (n = log_next(&play->log, &r)) > 0) {
		if (choose(play, &r, &to))
			return -1;
		if (to && is_left_out(play, &r))
			play->of_log.errors_left_out += !play->again;
		else if (to)
			stop = play_record(play, to, &r);
		stop = stop ? stop : stopped ? SENDER_STOP : 0;
	}
	return stop ? stop : n < 0 ? -1 : 0;
}

static int play_file(struct replay *play)
{
	int r = 0;

	do {
		int again = play->of_log.passes ? log_rewind(&play->log) : 0;

		if (again) {
			program_fail("%s: %s", play->file, strerror(-again));
			return -1;
		}
		if (play->of_log.passes) {
			schedule_repeat(&play->schedule);
			play->newest_ns = play->first_ns;
			play->jumped_ns = 0;
			if (play->at_once && !play->dry_run)
				r = wait_until(play, clock_now_ns() + play->schedule.pause_ns);
			if (r)
				break;
		}
		play->in_pass = 0;
		r = play_pass(play);
		if (!r)
			play->of_log.passes++;
	} while (!r && play->again && play->total && (!play->loop || play->of_log.passes < (uint64_t)play->loop));
	if (!play->again)
		count_file(play);
	return r;
}

/* ---- closed loop ---- */

/* Reads it again, into the loop. */
static int load(struct replay *play)
{
	struct log_record r;
	struct bus_map_bus *to;
	int n = 0;

	while (!stopped && (n = log_next(&play->log, &r)) > 0) {
		if (choose(play, &r, &to))
			return EXIT_RETRY;
		if (to && replay_live_add(&play->closed, &play->map, to, &r))
			return EXIT_RETRY;
	}
	return n < 0 ? EXIT_RETRY : 0;
}

static int close_loop(struct replay *play)
{
	int status = replay_live_open(&play->closed, &play->map);

	play->map.listen = true;
	if (!status)
		status = load(play);
	if (!status)
		status = open_buses(play);
	return status || stopped ? status : replay_live_run(&play->closed, &play->sender, &play->of_log);
}

/* ---- the command ---- */

static int check_speed(struct replay *play)
{
	char quoted[TEXT_QUOTED_MAX];

	play->schedule.speed = 1;
	play->at_once = !strcmp(play->speed, "max");
	if (!play->at_once && (text_real(play->speed, &play->schedule.speed) || play->schedule.speed < 0.001 ||
			       play->schedule.speed > 1000))
		return program_wrong("--speed: %s is not a number from 0.001 to 1000, or max",
				     text_quote(quoted, play->speed));
	return 0;
}

/* A stamp of the file, or a time from the start. */
static int check_moment(const char *option, const char *text, int64_t *ns)
{
	return text && !log_stamp(text, ns) ? 0 : program_time(option, text, true, ns);
}

static int check(struct replay *play)
{
	play->until_ns = CLOCK_NEVER;
	play->cap_jumps = !play->max_gap;
	if (play->max_gap && !strcmp(play->max_gap, "none"))
		play->max_gap = NULL;
	if (play->rx_only && play->tx_only)
		return program_wrong("--rx-only and --tx-only: no frame is both");
	if (program_time("--pause", play->pause, false, &play->schedule.pause_ns) || check_speed(play) ||
	    check_moment("--from", play->from, &play->from_ns) ||
	    check_moment("--until", play->until, &play->until_ns) ||
	    program_time("--max-gap", play->max_gap, false, &play->schedule.max_gap_ns) ||
	    program_time("--max-late", play->max_late, true, &play->sender.max_late_ns) ||
	    id_filter_read(&play->ids, &play->only, &play->without, &program_errors) ||
	    bus_map_read(&play->map, &play->maps))
		return EXIT_WRONG;
	if (play->loop != 1 && !strcmp(play->file, "-"))
		return program_wrong("--loop: standard input cannot be read twice");
	if (play->closed.on && (play->loop != 1 || play->at_once || play->schedule.speed != 1 || play->dry_run))
		return program_wrong(
			"--closed-loop: a live driver has its own pace: leave out --loop, --speed, --dry-run");
	play->closed.json = play->json;
	return replay_live_check(&play->closed);
}

static int open_log(struct replay *play)
{
	bool standard = !strcmp(play->file, "-");
	struct stat st;

	play->again = !standard && !stat(play->file, &st) && S_ISREG(st.st_mode);
	if (!play->again && (play->loop != 1 || play->closed.on))
		return program_fail("%s: cannot be read twice, so there is no --%s", play->file,
				    play->closed.on ? "closed-loop" : "loop");
	stop_input = standard ? STDIN_FILENO : -1;
	if (log_open(&play->log, play->file, log_formats_all, play->again || play->lenient ? 0 : LOG_STRICT,
		     &program_errors))
		return EXIT_RETRY;
	if (!play->again)
		stop_input = play->log.fd;
	return 0;
}

static int run(struct replay *play)
{
	int status = play->again ? scan(play) : 0, r;

	if (!status && !stopped && play->closed.on)
		return close_loop(play);
	if (!status && !play->dry_run)
		status = open_buses(play);
	if (status || stopped)
		return status;
	play->bar.all = play->total * (uint64_t)play->loop;
	r = play_file(play);
	bar_clear(&play->bar);
	if (play->dry_run)
		return !fflush(stdout) && r >= 0 ? 0 : program_fail("cannot write: %s", strerror(errno));
	if (play->frames && clock_now_ns() > play->start_ns)
		play->of_log.took_ns = clock_now_ns() - play->start_ns;
	return sender_summary(&play->sender, &play->of_log, play->json) && r >= 0 ? 0 : EXIT_RETRY;
}

int main(int argc, char **argv)
{
	static struct replay play;
	struct options options = {
		.program = "canreplay",
		.about = "sends the frames of a log again, with the same timing",
		.rows = rows,
		.values = &play,
		.arguments = "FILE",
		.arguments_min = 1,
		.arguments_max = 1,
		.version = OPTIONS_VERSION,
		.notes = "FILE is of candump, ASC, BLF, TRC, CSV or pcap, also with gzip or zstd; - is "
			 "standard input.\n"
	};
	int status = program_options(&options, &argc, argv);

	if (status != OPTIONS_RUN)
		return status;
	play.file = argv[0];
	play.bar.unit = "frames";
	status = check(&play);
	if (status)
		return status;
	if (!play.dry_run && catch_signals())
		return EXIT_RETRY;
	play.sender.map = &play.map;
	play.sender.stop_fd = stop_fd;
	play.sender.untimed = play.at_once;
	status = open_log(&play);
	if (!status) {
		status = run(&play);
		log_close(&play.log);
	}
	replay_live_close(&play.closed);
	bus_map_close(&play.map);
	return status;
}
