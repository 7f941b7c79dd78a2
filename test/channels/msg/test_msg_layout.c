/* Messages lie in memory as test/abi/messages.abi says: recordings, and programs in other languages, rely on it.
 *
 *	build/test/channels/msg/test_msg_layout write	takes the present layout over, when it was meant to change:
 *							then the version of the message has changed, too
 */
#include "channels/msg/msg.h"
#include "test/lib/testcase.h"

#define RECORDED "test/abi/messages.abi"
#define LAYOUT_SIZE (64 * 1024)

static char now[LAYOUT_SIZE], recorded[LAYOUT_SIZE];

static void words(FILE *to, const struct msg_field *f)
{
	for (size_t i = 0; f->words && f->words[i]; i++)
		fprintf(to, "%s%s", i ? "|" : " = ", f->words[i]);
}

/* The offset is the compiler's, the rest comes from the description. */
static void row(FILE *to, const char *name, const struct msg_field *f, size_t offset, size_t size)
{
	static const char *const kinds[] = {
		[MSG_u8] = "u8",     [MSG_u16] = "u16",	  [MSG_u32] = "u32",	 [MSG_u64] = "u64",
		[MSG_i32] = "i32",   [MSG_i64] = "i64",	  [MSG_f64] = "f64",	 [MSG_name] = "name",
		[MSG_text] = "text", [MSG_word] = "word", [MSG_flags] = "flags", [MSG_group] = "group",
	};
	char room[16] = "", used[64] = "";

	if (f->count)
		snprintf(room, sizeof(room), "[%u]", f->count);
	if (f->used)
		snprintf(used, sizeof(used), " of which %s count", f->used);
	fprintf(to, "%s at %zu: %s %s%s, %zu bytes%s%s%s", name, offset, kinds[f->kind], f->name, room, size, used,
		*f->unit ? ", " : "", f->unit);
	words(to, f);
	fprintf(to, "\n");
}

/* clang-format off */
#define PLACE(kind, name, dims, used, unit, detail) { offsetof(STRUCT, name), sizeof(((STRUCT *)NULL)->name) },
/* clang-format on */

static const struct msg_group *group_named(const char *name);

static void rows(FILE *to, const char *name, size_t size, const size_t (*places)[2])
{
	const struct msg_group *group = group_named(name);

	TEST_ASSERT_NOT_NULL_MESSAGE(group, name);
	fprintf(to, "%s size %zu\n", name, size);
	for (size_t i = 0; i < group->n; i++)
		row(to, name, &group->fields[i], places[i][0], places[i][1]);
}

/* The groups that messages are made of are found in those that have them. */
static const struct msg_group *group_named(const char *name)
{
	static const struct {
		const char *name, *type, *path;
	} inner[] = {
		{ "msg_header", "joint-state", "header" },  { "msg_refused", "joint-state", "common.refs_refused" },
		{ "msg_bus", "joint-state", "common.bus" }, { "msg_common", "joint-state", "common" },
		{ "msg_clock_bus", "clock", "bus" },
	};
	static const char *const structs[] = {
#define STRUCT_NAME(struct_name, TABLE, number, version, name, retained) #struct_name,
		MSG_TYPES(STRUCT_NAME)
	};
	struct msg_place place;
	char error[128];

	for (size_t i = 0; i < msg_types_n; i++)
		if (!strcmp(structs[i], name))
			return msg_types[i].body;
	for (size_t i = 0; i < sizeof(inner) / sizeof(*inner); i++)
		if (!strcmp(inner[i].name, name) &&
		    !msg_find(msg_type_by_name(inner[i].type), inner[i].path, &place, error, sizeof(error)))
			return place.field->group;
	return NULL;
}

static void layout(FILE *to)
{
#define SHOW(struct_name, TABLE)                                            \
	{                                                                   \
		typedef struct struct_name STRUCT;                          \
		static const size_t places[][2] = { TABLE(PLACE) };         \
		rows(to, #struct_name, sizeof(struct struct_name), places); \
	}
#define SHOW_TYPE(struct_name, TABLE, number, version, name, retained)                      \
	fprintf(to, "type %d is %s, %s version %d\n", number, #struct_name, name, version); \
	SHOW(struct_name, TABLE)
	MSG_GROUPS(SHOW)
	MSG_TYPES(SHOW_TYPE)
}

TEST(test_layout)
{
	FILE *to = fmemopen(now, sizeof(now), "w"), *from = fopen(RECORDED, "r");
	char *a = now, *b = recorded;

	TEST_ASSERT_NOT_NULL_MESSAGE(from, "no " RECORDED);
	TEST_ASSERT_NOT_NULL(to);
	layout(to);
	fclose(to);
	recorded[fread(recorded, 1, sizeof(recorded) - 1, from)] = '\0';
	fclose(from);
	while (*a || *b) { /* line by line, so that one sees which */
		size_t a_len = strcspn(a, "\n"), b_len = strcspn(b, "\n");
		bool ends = !a[a_len] || !b[b_len];

		a[a_len] = b[b_len] = '\0';
		TEST_ASSERT_EQUAL_STRING_MESSAGE(b, a, "if it was meant to change: test_msg_layout write");
		if (ends)
			break;
		a += a_len + 1;
		b += b_len + 1;
	}
	TEST_ASSERT_EQUAL_STRING(b, a);
}

/* The description has no offsets: it counts on there being no padding. */
TEST(test_description_agrees)
{
	for (size_t i = 0; i < msg_types_n; i++) {
		size_t sum = 0;

		for (size_t k = 0; k < msg_types[i].body->n; k++)
			sum += (size_t)msg_types[i].body->fields[k].size *
			       (msg_types[i].body->fields[k].count ? msg_types[i].body->fields[k].count : 1u);
		TEST_ASSERT_EQUAL_size_t(msg_types[i].body->size, sum);
		TEST_ASSERT_EQUAL_size_t_MESSAGE(0, msg_types[i].body->size % 8, msg_types[i].name);
	}
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "write")) {
		FILE *to = fopen(RECORDED, "w");

		if (!to)
			return 1;
		layout(to);
		return fclose(to) ? 1 : 0;
	}
	UNITY_BEGIN();
	testcase_run_all();
	return UNITY_END();
}
