/* drop_in.c: what achdds@.service has to allow for a plan that does not stay on lo. */
#include <arpa/inet.h>
#include <ifaddrs.h>

#include "launch/achdds/drop_in.h"

static void allow(FILE *to, const char *what)
{
	fprintf(to, "IPAddressAllow=%s\n", what);
}

/* Programs of this machine send from and to the addresses of the interface. */
static void allow_own(FILE *to, const char *interface)
{
	struct ifaddrs *all = NULL;
	char text[INET_ADDRSTRLEN];

	if (getifaddrs(&all))
		return;
	for (const struct ifaddrs *one = all; one; one = one->ifa_next) {
		struct sockaddr_in ipv4;

		if (!one->ifa_addr || one->ifa_addr->sa_family != AF_INET || strcmp(one->ifa_name, interface) != 0)
			continue;
		memcpy(&ipv4, one->ifa_addr, sizeof(ipv4));
		allow(to, inet_ntop(AF_INET, &ipv4.sin_addr, text, sizeof(text)));
	}
	freeifaddrs(all);
}

void drop_in_print(FILE *to, const struct bridge_file *file, const char *robot)
{
	if (!strcmp(file->interface, "lo"))
		return;
	fprintf(to,
		"# achdds@.service allows packets of this machine only.  For interface %s write these lines with\n"
		"# systemctl edit achdds@%s\n"
		"[Service]\n",
		file->interface, robot);
	if (!file->peers_n) {
		allow(to, "any");
		return;
	}
	allow_own(to, file->interface);
	for (size_t i = 0; i < file->peers_n; i++)
		allow(to, file->peers[i]);
	if (file->multicast)
		allow(to, "multicast");
}
