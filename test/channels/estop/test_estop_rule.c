/* test_estop_rule.c: the level of the e-stop, by small histories of both channels.
 *
 * A history is a text of steps, separated by blanks; each ends with the level that a look must find:
 *
 *	a:L b:H =hold		a lowering on estop that has seen everything, a raise to hold on estop-b, a look
 *
 * Messages, on channel a (estop) or b (estop-b):
 *	L l e	lowering to run, hold, estop		H E	raise to hold, to estop
 *	X	invalid message				R	raise to run, not a valid raise
 * behind which may stand what is wrong with it:
 *	-	its writer had not read the newest message of estop
 *	_	its writer had not read the newest message of estop-b
 *	@	of another channel estop		%	of another channel estop-b
 *	!	of another boot				+	its writer claims to have read a message more of estop
 *	~	until before now			^	published later than any other, as it says
 * Other steps:
 *	a? b?	cannot be read in the next look		a* b*	is another, empty channel from now on
 *	a< b<	the newest message is gone		t	time passes until beyond every lowering
 *	a>N b>N	only the newest N messages are there still
 *	kill	another process goes on with what the last one kept; lost: without it; boot: in another boot
 *	ratify, content	what estop_rule_must_ratify must say
 *	condemn, spare	whether estop-b is to be condemned
 */
#include "channels/estop/estop_rule.h"
#include "test/lib/testcase.h"

#define ROOM 16
#define LONG 100 /* a lowering holds */

static struct estop_rule rule;
static struct estop_window w[ESTOP_CHANNELS];
static struct msg_estop messages[ESTOP_CHANNELS][ROOM];
static int64_t now;
static uint64_t boot[2];
static char where[300];

void setUp(void)
{
	memset(messages, 0, sizeof(messages));
	for (int c = 0; c < ESTOP_CHANNELS; c++)
		w[c] = (struct estop_window){
			.readable = true, .id = 10 + (uint64_t)c, .messages = messages[c], .room = ROOM
		};
	now = 1000;
	boot[0] = 1;
	boot[1] = 2;
	estop_rule_start(&rule, NULL, boot);
}

static void put(int c, const char *what)
{
	const char *wrong = what + 1;
	struct msg_estop m = { .kind = strchr("Lle", *what) ? MSG_ESTOP_LOWER : MSG_ESTOP_RAISE,
			       .level = strchr("lH", *what)   ? MSG_LEVEL_HOLD
					: strchr("eE", *what) ? MSG_LEVEL_ESTOP
							      : MSG_LEVEL_RUN,
			       .boot = { boot[0], boot[1] + !!strchr(wrong, '!') },
			       .chan = { w[0].id + !!strchr(wrong, '@'), w[1].id + !!strchr(wrong, '%') },
			       .seen = { w[0].newest, w[1].newest },
			       .header.t_publish_ns = now,
			       .until_ns = now + (strchr(wrong, '~') ? 0 : 1 + LONG) };

	now++;
	if (*what == 'X')
		m.kind = ESTOP_INVALID;
	m.header.t_publish_ns += strchr(wrong, '^') ? 10 * LONG : 0;
	m.seen[0] += strchr(wrong, '+') != NULL;
	m.seen[0] -= strchr(wrong, '-') != NULL;
	m.seen[1] -= strchr(wrong, '_') != NULL;
	w[c].newest++;
	w[c].oldest += !w[c].oldest;
	messages[c][w[c].newest % ROOM] = m;
}

/* An evaluation of windows that are known finds what a full one does. */
static void evaluate(const char *expected)
{
	struct estop_rule full = rule;
	const enum msg_level level = estop_rule_level(&rule, w, now);

	full.settled = false;
	TEST_ASSERT_EQUAL_MESSAGE(estop_rule_level(&full, w, now), level, where);
	TEST_ASSERT_EQUAL_PTR_MESSAGE(full.because, rule.because, where);
	TEST_ASSERT_EQUAL_PTR_MESSAGE(full.base, rule.base, where);
	TEST_ASSERT_EQUAL_MEMORY_MESSAGE(&full.kept, &rule.kept, sizeof(full.kept), where);
	TEST_ASSERT_EQUAL_UINT64_MESSAGE(full.void_to, rule.void_to, where);
	TEST_ASSERT_EQUAL_STRING_MESSAGE(expected, msg_level_word(level), where);
	TEST_ASSERT_EQUAL_MESSAGE(level, rule.level, where);
	TEST_ASSERT_TRUE_MESSAGE(rule.because || rule.reason, where);
	w[0].readable = w[1].readable = true;
}

static void step_channel(int c, const char *what)
{
	switch (*what) {
	case '?':
		w[c].readable = false;
		break;
	case '*':
		w[c].id += 2;
		w[c].newest = w[c].oldest = 0;
		break;
	case '<':
		w[c].newest--;
		w[c].oldest -= w[c].oldest > w[c].newest;
		break;
	case '>':
		w[c].oldest = w[c].newest - strtoull(what + 1, NULL, 10) + 1;
		break;
	default:
		TEST_FAIL_MESSAGE(where);
	}
}

static void step(const char *what)
{
	const struct estop_kept kept = rule.kept;

	if (what[1] == ':')
		put(*what == 'b', what + 2);
	else if (*what == '=')
		evaluate(what + 1);
	else if (!strcmp(what, "condemn") || !strcmp(what, "spare"))
		TEST_ASSERT_EQUAL_MESSAGE(*what == 'c', rule.back_b, where);
	else if (!strcmp(what, "t"))
		now += LONG + 1;
	else if (!strcmp(what, "until"))
		now += LONG;
	else if (!strcmp(what, "kill"))
		estop_rule_start(&rule, &kept, boot);
	else if (!strcmp(what, "lost"))
		estop_rule_start(&rule, NULL, boot);
	else if (!strcmp(what, "boot")) {
		boot[1]++;
		estop_rule_start(&rule, &kept, boot);
	} else if (!strcmp(what, "ratify") || !strcmp(what, "content"))
		TEST_ASSERT_EQUAL_MESSAGE(*what == 'r', estop_rule_must_ratify(&rule, w), where);
	else
		step_channel(*what == 'b', what + 1);
}

static const char *const histories[] = {
	/* up and down */
	"=estop a:L =run =run t =run",
	"a:l =hold a:L =run",
	"a:L =run a:H =hold a:E =estop a:H =estop a:L =run",
	"a:L =run b:H =hold b:E =estop a:L =run",
	"a:L =run b:H_ =hold",
	/* a raise to run is not valid, and neither is a lowering on estop-b */
	"a:L =run a:R =estop",
	"a:L =run b:R =estop",
	"a:L =run b:L =estop",
	"a:L =run b:L =estop t =estop",
	"a:L =run a:e =estop =estop b? =estop content",
	/* valid at one place of two channels in one boot, in time */
	"a:L- =estop",
	"a:H =estop a:L- =estop =estop",
	"a:L+ =estop",
	"a:L@ =estop",
	"a:L% =estop",
	"a:L! =estop",
	"a:L~ =estop",
	"a:L t =estop",
	"a:L until =run",
	/* the newest valid one decides, also if it is too late; an invalid one is a raise */
	"a:L =run a:L~ =estop",
	"a:L =run a:L+ =estop",
	"a:L =run a:L@ =estop a:L =run",
	/* a raise that the lowering has not seen */
	"a:H b:E a:L_ =estop =estop",
	"b:H a:L_ =estop =estop",
	"a:L =run b:E a:L =estop =run",
	"a:L =run a:E a:L =estop =run",
	"a:L =run a:E b:H a:l =estop =hold",
	/* a raise whose writer had not seen the base counts as estop */
	"a:L =run a:H- =estop =estop",
	"a:L =run b:H- =estop =estop",
	"a:L =run a:H@ =estop =estop",
	"a:L =run b:H@ =estop =estop",
	/* invalid */
	"a:L =run a:X =estop =estop a:L =run",
	"a:L =run b:X =estop a:L =run",
	"a:X =estop a:L =run",
	"b:X a:L =run",
	/* overwritten before it was read */
	"a:L =run a:H a:H a:H a>2 =estop =estop a:L =run",
	"a:L =run b:H b:H b:H b>2 =estop a:L =run",
	"a:L =run a:H a>1 =estop",
	"a:L =run b:H b>1 =hold",
	"b:H b:H b>1 a:L =run",
	"a:H a:H a:L a>1 =run",
	"a:L =run b:H b:H b>2 =hold",
	"a:H =estop a:H a:H a:L a>2 =estop =run",
	"a:H =estop a:H a:L a>2 =hold =run",
	/* cannot be read */
	"a:L =run a? =estop =estop a:L =run",
	"a:L =run b? =estop =estop a:L =run",
	"a:L =run a? =estop a:L =estop a:L =run",
	"a:L =run b? a:L =estop =estop a:L =run",
	"a:L =run a? b? =estop a? =estop =estop a:L =run",
	"a:H a:H =estop a:H a? =estop a< =estop a:L =run", /* what lies there then counts for nothing */
	/* went back */
	"a:L a:H =hold a< =estop spare =estop a:L =estop a:L =run",
	"a:L b:H =hold b< =estop condemn b:H =estop spare a:L =run",
	"b:H a:L =run b< =estop lost =estop",
	"b:H a:L b< =estop condemn ratify",
	"b:H a:L b< a? =estop spare",
	"b:H a:L b< b? =estop spare",
	"b:H a:L@ b< =estop content", /* what estop says of other channels counts for nothing */
	/* replaced */
	"a:L =run a* =estop a:L =run",
	"a:L =run b* =estop =estop a:L =run",
	"a:L =run a* a:L =estop =run",
	"=estop a* =estop",
	"a:H a:H a:H =estop a? =estop =estop a* =estop a:L =run",
	"a:L =run b* b:H a:L =estop =run",
	/* a successor */
	"a:L =run t kill =run",
	"a:L =run t lost =estop",
	"a:L =run kill =run",
	"a:L lost =run",
	"a:L =run boot =estop",
	"a:L =run b:E =estop b:H b:H b>2 kill =estop",
	"a:L =run b:H =hold t kill =hold",
	"a:L =run a:H =hold a* a:L t kill =estop",
	"a:L =run a? =estop kill =run",
	"a:L =run a? =estop t kill =estop",
	"a:L =run a:E a:L =estop t kill =run",
	/* what a raise of an old predecessor's level says */
	"a:L b:H =hold b< kill =hold",
	/* passed to the others */
	"content",
	"=estop content",
	"b:H =estop ratify",
	"b:H =estop a:H =estop content",
	"b:H =estop a:H_ =estop ratify",
	"a:L =run b:H =hold ratify a:H =hold content",
	"a:L =run b? =estop ratify a:E =estop b? =estop content",
	"a:L =run b? =estop ratify a:H =estop b? =estop ratify",
	"a:L =run b? =estop a:X =estop b? =estop content",
	"a:L =run a:H a:H a>2 =estop b? =estop content",
	"a:L =run b? =estop spare",
	"a:L =run b? =estop b* ratify", /* also if it is not known any more which estop-b that was */
	"=estop b? =estop content",
	"b:H =estop a? content",
	"a:L =run b:H =hold b< =estop ratify",
	"a:L b:E =estop a:H% =estop ratify",
	"a:L b:E =estop a:H@ =estop ratify",
	"b:H a:X =estop ratify",
	/* further looks at the same messages find the same, and whatever comes then is noticed */
	"a:L =run =run =run b:H =hold =hold =hold a:L =run =run =run a:E =estop",
	"a:L =run b:E a:L =estop =run =run =run t =run",
	"a:L~ =estop =estop =estop t =estop a:L =run",
	"a:L =run =run =run a? =estop =estop =estop",
	"a:L =run =run =run b? =estop =estop =estop",
	"a:L =run =run =run a* =estop",
	"a:L =run =run =run b* =estop",
	"a:L =run =run =run a< =estop",
	"a:L b:H =hold =hold =hold b< =estop condemn =estop =estop ratify",
	"a:L b:H =hold =hold =hold ratify a:H =hold =hold =hold content",
};

TEST(test_histories)
{
	for (size_t i = 0; i < sizeof(histories) / sizeof(*histories); i++) {
		char text[200], *rest = text, *word;

		setUp();
		snprintf(text, sizeof(text), "%s", histories[i]);
		while ((word = strsep(&rest, " "))) {
			snprintf(where, sizeof(where), "\"%s\" at %s, %d", histories[i], word, (int)(word - text));
			step(word);
		}
	}
}

TEST(test_begins_at_estop)
{
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, rule.level);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, rule.kept.level);
	TEST_ASSERT_EQUAL(0, rule.kept.base);
}

/* ---- what is said of it ---- */

static const struct {
	const char *steps; /* the last one is a look */
	int channel;	   /* of the message that is the reason; -1: none is */
	uint64_t seq;
	const char *reason;
} reasons[] = {
	{ "=estop", -1, 0, "no valid lowering" },
	{ "a:L =run", 0, 1, NULL },
	{ "a:L =run b:H =hold", 1, 1, NULL },
	{ "a:L =run b:H b:H =hold", 1, 1, NULL },
	{ "a:L =run b:H a:E =estop", 0, 2, NULL },
	{ "b:E =estop", 1, 1, NULL },
	{ "b:E =estop =estop", 1, 1, NULL },
	{ "b:E a:H =estop", 0, 1, NULL },
	{ "a:H b:E b:X =estop", 1, 1, NULL },
	{ "a:H^ a:H =estop", 0, 2, NULL },
	{ "a:X b:X =estop", -1, 0, "no valid lowering" },
	{ "a:H a:H b:E a>1 =estop", 1, 1, NULL },
	{ "a:L =run a:E =estop", 0, 2, NULL },
	{ "a:L =run a? =estop", -1, 0, "estop cannot be read" },
	{ "a:L =run b? =estop", -1, 0, "estop-b cannot be read" },
	{ "a:L b:H =hold b< =estop", -1, 0, "estop-b went back" },
	{ "a:L a:H =hold a< =estop", -1, 0, "estop went back" },
	{ "b:H a:L b< =estop", -1, 0, "estop-b went back" },
	{ "a:L =run a* =estop", -1, 0, "no valid lowering" },
	{ "a:L =run a* a:L =estop", -1, 0, "the channel was replaced" },
	{ "a:L =run b:H b:H b>1 =estop", -1, 0, "messages were overwritten before they were read" },
	{ "a:L =run b:H =hold b:H b:H kill b>1 =estop", -1, 0, "messages were overwritten before they were read" },
};

TEST(test_the_reason_is_named)
{
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		char text[200], *rest = text, *word;

		setUp();
		snprintf(text, sizeof(text), "%s", reasons[i].steps);
		snprintf(where, sizeof(where), "%s", reasons[i].steps);
		while ((word = strsep(&rest, " ")))
			step(word);
		TEST_ASSERT_EQUAL_PTR_MESSAGE(
			reasons[i].channel < 0 ? NULL : &messages[reasons[i].channel][reasons[i].seq % ROOM],
			rule.because, where);
		if (reasons[i].channel < 0)
			TEST_ASSERT_EQUAL_STRING_MESSAGE(reasons[i].reason, rule.reason, where);
	}
}

TEST(test_what_is_kept)
{
	snprintf(where, sizeof(where), "kept");
	step("a:H");
	step("a:L");
	step("=run");
	TEST_ASSERT_EQUAL_UINT64_ARRAY(boot, rule.kept.boot, 2);
	TEST_ASSERT_EQUAL_UINT64(10, rule.kept.chan);
	TEST_ASSERT_EQUAL_UINT64(2, rule.kept.base);
	TEST_ASSERT_EQUAL(MSG_LEVEL_RUN, rule.kept.level);
	TEST_ASSERT_EQUAL_PTR(&messages[0][2], rule.base);
	step("b:H");
	step("=hold");
	TEST_ASSERT_EQUAL_UINT64(2, rule.kept.base);
	TEST_ASSERT_EQUAL(MSG_LEVEL_HOLD, rule.kept.level);
	step("a?");
	step("=estop");
	TEST_ASSERT_EQUAL_UINT64(0, rule.kept.chan);
	TEST_ASSERT_EQUAL_UINT64(0, rule.kept.base);
	TEST_ASSERT_EQUAL(MSG_LEVEL_ESTOP, rule.kept.level);
	TEST_ASSERT_NULL(rule.base);
}
