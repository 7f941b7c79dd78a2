/* control_call.c: asks achstart. */
#include <sys/socket.h>
#include <unistd.h>

#include "channels/client/control_call.h"
#include "channels/port/rpc.h"

#define PAUSE_NS 20000000 /* before it is tried again, when too many ask at once */
#define TRIES 5

const char *const *control_call_arm(struct control_call_arm *arm, const char *who, const struct estop_seen *seen)
{
	arm->words[0] = "arm";
	arm->words[1] = who;
	for (int i = 0; i < 4; i++) {
		snprintf(arm->seen[i], sizeof(arm->seen[i]), "%llu",
			 (unsigned long long)(i % 2 ? seen->seq : seen->id)[i / 2]);
		arm->words[2 + i] = arm->seen[i];
	}
	arm->words[6] = NULL;
	return arm->words;
}

/* ---- connecting ---- */

static int no_achstart(int status, const char *path, struct error_sink *errors)
{
	switch (status) {
	case ENOENT:
	case ECONNREFUSED:
	case ENOTDIR:
		return error_refuse(errors, -ENOENT, "no achstart runs this robot (%s)", path);
	case EACCES:
		return error_refuse(errors, -EACCES,
				    "%s: %s: only the robot's user and the groups of its launch file may use it", path,
				    strerror(status));
	case EPERM:
		return error_refuse(
			errors, -EPERM,
			"%s/control: the process there belongs neither to the owner of the folder nor to root", path);
	case EAGAIN:
		return error_refuse(errors, -EAGAIN, "%s: too many ask at once; try again", path);
	default:
		return error_refuse(errors, -status, "%s: %s", path, strerror(status));
	}
}

/* A descriptor or -errno. */
static int connect_control(struct error_sink *errors)
{
	const unsigned int lines = errors->count;
	char path[RUN_PATH_MAX];
	int fd;

	if (run_path(path, "control", errors))
		return -ENOENT;
	fd = rpc_connect(path, errors);
	*strrchr(path, '/') = 0;
	return fd < 0 && errors->count == lines ? no_achstart(-fd, path, errors) : fd;
}

/* Is it done only until a certain time?  A raise is done whenever it comes. */
static bool is_command(const char *const *words)
{
	return strcmp(words[0], "status") != 0 && strcmp(words[0], "raise") != 0;
}

static int write_line(char line[RPC_QUESTION_MAX], const char *const *words, int64_t until_ns,
		      struct error_sink *errors)
{
	size_t len = 0;

	for (size_t i = 0; words[i]; i++) {
		char until[32] = "";
		int n;

		if (!i && is_command(words))
			snprintf(until, sizeof(until), "\t%lld", (long long)until_ns);
		n = snprintf(line + len, RPC_QUESTION_MAX - len, "%s%s%s%s", i ? "\t" : "", words[i], until,
			     words[i + 1] ? "" : "\n");
		len += (size_t)n;
		if (len >= RPC_QUESTION_MAX || strpbrk(words[i], "\t\n"))
			return error_refuse(errors, -EINVAL,
					    "a word of the command is too long, or has a tab or a newline in it");
	}
	return 0;
}

static int lost(const struct control_call *a, struct error_sink *errors)
{
	return error_refuse(errors, -ECONNRESET, "achstart, process %d, closed the connection without an answer",
			    (int)a->pid);
}

int control_call_begin(struct control_call *a, const char *const *words, int64_t until_ns, struct error_sink *errors)
{
	char line[RPC_QUESTION_MAX];
	int status;

	*a = (struct control_call){ .fd = -1, .error = "" };
	status = write_line(line, words, until_ns, errors);
	if (status)
		return status;
	a->fd = connect_control(errors);
	if (a->fd < 0)
		return a->fd;
	a->pid = rpc_peer(a->fd);
	clock_touch(a->pid);
	if (send(a->fd, line, strlen(line), MSG_NOSIGNAL) < 0) {
		status = lost(a, errors);
		control_call_end(a);
	}
	return status;
}

void control_call_cancel(struct control_call *a)
{
	clock_touch(a->pid);
	send(a->fd, "cancel", strlen("cancel"), MSG_NOSIGNAL);
}

void control_call_end(struct control_call *a)
{
	if (a->fd >= 0) {
		clock_touch(a->pid); /* it sees the end of the connection */
		close(a->fd);
	}
	free(a->text);
	yaml_close(a->doc);
	*a = (struct control_call){ .fd = -1, .error = "" };
}

/* ---- the answer ---- */

struct clock_fd control_call_fd(const struct control_call *a)
{
	return (struct clock_fd){ .fd = a->fd, .events = POLLIN };
}

static int understand(struct control_call *a, struct error_sink *errors)
{
	const struct yaml_node *node;
	int status;

	a->text[strcspn(a->text, "\n")] = 0;
	status = yaml_open_text(&a->doc, "the answer of achstart", a->text, strlen(a->text), errors);
	if (status)
		return status;
	node = yaml_find(yaml_root(a->doc), "ok");
	if (!node || yaml_bool(node, &a->ok))
		return error_refuse(errors, -EBADMSG,
				    "the answer of achstart makes no sense: is it of another version?");
	node = yaml_find(yaml_root(a->doc), "error");
	if (node && node->kind == YAML_TEXT)
		a->error = node->text;
	return 1;
}

int control_call_step(struct control_call *a, struct error_sink *errors)
{
	const int status = rpc_receive(a->fd, &a->text);

	if (status)
		return status == -EAGAIN ? 0 : lost(a, errors);
	return understand(a, errors);
}

static void take(char text[MSG_TEXT_SIZE], const struct yaml_node *root, const char *key)
{
	const struct yaml_node *node = yaml_find(root, key);

	snprintf(text, MSG_TEXT_SIZE, "%s", node && node->kind == YAML_TEXT ? node->text : "");
}

void control_call_reply(const struct control_call *a, struct msg_reply *reply)
{
	const struct yaml_node *root = yaml_root(a->doc), *result = yaml_find(root, "result");
	int64_t number = -EBADMSG;

	if (result && result->kind == YAML_TEXT)
		text_int(result->text, &number);
	*reply = (struct msg_reply){ .result = (int32_t)number };
	take(reply->value, root, "value");
	take(reply->error, root, "error");
}

static int ask_once(struct control_call *a, const char *const *words, int64_t deadline_ns, struct error_sink *errors)
{
	const int64_t quarter_ns = (deadline_ns - clock_now_ns()) / 4;
	int status = control_call_begin(
		a, words, deadline_ns - (quarter_ns < CONTROL_CALL_GRACE_NS ? quarter_ns : CONTROL_CALL_GRACE_NS),
		errors);

	if (status)
		return status;
	while (!status) {
		struct clock_fd fd = control_call_fd(a);

		if (!clock_wait(&fd, 1, deadline_ns)) {
			error_add(errors, "achstart, process %d, does not answer%s", (int)a->pid,
				  is_command(words) ? "; it will not be done later" : "");
			status = -ETIMEDOUT;
		} else {
			status = control_call_step(a, errors);
		}
	}
	if (status < 0)
		control_call_end(a);
	return status < 0 ? status : 0;
}

int control_call_for(struct control_call *a, const char *const *words, int64_t deadline_ns, struct error_sink *errors)
{
	char why[ERROR_LINE_MAX] = "";
	struct error_sink last = { error_keep_last, why, 0 };
	int status = 0;

	/* A queue that is full, or a place that is not free, soon is; but nothing is to be done twice. */
	for (int i = 0; i < TRIES; i++) {
		status = ask_once(a, words, deadline_ns, &last);
		if (status != -EAGAIN && !(status == -ECONNRESET && !is_command(words)))
			break;
		if (clock_now_ns() + PAUSE_NS > deadline_ns)
			break;
		clock_wait(NULL, 0, clock_now_ns() + PAUSE_NS);
	}
	if (status)
		error_add(errors, "%s", why);
	return status;
}

bool control_call_did_not_arrive(int status)
{
	return status == -ENOENT || status == -EACCES || status == -EAGAIN || status == -EINVAL;
}
