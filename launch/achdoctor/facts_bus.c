/* facts_bus.c: gathers what there is to know of the interface of a bus. */
#include <dirent.h>
#include <limits.h>
#include <unistd.h>

#include "launch/achdoctor/facts.h"
#include "launch/check/check.h"

#define ARPHRD_OF_CAN 280

/* ---- which device ---- */

/* The device behind an interface, as the last part of its path: "1-2:1.0", "0000:03:00.0". */
static bool device_of(const char *root, const char *interface, char *path, size_t size)
{
	char link[PATH_MAX], real[PATH_MAX];

	snprintf(link, sizeof(link), "%s/sys/class/net/%s/device", root, interface);
	if (!realpath(link, real))
		return false;
	snprintf(path, size, "%s", strrchr(real, '/') + 1);
	return true;
}

static int64_t count_others(const char *root, const char *interface, const char *device)
{
	char path[PATH_MAX], other[64];
	int64_t n = 0;
	struct dirent *e;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/sys/class/net", root);
	folder = opendir(path);
	while (folder && (e = readdir(folder)))
		n += *e->d_name != '.' && strcmp(e->d_name, interface) != 0 &&
		     facts_number(root, "/sys/class/net/%s/type", e->d_name) == ARPHRD_OF_CAN &&
		     device_of(root, e->d_name, other, sizeof(other)) && strcmp(other, device) != 0;
	if (folder)
		closedir(folder);
	return n;
}

/* ---- rules that give names ---- */

/* Has a line that is not a comment NAME="can0", as udev writes it, or Name=can0, as systemd does? */
static bool text_names(char *text, const char *interface)
{
	char udev[64], networkd[64], *save = NULL;

	snprintf(udev, sizeof(udev), "NAME=\"%.15s\"", interface);
	snprintf(networkd, sizeof(networkd), "Name=%.15s", interface);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (*line != '#' && (strstr(line, udev) || !strcmp(line, networkd)))
			return true;
	return false;
}

static bool folder_names(const char *root, const char *folder, const char *ending, const char *interface)
{
	static char text[1 << 16];
	char path[PATH_MAX];
	bool found = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s%s", root, folder);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		if (!lines_before(e->d_name, ending))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		facts_text(root, path, text, sizeof(text));
		found = text_names(text, interface);
	}
	if (d)
		closedir(d);
	return found;
}

static bool is_named(const char *root, const char *interface)
{
	static const char *const places[] = { "/etc", "/run", "/usr/lib", "/lib" };
	char folder[64];
	bool found = false;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !found; i++) {
		snprintf(folder, sizeof(folder), "%s/udev/rules.d", places[i]);
		found = folder_names(root, folder, ".rules", interface);
		snprintf(folder, sizeof(folder), "%s/systemd/network", places[i]);
		found = found || folder_names(root, folder, ".link", interface);
	}
	return found;
}

/* ---- all of it ---- */

void facts_bus_device(struct doctor_bus *b, const char *root)
{
	if (!device_of(root, b->interface, b->device, sizeof(b->device)))
		return;
	b->port = facts_number(root, "/sys/class/net/%s/dev_port", b->interface);
	if (b->port <= 0) /* older drivers count there */
		b->port = facts_number(root, "/sys/class/net/%s/dev_id", b->interface);
	if (b->port < 0)
		b->port = 0;
	b->others = count_others(root, b->interface, b->device);
	b->named = is_named(root, b->interface);
}

void facts_bus(struct doctor_bus *b, const struct facts_scope *scope)
{
	const struct robot_bus *bus = scope->robot ? robot_bus(scope->robot, b->name) : NULL;
	struct lines why;

	if (bus) {
		b->wanted = true;
		b->want = check_link_settings(bus);
	}
	b->links = scope->launch && scope->launch->links;
	if (strchr(b->interface, ':'))
		return;
	b->err = link_query(b->interface, &b->link, lines_begin(&why));
	if (b->err)
		snprintf(b->why, sizeof(b->why), "%s", why.text);
	else
		facts_bus_device(b, scope->root);
}
