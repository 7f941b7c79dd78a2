/* top.c: achctl top: the loop.
 *
 * It never waits for achstart: e and h act at once, and while achstart does not answer the channels are shown.
 */
#include <ctype.h>
#include <langinfo.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "launch/achctl/ctl.h"
#include "launch/achctl/tail.h"
#include "launch/achctl/top.h"
#include "launch/view/estop_raise.h"
#include "launch/view/logs.h"
#include "launch/view/status_poll.h"

#define NOTICE_NS 10000000000
#define FIRST_NS 300000000
#define SURE_NS 3000000000

struct loop {
	struct top top;
	const struct ctl_line *line;
	struct estop estop;
	struct status_poll achstart;
	struct tail events;
	bool has_events;
	bool shown;	   /* something has been drawn */
	int64_t next_ns;   /* when to look next */
	int64_t notice_ns; /* until then */
	int64_t sure_ns;   /* until then a second k kills */
	bool quit;
};

static int open_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP, SIGCONT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaddset(&set, signals[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- the channels ---- */

static void say(struct loop *l, enum tone tone, const char *text)
{
	snprintf(l->top.notice, sizeof(l->top.notice), "%s", text);
	l->top.notice_tone = tone;
	l->notice_ns = clock_own_ns() + NOTICE_NS;
}

/* By the channels, and through achstart, whose answer is not waited for. */
static void raise_level(struct loop *l, enum msg_level level)
{
	static struct estop_raise raise;
	char who[CTL_WHO_MAX], text[TOP_NOTICE_MAX];

	ctl_who(l->line, who);
	estop_raise_begin(&raise, level, who, "achctl top");
	if (raise.put || raise.asking)
		snprintf(text, sizeof(text), "%s raised by %s; achctl arm lowers it", msg_level_word(level), who);
	else
		snprintf(text, sizeof(text), "%s NOT RAISED: %.150s", msg_level_word(level), raise.lines.text);
	estop_raise_end(&raise);
	robot_level_read(&l->estop, &l->top.channels, clock_now_ns());
	say(l, level == MSG_LEVEL_ESTOP ? TONE_BAD : TONE_ODD, text);
}

static void take_event(void *to, const char *line)
{
	const time_t now = clock_real_ns() / 1000000000;
	char today[16];
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(today, sizeof(today), "%Y-%m-%d", &tm);
	top_event_add(to, line, today);
}

/* The file comes with the first achstart, and may not be read by everyone. */
static void read_events(struct loop *l)
{
	char path[RUN_PATH_MAX];

	if (l->has_events) {
		tail_more(&l->events, take_event, &l->top);
	} else if (!logs_path(path, "events.log") && !tail_open(&l->events, path)) {
		l->has_events = true;
		tail_last(&l->events, TOP_EVENTS_MAX, take_event, &l->top);
	}
}

static void update_view(struct loop *l, int64_t now_ns)
{
	status_poll_begin(&l->achstart, 0, now_ns);
	robot_channels_read(&l->top.channels);
	read_events(l);
	robot_level_read(&l->estop, &l->top.channels, clock_now_ns());
	status_poll_channels(&l->achstart, &l->top.view, &l->top.channels);
	if (now_ns < l->notice_ns)
		return;
	snprintf(l->top.notice, sizeof(l->top.notice), "%.*s", TOP_NOTICE_MAX - 1,
		 l->achstart.away ? l->achstart.why : "");
	l->top.notice_tone = TONE_ODD;
}

/* Level and ages are read now, however old the last answer of achstart is. */
static void draw(struct loop *l)
{
	/* The first screen waits a little for achstart, so that the second one looks the same. */
	if (!l->shown && l->achstart.asking && l->achstart.away && clock_own_ns() - l->achstart.asked_ns < FIRST_NS)
		return;
	l->shown = true;
	observe_level(&l->top.view, &l->estop, &l->top.channels);
	observe_ages(&l->top.view, &l->top.channels);
	observe_clock(&l->top.view, false);
	l->top.now_ns = clock_now_ns();
	top_screen_draw(&l->top);
}

/* ---- keys ---- */

static bool is_simulated(const struct status *view)
{
	for (size_t i = 0; i < view->buses_n; i++)
		if (strncmp(view->buses[i].interface, "wire:", 5) && strncmp(view->buses[i].interface, "vcan", 4))
			return false;
	return view->buses_n;
}

/* Kills a daemon, to see that achstart restarts it.  With hardware the key must be pressed twice. */
static void kill_selected(struct loop *l)
{
	const struct status *view = &l->top.view;
	const struct status_daemon *one = &view->daemons[l->top.selected - 1];
	const int64_t now_ns = clock_own_ns();
	char text[TOP_NOTICE_MAX];

	if (!l->top.selected || l->top.selected > view->daemons_n) {
		say(l, TONE_ODD, "select a daemon with the arrow keys, then press k");
	} else if (one->pid <= 0 || l->achstart.away) {
		say(l, TONE_ODD, "its process is not known: achstart does not answer, or it does not run");
	} else if (!is_simulated(view) && now_ns > l->sure_ns) {
		l->sure_ns = now_ns + SURE_NS;
		snprintf(text, sizeof(text), "this robot has hardware: press k again to kill %s", one->name);
		say(l, TONE_BAD, text);
	} else if (kill((pid_t)one->pid, SIGKILL)) {
		snprintf(text, sizeof(text), "%s, process %d: %s", one->name, (int)one->pid, strerror(errno));
		say(l, TONE_BAD, text);
	} else {
		snprintf(text, sizeof(text), "%s killed, process %d; achstart restarts it", one->name, (int)one->pid);
		say(l, TONE_ODD, text);
		l->next_ns = 0;
	}
}

/* Where daemons are shown the arrows select one, elsewhere they scroll. */
static void move(struct loop *l, size_t up, size_t down, size_t page)
{
	const bool selects = l->top.pane == TOP_ALL || l->top.pane == TOP_DAEMONS;
	size_t *at = selects ? &l->top.selected : &l->top.from;
	const size_t end = selects ? l->top.view.daemons_n : TABLE_ROWS_MAX - 1;

	*at = *at > up ? *at - up : 0;
	*at = *at + down > end ? end : *at + down;
	if (selects && (up || down))
		l->top.from = l->top.pane == TOP_DAEMONS && page ? l->top.selected / page * page : 0;
}

static void press(struct loop *l, int key)
{
	static const char panes[] = {
		[TOP_ALL] = 'a', [TOP_DAEMONS] = 'd', [TOP_BUSES] = 'b', [TOP_JOINTS] = 'j', [TOP_CHANNELS] = 'c'
	};
	const int letter = key > TOP_LETTER ? tolower(key - TOP_LETTER) : 0;
	const size_t page = top_screen_rows() / 2;
	const char *pane = letter ? memchr(panes, letter, sizeof(panes)) : NULL;
	const size_t up = key == TOP_UP ? 1 : key == TOP_PAGE_UP ? page : key == TOP_HOME ? TABLE_ROWS_MAX : 0;
	const size_t down = key == TOP_DOWN ? 1 : key == TOP_PAGE_DOWN ? page : 0;

	move(l, up, down, page);
	if (pane) {
		l->top.pane = (enum top_pane)(pane - panes);
		l->top.from = 0;
	}
	if (letter == 'e' || letter == 'h')
		raise_level(l, letter == 'e' ? MSG_LEVEL_ESTOP : MSG_LEVEL_HOLD);
	if (letter == 'k')
		kill_selected(l);
	l->quit |= letter == 'q';
}

static void read_keys(struct loop *l, short ready)
{
	int key, n = 0;

	while ((key = top_screen_key()) != TOP_NONE) {
		press(l, key);
		n++;
	}
	/* Readable without a key: the terminal is gone. */
	if (ready & (POLLHUP | POLLERR | POLLNVAL) || (!n && ready & POLLIN))
		l->quit = true;
}

static void read_signals(struct loop *l, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGWINCH)
			top_screen_resize();
		else if (info.ssi_signo == SIGTSTP)
			top_screen_suspend();
		else if (info.ssi_signo == SIGCONT)
			top_screen_resume();
		else
			l->quit = true;
	}
}

/* ---- the loop ---- */

static void run(struct loop *l, int signals)
{
	while (!l->quit) {
		struct clock_fd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
					  { .fd = signals, .events = POLLIN },
					  { .fd = -1 } };
		int64_t now_ns = clock_own_ns();

		if (now_ns >= l->next_ns) {
			update_view(l, now_ns);
			l->next_ns = now_ns + l->line->every_ns;
		}
		draw(l);
		fds[2] = status_poll_fd(&l->achstart);
		if (clock_own_wait(fds, 3, l->next_ns) < 0)
			return;
		if (fds[0].ready)
			read_keys(l, fds[0].ready);
		if (fds[1].ready)
			read_signals(l, signals);
		if (fds[2].ready)
			status_poll_answer(&l->achstart, &l->top.view);
	}
}

/* For programs, and for terminals without cursor motion: prints the status repeatedly. */
static int repeat_status(const struct ctl_line *line)
{
	struct clock_fd end = { .fd = line->json ? -1 : clock_stop_fd(), .events = POLLIN };
	int status = 0;

	while (!ferror(stdout) && (!status || status == CTL_NO || status == EXIT_RETRY)) {
		const int64_t next_ns = clock_own_ns() + line->every_ns;

		status = ctl_robot(line); /* which may have been started since */
		if (!status)
			status = ctl_status(line);
		fflush(stdout);
		if (clock_own_wait(&end, 1, next_ns) > 0)
			return 0;
	}
	return status;
}

static int run_screen(const struct ctl_line *line)
{
	static struct loop l;
	const int status = top_screen_begin();
	int signals;

	if (status == -ENOTTY)
		return ctl_fail(line, EXIT_RETRY, "stdin and stdout must be a terminal (achctl status needs none)");
	if (status) {
		ctl_warn(line, "TERM=%s has no cursor motion: the status is printed repeatedly; Ctrl-C ends it",
			 getenv("TERM") ? getenv("TERM") : "");
		return repeat_status(line);
	}
	signals = open_signals();
	l.line = line;
	l.events.fd = -1;
	l.achstart.away = true;
	l.top.plain = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
	robot_level_open(&l.estop, false, &(struct error_sink){ 0 });
	run(&l, signals);
	top_screen_end();
	status_poll_end(&l.achstart);
	estop_close(&l.estop);
	tail_close(&l.events);
	robot_channels_close(&l.top.channels);
	close(signals);
	return 0;
}

int ctl_top(const struct ctl_line *line)
{
	return line->json ? repeat_status(line) : run_screen(line);
}
