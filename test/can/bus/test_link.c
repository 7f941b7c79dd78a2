/* test_link.c: links without a controller; test/vm has the rest. */
#include <sys/socket.h>

#include "test/lib/testcase.h"

#include "can/bus/link.h"

static char last[ERROR_LINE_MAX];
static struct error_sink errors;

void setUp(void)
{
	*last = 0;
	errors = (struct error_sink){ error_keep_last, last, 0 };
}

/* ---- right or not ---- */

static const struct link_info good = {
	.state = BUS_ERROR_ACTIVE,
	.up = true,
	.now = { .bitrate = 1000000, .sample_point_pm = 750, .restart_ms = 0, .queue = 10 },
	.quanta = 8,
	.clock_hz = 8000000,
	.kind = "can",
};

static void expect_other(const char *text, const struct link_info *info, struct link_settings want)
{
	char got[LINK_OTHER_MAX] = "?";

	TEST_ASSERT_EQUAL(*text != 0, link_other(got, info, &want));
	TEST_ASSERT_EQUAL_STRING(text, got);
}

TEST(test_right)
{
	expect_other("", &good, (struct link_settings){ .bitrate = 1000000 });
	expect_other("", &good, (struct link_settings){ .bitrate = 1000000, .sample_point_pm = 750, .queue = 10 });
}

TEST(test_other_values)
{
	struct link_info info = good;

	expect_other("bit rate 1000000, not 500000", &info, (struct link_settings){ .bitrate = 500000 });
	expect_other("restart-ms 0, not 100", &info, (struct link_settings){ .bitrate = 1000000, .restart_ms = 100 });
	expect_other("txqueuelen 10, not 20", &info, (struct link_settings){ .bitrate = 1000000, .queue = 20 });
	expect_other("sample point 0.750, not 0.900", &info,
		     (struct link_settings){ .bitrate = 1000000, .sample_point_pm = 900 });
	info.now.restart_ms = 100;
	info.modes = LINK_LISTEN_ONLY | LINK_ONE_SHOT;
	expect_other("bit rate 1000000, not 250000; restart-ms 100, not 0; listen-only; one-shot", &info,
		     (struct link_settings){ .bitrate = 250000 });
	info.modes = LINK_LISTEN_ONLY | LINK_LOOPBACK | LINK_ONE_SHOT | LINK_PRESUME_ACK;
	info.now = (struct link_settings){ UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX };
	expect_other("bit rate 4294967295, not 4000000000; data bit rate 4294967295, not 4000000000; sample point "
		     "0.4294967295, not 0.999; restart-ms 4294967295, not 4294967294; listen-only; loopback; one-shot; "
		     "presume-ack; txqueuelen 4294967295, not 4294967294",
		     &info, (struct link_settings){ 4000000000, 4000000000, 999, 4294967294, 4294967294 });
}

/* A clock is divided: 83333 for 83.3 kbit/s; of 8 quanta the nearest to 0.875 or 0.800 is 0.750, or 0.875. */
TEST(test_nearly)
{
	struct link_info info = good;

	info.now.bitrate = 83333;
	expect_other("", &info, (struct link_settings){ .bitrate = 83300 });
	expect_other("bit rate 83333, not 80000", &info, (struct link_settings){ .bitrate = 80000 });
	info.now.bitrate = 1005000;
	expect_other("", &info, (struct link_settings){ .bitrate = 1000000 });
	info.now.bitrate = 1005001;
	expect_other("bit rate 1005001, not 1000000", &info, (struct link_settings){ .bitrate = 1000000 });
	info.now.bitrate = 1000000;
	expect_other("", &info, (struct link_settings){ .bitrate = 1000000, .sample_point_pm = 875 });
	expect_other("", &info, (struct link_settings){ .bitrate = 1000000, .sample_point_pm = 625 });
	expect_other("sample point 0.750, not 0.876", &info,
		     (struct link_settings){ .bitrate = 1000000, .sample_point_pm = 876 });
	info.quanta = 0;
	expect_other("sample point 0.750, not 0.751", &info,
		     (struct link_settings){ .bitrate = 1000000, .sample_point_pm = 751 });
	info.now.data_bitrate = 5000000; /* of a robot that does not use it */
	expect_other("", &info, (struct link_settings){ .bitrate = 1000000 });
	expect_other("", &info, (struct link_settings){ .bitrate = 1000000, .data_bitrate = 5000000 });
	expect_other("data bit rate 5000000, not 4000000", &info,
		     (struct link_settings){ .bitrate = 1000000, .data_bitrate = 4000000 });
	info.now.data_bitrate = 0;
	expect_other("classic CAN, not a data bit rate of 4000000", &info,
		     (struct link_settings){ .bitrate = 1000000, .data_bitrate = 4000000 });
	info.now.bitrate = 0; /* not set */
	expect_other("bit rate 0, not 1000000", &info, (struct link_settings){ .bitrate = 1000000 });
}

TEST(test_virtual_is_right_but_for_its_mtu)
{
	struct link_info info = { .up = true, .virtual = true, .now = { .queue = 1000 }, .kind = "vcan" };

	expect_other("", &info, (struct link_settings){ 1000000, 5000000, 875, 9, 10 });
	info.classic = true;
	expect_other("mtu 16, not 72: it carries no CAN FD frame", &info,
		     (struct link_settings){ 1000000, 5000000, 875, 9, 10 });
	expect_other("", &info, (struct link_settings){ .bitrate = 1000000 });
}

/* ---- names ---- */

/* All three calls answer alike, with one line and nothing on stderr. */
static void expect_refusal(const char *name, int error, const char *line)
{
	const struct link_settings want = { .bitrate = 1000000 };
	char path[] = "/tmp/test_link.XXXXXX", noise[2];
	int file = mkstemp(path), was = dup(STDERR_FILENO);
	struct link_info info;
	int answers[3];

	unlink(path);
	TEST_ASSERT_TRUE(file >= 0 && was >= 0);
	dup2(file, STDERR_FILENO);
	answers[0] = link_query(name, &info, &errors);
	answers[1] = link_up(name, &want, &errors);
	answers[2] = link_reset(name, &errors);
	dup2(was, STDERR_FILENO);
	TEST_ASSERT_EQUAL_INT_MESSAGE(0, pread(file, noise, 1, 0), "printed to stderr");
	close(was);
	close(file);
	for (int i = 0; i < 3; i++)
		TEST_ASSERT_EQUAL_INT(error, answers[i]);
	TEST_ASSERT_EQUAL_UINT(3, errors.count);
	errors.count = 0;
	TEST_ASSERT_EQUAL_STRING_LEN(line, last, strlen(line));
}

TEST(test_names_without_a_link)
{
	expect_refusal("log:x.log", -EINVAL, "log:x.log: a log has no link; say an interface such as can0");
	expect_refusal("", -EINVAL, "\"\" is not a link: ");
	expect_refusal("a b", -EINVAL, "\"a b\" is not a link: ");
	expect_refusal("sixteen_letters_", -EINVAL, "\"sixteen_letters_\" is not a link: ");
	expect_refusal("foo:bar", -EINVAL, "\"foo:bar\" is not a link: ");
}

TEST(test_no_such_interface)
{
	int s = socket(AF_CAN, SOCK_RAW, 1);
	char name[16];

	snprintf(name, sizeof(name), "no%d", getpid() % 1000000);
	if (s >= 0) {
		char line[64];

		close(s);
		snprintf(line, sizeof(line), "%s: no such CAN interface; ", name);
		expect_refusal(name, -ENODEV, line);
		expect_refusal("lo", -EMEDIUMTYPE, "lo is not a CAN interface; ");
	} else {
		expect_refusal("can0", -EAFNOSUPPORT, "can0: this kernel has no CAN: ");
	}
}

TEST(test_kinds)
{
	static const struct {
		const char *kind;
		bool is_virtual;
	} kinds[] = { { "vcan", true },	  { "vxcan", true }, { "wire", true },	 { "can", false },
		      { "slcan", false }, { "", false },     { "vcan0", false }, { "dummy", false } };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		TEST_ASSERT_EQUAL_MESSAGE(kinds[i].is_virtual, link_kind_is_virtual(kinds[i].kind), kinds[i].kind);
	TEST_ASSERT_TRUE(link_is_virtual("wire:none"));
	TEST_ASSERT_FALSE(link_is_virtual("log:none"));
	TEST_ASSERT_FALSE(link_is_virtual("lo"));
	TEST_ASSERT_FALSE(link_is_virtual("vcan-none"));
	TEST_ASSERT_FALSE(link_is_classic("wire:none", &errors));
	TEST_ASSERT_FALSE(link_is_classic("log:none", &errors));
	TEST_ASSERT_FALSE(link_is_classic("lo", &errors));
	TEST_ASSERT_FALSE(link_is_classic("vcan-none", &errors));
	TEST_ASSERT_EQUAL_UINT(0, errors.count);
}
