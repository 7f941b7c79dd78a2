/* ear.c: CDR bytes through Cyclone DDS, on the loopback interface; as fast.cc.  Its sockets have no filter.
 *
 *	ear DOMAIN read			prints "TOPIC HEX" for each sample
 *	ear DOMAIN write [HZ]		writes each sample HZ (20) times a second
 *	ear DOMAIN garbage [HZ]		writes random bytes instead, often the sample with some of them changed
 *
 * Standard input has a line for each topic: "TOPIC TYPE reliable|best [HEX]".  All go on until they are killed.
 * "matched TOPIC" is printed as soon as another end is there.  $EAR_KEYS is a folder of scripts/dds-keys;
 * $EAR_INTERFACE and $EAR_PEER are another interface than lo, and an address that is asked for participants there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "channels/clock/clock.h"
#include "launch/achdds/dds_node.h"
#include "test/lib/lib.h"

#define ENDS_MAX 100
#define BYTES_MAX 65536

struct end {
	char topic[256];
	uint8_t bytes[4096];
	size_t len;
	struct dds_node_reader *reader;
	struct dds_node_writer *writer;
	bool matched;
};

static struct end ends[ENDS_MAX];
static size_t ends_n;
static uint64_t seed = 88172645463325252u;

static void read_ends(struct dds_node *node, bool reads, struct error_sink *errors)
{
	static char line[10000], type[256], how[16], hex[8200];

	while (ends_n < ENDS_MAX && fgets(line, sizeof(line), stdin)) {
		struct end *e = &ends[ends_n++];
		struct dds_node_topic topic = { .topic = e->topic, .type = type };

		*hex = 0;
		LIB_CHECK(sscanf(line, "%255s %255s %15s %8191s", e->topic, type, how, hex) >= 3);
		topic.qos = strcmp(how, "best") ? DDS_NODE_DEFAULT : DDS_NODE_SENSOR;
		for (; hex[2 * e->len]; e->len++)
			LIB_CHECK(sscanf(hex + 2 * e->len, "%2hhx", &e->bytes[e->len]) == 1);
		if (reads)
			e->reader = dds_node_read(node, &topic, errors);
		else
			e->writer = dds_node_write(node, &topic, errors);
		LIB_CHECK(e->reader || e->writer);
	}
}

static void print_samples(struct end *e)
{
	struct dds_node_sample sample;

	while (e->reader && dds_node_take(e->reader, &sample) > 0) {
		printf("%s ", e->topic);
		for (size_t i = 0; i < sample.len; i++)
			printf("%02x", sample.cdr[i]);
		printf("\n");
		dds_node_release(&sample);
	}
}

static void put_garbage(struct end *e)
{
	static uint8_t bytes[BYTES_MAX];
	size_t len = e->len;

	if (len && lib_random(&seed) % 4) {
		memcpy(bytes, e->bytes, len);
		for (size_t i = 1 + lib_random(&seed) % 4; i; i--)
			bytes[lib_random(&seed) % len] = (uint8_t)lib_random(&seed);
		len -= lib_random(&seed) % 3 ? 0 : lib_random(&seed) % len;
	} else {
		len = lib_random(&seed) % (lib_random(&seed) % 8 ? 200 : sizeof(bytes));
		for (size_t i = 0; i < len; i++)
			bytes[i] = (uint8_t)lib_random(&seed);
		memcpy(bytes, "\0\1\0", 4); /* else all of it ends at the encapsulation */
	}
	dds_node_put(e->writer, bytes, len);
}

/* A variable of the environment, or the default if it is empty or missing. */
static const char *variable(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

/* The files of a folder; NULL: there is none. */
static const struct dds_node_security *security(const char *folder)
{
	static struct dds_node_security s;

#define FILE_OF(member, suffix) \
	LIB_CHECK(snprintf(s.member, sizeof(s.member), "%s/" #member suffix, folder) < (int)sizeof(s.member))
	if (!folder)
		return NULL;
	FILE_OF(identity_ca, ".pem");
	FILE_OF(certificate, ".pem");
	FILE_OF(key, ".pem");
	FILE_OF(permissions_ca, ".pem");
	FILE_OF(governance, ".p7s");
	FILE_OF(permissions, ".p7s");
	return &s;
}

int main(int argc, char **argv)
{
	const char *const peers[] = { variable("EAR_PEER", "127.0.0.1") };
	struct error_sink errors = { error_to_stderr, NULL, 0 };
	const bool reads = argc > 2 && !strcmp(argv[2], "read"), garbage = argc > 2 && !strcmp(argv[2], "garbage");
	struct dds_node_options options = {
		.name = "ear", .space = "/", .interface = variable("EAR_INTERFACE", "lo"), .peers = peers, .peers_n = 1
	};
	int64_t next_ns, step_ns;
	struct dds_node *node;

	LIB_CHECK(argc > 2);
	lib_watchdog("ear", LIB_HANG_S);
	options.security = security(variable("EAR_KEYS", NULL));
	options.domain = (unsigned int)atoi(argv[1]);
	step_ns = (int64_t)(1e9 / (argc > 3 ? atof(argv[3]) : 20));
	LIB_CHECK(!dds_node_open(&node, &options, &errors));
	read_ends(node, reads, &errors);
	dds_node_announce(node);
	for (next_ns = clock_now_ns();; next_ns += step_ns) {
		struct clock_fd fd = { .fd = reads ? dds_node_fd(node) : -1, .events = POLLIN };

		for (size_t i = 0; i < ends_n; i++) {
			struct end *e = &ends[i];

			if (!e->matched && (e->reader ? dds_node_writers(e->reader) : dds_node_readers(e->writer))) {
				e->matched = true;
				printf("matched %s\n", e->topic);
			}
			if (e->writer && garbage)
				put_garbage(e);
			else if (e->writer)
				dds_node_put(e->writer, e->bytes, e->len);
			print_samples(e);
		}
		fflush(stdout);
		clock_wait(&fd, 1, next_ns + step_ns);
		if (reads) {
			dds_node_seen(node);
			next_ns = clock_now_ns() - step_ns;
		}
	}
}
