/* canwire_commands.c: the commands of canwire but run: frames on a wire, questions to the canwire that serves it. */
#include "can/bus/attach.h"
#include "can/bus/bus.h"
#include "can/bus/frame_text.h"
#include "can/log/log.h"
#include "can/tool/can_tool.h"
#include "can/tool/canwire.h"
#include "channels/clock/clock.h"
#include "config/settings/program.h"

#define CONFIRM_NS 1000000000
#define RETRY_NS 1000000

static int open_wire(struct bus **bus, const struct canwire_options *w, const char *name,
		     const struct bus_options *options)
{
	char full[2 * TEXT_NAME_MAX + 16], part[TEXT_NAME_MAX + 1], as[TEXT_NAME_MAX + 1];
	const char *wrong = attach_split(name, part, as);
	char quoted[TEXT_QUOTED_MAX];

	if (wrong)
		return program_wrong("%s: %s", name, wrong);
	if (!text_is_name(w->as))
		return program_wrong("--as: %s is not a name: 1 to %d letters, digits, _ . -",
				     text_quote(quoted, w->as), TEXT_NAME_MAX);
	snprintf(full, sizeof(full), "wire:%s@%.*s", part, TEXT_NAME_MAX, strchr(name, '@') ? as : w->as);
	return bus_open(bus, full, options, &program_errors) ? EXIT_RETRY : 0;
}

/* ---- send ---- */

/* Until its echo is there. */
static int confirm(struct bus *bus, const char *text, int64_t deadline_ns)
{
	struct clock_fd fd = { .fd = bus_fd(bus), .events = POLLIN };
	struct bus_frame got;

	for (;;) {
		int n = bus_receive(bus, &got, 1);

		if (n > 0 && got.flags & BUS_OWN)
			return 0;
		if (n < 0)
			return program_fail("%s: %s", text, strerror(-n));
		if (!n && clock_wait(&fd, 1, deadline_ns) <= 0)
			return program_fail("%s: not sent within a second: does a node acknowledge it? "
					    "(canwire stats shows the controllers)",
					    text);
	}
}

static int send_one(struct bus *bus, const struct frame *frame, const char *text)
{
	int64_t deadline_ns = clock_now_ns() + CONFIRM_NS;
	int r;

	while ((r = bus_send(bus, frame)) == -ENOBUFS && clock_now_ns() < deadline_ns)
		clock_wait(NULL, 0, clock_now_ns() + RETRY_NS);
	if (r == -EINVAL && frame->flags & FRAME_FD)
		return program_fail("%s: CAN FD frame, but this is a classic bus; run canwire with --fd", text);
	if (r)
		return program_fail("%s: %s", text, strerror(-r));
	return confirm(bus, text, deadline_ns);
}

int canwire_send(const struct canwire_options *w, int argc, char **argv)
{
	static const struct bus_filter none;
	struct bus *bus = NULL;
	struct frame frame;
	int status;

	for (int i = 1; i < argc; i++) {
		const char *wrong = frame_text_read(&frame, argv[i], strlen(argv[i]));

		if (!wrong && frame.id & FRAME_ERR)
			wrong = "a soft wire carries data and remote frames";
		if (wrong)
			return program_wrong("%s: %s", argv[i], wrong);
	}
	status = open_wire(&bus, w, argv[0], &(struct bus_options){ .filters = &none, .filters_n = 0, .fd = true });
	for (int i = 1; !status && i < argc; i++) {
		frame_text_read(&frame, argv[i], strlen(argv[i]));
		status = send_one(bus, &frame, argv[i]);
	}
	bus_close(bus);
	return status;
}

/* ---- dump ---- */

/* Prints what one bus_receive returned.  false: the end. */
static bool dump_some(struct bus *bus, const char *name, int64_t real_ns, uint64_t *left, int *error)
{
	struct bus_frame got[64];
	int n = bus_receive(bus, got, 64);

	for (int i = 0; i < n && *left; i++, --*left)
		can_tool_frame(got[i].t_ns + real_ns, name, &got[i].frame);
	if (n <= 0)
		fflush(stdout);
	if (n < 0 && n != *error)
		program_say("%s: %s", bus_name(bus), n == -ENODEV ? "gone; waiting for it" : "down; waiting for it");
	else if (n >= 0 && *error)
		program_say("%s: is back", bus_name(bus));
	*error = n < 0 ? n : 0;
	return *left && !ferror(stdout);
}

int canwire_dump(const struct canwire_options *w, int argc, char **argv)
{
	const int64_t real_ns = clock_real_ns() - clock_now_ns();
	char name[TEXT_NAME_MAX + 1], as[TEXT_NAME_MAX + 1];
	struct bus *bus = NULL;
	uint64_t left = w->count ? (uint64_t)w->count : UINT64_MAX, dropped;
	struct clock_fd fds[2];
	int error = 0, status;

	(void)argc;
	fds[1] = (struct clock_fd){ .fd = clock_stop_fd(), .events = POLLIN };
	status = open_wire(&bus, w, argv[0], &(struct bus_options){ .errors = w->errors, .fd = true });
	if (status)
		return status;
	attach_split(argv[0], name, as);
	fds[0] = (struct clock_fd){ .fd = bus_fd(bus), .events = POLLIN };
	do
		clock_wait(fds, 2, bus_next_ns(bus));
	while (dump_some(bus, name, real_ns, &left, &error) && !fds[1].ready);
	fflush(stdout);
	dropped = bus_stats(bus)->dropped;
	if (dropped)
		program_say("%" PRIu64 " frames were lost: this program was too slow", dropped);
	bus_close(bus);
	return 0;
}

/* ---- questions ---- */

static char answer[ATTACH_ANSWER_MAX];

static int ask(const char *bus, const char *question)
{
	return attach_question(bus, question, answer, sizeof(answer), &program_errors) ? EXIT_RETRY : 0;
}

/* "fault", and the words behind the bus. */
static int ask_words(const char *verb, int argc, char **argv)
{
	char question[1024];
	struct text_out out = text_out(question, sizeof(question));

	text_add(&out, "%s", verb);
	for (int i = 1; i < argc; i++)
		text_add(&out, " %s", argv[i]);
	if (out.len >= sizeof(question))
		return program_wrong("that is too long");
	return ask(argv[0], question);
}

/* ---- stats ---- */

static void write_value(struct json *j, const char *key, const char *value)
{
	if (value[strspn(value, "0123456789.")])
		json_text(j, key, value);
	else
		json_raw(j, key, value);
}

/* Each line is an object: its kind says in which list, then name and value by turns. */
static void print_json(char *text)
{
	struct json j = json_to(stdout);
	const char *list = NULL;
	char *save = NULL;

	json_object(&j, NULL);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *words = NULL, lists[32];
		const char *kind = strtok_r(line, " ", &words), *key;

		if (list && strcmp(list, kind) != 0)
			json_end(&j);
		snprintf(lists, sizeof(lists), "%ss", kind);
		if (!strcmp(kind, "bus")) {
			json_object(&j, "bus");
		} else {
			if (!list || strcmp(list, kind) != 0)
				json_array(&j, lists);
			json_object(&j, NULL);
			list = kind;
		}
		write_value(&j, strcmp(kind, "program") ? "name" : "pid", strtok_r(NULL, " ", &words));
		while ((key = strtok_r(NULL, " ", &words)))
			write_value(&j, key, strtok_r(NULL, " ", &words));
		json_end(&j);
	}
	while (j.depth)
		json_end(&j);
	putchar('\n');
}

/* For people: the name, then what is not 0, as many to a line as fit. */
static void print_table(char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *words = NULL;
		const char *kind = strtok_r(line, " ", &words), *name = strtok_r(NULL, " ", &words), *key, *value;
		bool first = true;
		int column = printf("%s%s %s:", strcmp(kind, "bus") ? "  " : "", kind, name);

		while ((key = strtok_r(NULL, " ", &words)) && (value = strtok_r(NULL, " ", &words))) {
			char pair[80];
			int n;

			if (!strcmp(value, "0") && strcmp(key, "frames") && strcmp(key, "power") &&
			    strcmp(key, "connected"))
				continue;
			if ((!strcmp(key, "power") || !strcmp(key, "connected")) && !strcmp(value, "1"))
				continue;
			if (!strcmp(key, "state"))
				n = snprintf(pair, sizeof(pair), " %s", value);
			else
				n = snprintf(pair, sizeof(pair), " %s %s", key, value);
			if (column + n > 79)
				column = printf(",\n     ") - 2;
			else if (!first)
				column += printf(",");
			column += printf("%s", pair);
			first = false;
		}
		putchar('\n');
	}
}

int canwire_stats(const struct canwire_options *w, int argc, char **argv)
{
	int status = ask(argv[0], "stats");

	(void)argc;
	if (!status)
		(w->json ? print_json : print_table)(answer);
	return status;
}

/* ---- fault, link ---- */

int canwire_fault(const struct canwire_options *w, int argc, char **argv)
{
	(void)w;
	return ask_words("fault", argc, argv);
}

int canwire_link(const struct canwire_options *w, int argc, char **argv)
{
	char host[] = ATTACH_HOST, *with_host[] = { argv[0], argv[1], host };
	int status = argc == 2 ? ask_words("link", 3, with_host) : ask_words("link", argc, argv);

	(void)w;
	if (!status && *answer)
		puts(answer);
	return status;
}
