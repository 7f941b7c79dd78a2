/* graph.c: the robot as a picture. */
#include "launch/check/check.h"

/* Colours that differ in grey, too. */
#define PROCESS "#dbe9f6"
#define DRIVER "#bcd7ee"
#define CHANNEL "#fdf3d0"
#define BUS "#3f4a54"
#define DEVICE "#e3efda"
#define STOP "#b3261e"
#define QUIET "#8a949e"

/* Nodes are named by kind and name, since a device and its driver may have the same name. */
static void edge(FILE *to, const char *from_kind, const char *from, const char *to_kind, const char *name,
		 const char *attributes)
{
	fprintf(to, "\t\"%s:%s\" -> \"%s:%s\" [%s]\n", from_kind, from, to_kind, name, attributes);
}

/* Text between tags: paths may hold anything. */
static void print_text(FILE *to, const char *text)
{
	for (; *text; text++) {
		const char *tag = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;

		if (tag)
			fputs(tag, to);
		else
			fputc(*text, to);
	}
}

static void channel(FILE *to, const char *name)
{
	fprintf(to,
		"\t\t\"channel:%s\" [label=\"%s\", shape=box, style=\"rounded,filled\", fillcolor=\"" CHANNEL "\"]\n",
		name, name);
}

static const char *channel_name(char text[TEXT_NAME_MAX + 8], const struct launch_daemon *daemon, const char *end)
{
	snprintf(text, TEXT_NAME_MAX + 8, "%s-%s", daemon->device ? daemon->device->name : daemon->name, end);
	return text;
}

/* A driver without a bus, which reaches devices by their channels. */
static bool is_controller(const struct launch_daemon *daemon)
{
	return daemon->device && !daemon->buses_n;
}

/* Does it take references? */
static bool has_ref(const struct launch_daemon *daemon)
{
	return daemon->device && daemon->device->actuated && !daemon->clock;
}

/* Does the robot file make it tick on the clock? */
static bool follows_clock(const struct launch_daemon *daemon)
{
	const struct yaml_node *tick = daemon->device ? yaml_find(daemon->device->settings, "tick") : NULL;

	return tick && tick->kind == YAML_TEXT && !strncmp(tick->text, "clock", 5);
}

/* ---- nodes ---- */

#define REF_MAX (2 * TEXT_NAME_MAX + 8)

static const char *source_name(char text[REF_MAX], const struct launch_mux *mux, size_t i)
{
	snprintf(text, REF_MAX, "%s.%s-ref", mux->output, mux->sources[i]);
	return text;
}

static void sources(const struct launch_daemon *daemon, FILE *to)
{
	struct launch_mux mux;
	char text[REF_MAX];

	for (size_t i = 0; launch_mux(daemon, &mux) && i < mux.n; i++)
		channel(to, source_name(text, &mux, i));
}

static void channels(const struct launch *launch, FILE *to)
{
	char text[TEXT_NAME_MAX + 8];

	fprintf(to, "\tsubgraph channels {\n\t\trank=same\n");
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];

		if (!daemon->wanted)
			continue;
		if (has_ref(daemon))
			channel(to, channel_name(text, daemon, "ref"));
		if (daemon->alive == LAUNCH_ALIVE_STATE)
			channel(to, daemon->channel);
		sources(daemon, to);
	}
	fprintf(to, "\t\t\"channel:estop\" [label=\"estop, estop-b\", shape=octagon, style=filled, "
		    "fillcolor=\"" STOP "\", fontcolor=white]\n\t}\n");
}

static void process(const struct launch_daemon *daemon, FILE *to)
{
	const char *slash = strrchr(daemon->argv[0], '/'), *program = slash ? slash + 1 : daemon->argv[0];

	fprintf(to, "\t\"process:%s\" [label=<<b>%s</b>", daemon->name, daemon->name);
	if (strcmp(program, daemon->name) != 0) {
		fprintf(to, "<br/><font point-size=\"10\">");
		print_text(to, program);
		fprintf(to, "</font>");
	}
	fprintf(to, ">, shape=box, style=filled, fillcolor=\"%s\"%s]\n", daemon->device ? DRIVER : PROCESS,
		daemon->critical ? ", penwidth=2.5" : "");
}

static void rate(const char *what, int64_t bitrate, FILE *to)
{
	const bool mega = bitrate % 1000000 == 0;

	fprintf(to, ", %s%g %sbit/s", what, (double)bitrate / (mega ? 1e6 : 1e3), mega ? "M" : "k");
}

static void bus(const struct robot_bus *bus, FILE *to)
{
	fprintf(to, "\t\"bus:%s\" [label=<<b>%s</b><br/><font point-size=\"10\">", bus->name, bus->name);
	print_text(to, bus->interface);
	rate("", bus->bitrate, to);
	if (bus->data_bitrate)
		rate("data ", bus->data_bitrate, to);
	fprintf(to, "</font>>, shape=box, height=0.6, style=filled, fillcolor=\"" BUS "\", fontcolor=white]\n");
}

static void device(const struct launch_daemon *daemon, FILE *to)
{
	const struct yaml_node *type = yaml_find(daemon->device->sim, "type");

	fprintf(to, "\t\"device:%s\" [label=<%s", daemon->device->name, daemon->device->name);
	if (type && type->kind == YAML_TEXT && text_is_name(type->text))
		fprintf(to, "<br/><font point-size=\"10\">%s</font>", type->text);
	fprintf(to, ">, shape=component, style=filled, fillcolor=\"" DEVICE "\"]\n");
}

/* ---- edges ---- */

static void mux_edges(const struct launch_daemon *daemon, FILE *to)
{
	struct launch_mux mux;
	char text[REF_MAX];

	if (!launch_mux(daemon, &mux))
		return;
	for (size_t i = 0; i < mux.n; i++)
		edge(to, "channel", source_name(text, &mux, i), "process", daemon->name, "");
	snprintf(text, sizeof(text), "%s-ref", mux.output);
	edge(to, "process", daemon->name, "channel", text, "");
}

static void channel_edges(const struct launch *launch, const struct launch_daemon *daemon, FILE *to)
{
	char text[TEXT_NAME_MAX + 8];

	if (has_ref(daemon))
		edge(to, "channel", channel_name(text, daemon, "ref"), "process", daemon->name, "");
	if (daemon->alive == LAUNCH_ALIVE_STATE)
		edge(to, "channel", daemon->channel, "process", daemon->name, "dir=back");
	mux_edges(daemon, to);
	if (has_ref(daemon) || is_controller(daemon))
		edge(to, "channel", "estop", "process", daemon->name, "color=\"" STOP "\"");
	if (launch->clock && follows_clock(daemon))
		edge(to, "channel", "clock", "process", daemon->name, "style=dashed");
}

static void bus_edges(const struct launch_daemon *daemon, FILE *to)
{
	for (size_t i = 0; i < daemon->buses_n; i++) {
		const char *name = daemon->buses[i]->name;

		edge(to, "process", daemon->name, "bus", name,
		     daemon->clock ? "color=\"" QUIET "\"" : "dir=both, penwidth=1.5");
		if (!daemon->clock)
			edge(to, "bus", name, "device", daemon->device->name, "dir=both, penwidth=1.5");
	}
}

/* canwire serves buses, and the simulator plays devices. */
static void server_edges(const struct launch *launch, const struct launch_daemon *daemon, FILE *to)
{
	for (size_t i = 0; daemon->kind == LAUNCH_CANWIRE && i < daemon->buses_n; i++)
		edge(to, "process", daemon->name, "bus", daemon->buses[i]->name,
		     "style=dotted, arrowhead=none, label=\"serves\"");
	for (size_t i = 0; daemon->kind == LAUNCH_ROBOTSIM && i < launch->daemons_n; i++) {
		const struct launch_daemon *other = &launch->daemons[i];

		if (other->wanted && other->device && other->device->sim)
			edge(to, "device", other->device->name, "process", daemon->name,
			     "style=dotted, arrowhead=none, label=\"played by\"");
	}
}

/* ---- all of it ---- */

void graph_print(const struct launch *launch, FILE *to)
{
	fprintf(to,
		"digraph \"%s\" {\n\trankdir=LR\n\tnodesep=0.25\n\tranksep=0.7\n"
		"\tnode [fontname=\"Helvetica\", fontsize=12, color=\"#4b5560\"]\n"
		"\tedge [fontname=\"Helvetica\", fontsize=10, color=\"#4b5560\", fontcolor=\"" QUIET
		"\", arrowsize=0.7]\n",
		launch->name);
	channels(launch, to);
	for (size_t i = 0; i < launch->daemons_n; i++)
		if (launch->daemons[i].wanted)
			process(&launch->daemons[i], to);
	for (size_t i = 0; i < launch->robot.buses_n; i++)
		if (launch_uses(launch, &launch->robot.buses[i]))
			bus(&launch->robot.buses[i], to);
	for (size_t i = 0; i < launch->daemons_n; i++) {
		const struct launch_daemon *daemon = &launch->daemons[i];

		if (!daemon->wanted)
			continue;
		if (daemon->device && !daemon->clock && !is_controller(daemon))
			device(daemon, to);
		channel_edges(launch, daemon, to);
		if (daemon->device)
			bus_edges(daemon, to);
		server_edges(launch, daemon, to);
	}
	fprintf(to, "}\n");
}
