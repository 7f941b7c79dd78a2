/* types.c: ach types: how messages lie in memory, for people and for programs in other languages. */
#include "channels/tool/tool.h"

#define TYPES_MAX 64

struct types {
	bool json;
};

static const struct settings_row option_rows[] = {
	SETTINGS_BOOL("json", struct types, json, "no", "one JSON document, with what a binding of libach needs"),
	SETTINGS_END,
};

static const char *kind_name(enum msg_kind kind)
{
	static const char *const names[] = {
		[MSG_u8] = "u8",     [MSG_u16] = "u16",	  [MSG_u32] = "u32",	 [MSG_u64] = "u64",
		[MSG_i32] = "i32",   [MSG_i64] = "i64",	  [MSG_f64] = "f64",	 [MSG_name] = "name",
		[MSG_text] = "text", [MSG_word] = "word", [MSG_flags] = "flags", [MSG_group] = "group",
	};

	return names[kind];
}

/* ---- a table ---- */

static void table_types(void)
{
	printf("%-14s %6s %7s %5s %8s\n", "TYPE", "NUMBER", "VERSION", "SIZE", "RETAINED");
	for (size_t i = 0; i < msg_types_n; i++) {
		const struct msg_type *t = &msg_types[i];

		printf("%-14s %6u %7u %5zu %8zu\n", t->name, t->number, t->version, t->body->size, t->retained);
	}
}

static void table_rows(const struct msg_group *group, size_t base, const char *prefix)
{
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; base += msg_field_size(f), f++) {
		char path[96], count[96] = "";

		if (f->count)
			snprintf(count, sizeof(count), "[%s%s%u]", f->used ? f->used : "", f->used ? " <= " : "",
				 f->count);
		snprintf(path, sizeof(path), "%s%s%s", prefix, f->name, count);
		printf("%6zu %-5s %s", base, kind_name(f->kind), path);
		if (*f->unit && strcmp(f->unit, "1") != 0)
			printf("  %s", f->unit);
		for (size_t i = 0; f->words && f->words[i]; i++)
			printf("%s%s", i ? (f->kind == MSG_word ? ", " : "|") : "  ", f->words[i]);
		putchar('\n');
		if (f->kind == MSG_group) {
			snprintf(path, sizeof(path), "%s%s%s.", prefix, f->name, f->count ? "[]" : "");
			table_rows(f->group, base, path);
		}
	}
}

/* ---- JSON ---- */

static void json_field(struct json *j, const struct msg_field *f, size_t offset)
{
	json_line(j);
	json_object(j, NULL);
	json_text(j, "name", f->name);
	json_uint(j, "offset", offset);
	json_text(j, "type", kind_name(f->kind));
	json_uint(j, "size", f->size);
	json_uint_or_null(j, "count", f->count);
	json_text(j, "counted_by", f->used);
	json_text(j, "unit", *f->unit ? f->unit : NULL);
	if (f->words) {
		json_array(j, "words");
		for (size_t i = 0; f->words[i]; i++)
			json_text(j, NULL, f->words[i]);
		json_end(j);
	} else {
		json_null(j, "words");
	}
	json_text(j, "group", f->group ? msg_struct_name(f->group) : NULL);
	json_end(j);
}

static void json_fields(struct json *j, const struct msg_group *group)
{
	size_t offset = 0;

	json_uint(j, "size", group->size);
	json_array(j, "fields");
	for (size_t i = 0; i < group->n; i++) {
		json_field(j, &group->fields[i], offset);
		offset += msg_field_size(&group->fields[i]);
	}
	json_end(j);
}

/* All structs but the messages, which follow them. */
static void json_groups(struct json *j)
{
	json_array(j, "groups");
	for (size_t i = 0; i < msg_structs_n - msg_types_n; i++) {
		json_line(j);
		json_object(j, NULL);
		json_text(j, "name", msg_structs[i].name);
		json_fields(j, msg_structs[i].group);
		json_end(j);
	}
	json_end(j);
}

static void json_types(struct json *j, const struct msg_type *const *types, size_t n)
{
	json_array(j, "types");
	for (size_t i = 0; i < n; i++) {
		const struct msg_type *t = types[i];

		json_line(j);
		json_object(j, NULL);
		json_text(j, "name", t->name);
		json_uint(j, "number", t->number);
		json_uint(j, "version", t->version);
		json_text(j, "struct", msg_struct_name(t->body));
		json_uint(j, "retained", t->retained);
		json_fields(j, t->body);
		json_end(j);
	}
	json_end(j);
}

/* The facts of ach.h that a binding needs besides the prototypes. */
static void json_ach(struct json *j)
{
	static const struct {
		const char *group, *name;
		uint64_t value;
	} rows[] = {
		{ "sizeof", "ach_channel_t", sizeof(ach_channel_t) },
		{ "sizeof", "ach_attr_t", sizeof(ach_attr_t) },
		{ "sizeof", "ach_create_attr_t", sizeof(ach_create_attr_t) },
		{ "offsetof", "ach_channel_t.seq_num", offsetof(ach_channel_t, seq_num) },
		{ "get", "wait", ACH_O_WAIT },
		{ "get", "last", ACH_O_LAST },
		{ "get", "copy", ACH_O_COPY },
		{ "get", "reltime", ACH_O_RELTIME },
	};
	const char *group = "";

	json_object(j, "ach");
	json_textf(j, "library", "libach.so.%.*s", (int)strcspn(TOOL_VERSION, "."), TOOL_VERSION);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(group, rows[i].group) != 0) {
			if (i)
				json_end(j);
			group = rows[i].group;
			json_object(j, group);
		}
		json_uint(j, rows[i].name, rows[i].value);
	}
	json_end(j);
	json_array(j, "status");
	for (int status = ACH_OK; status <= ACH_ENOTSUP; status++)
		json_text(j, NULL, ach_result_to_string((enum ach_status)status));
	json_end(j);
	json_end(j);
}

static void print_json(const struct msg_type *const *types, size_t n)
{
	struct json j = json_to(stdout);

	json_object(&j, NULL);
	json_text(&j, "version", TOOL_VERSION);
	json_ach(&j);
	json_groups(&j);
	json_types(&j, types, n);
	json_end(&j);
	putchar('\n');
}

/* ---- the command ---- */

const char *tool_unknown_type(char text[TOOL_TYPES_MAX], const char *name)
{
	struct text_out out = text_out(text, TOOL_TYPES_MAX);
	char quoted[TEXT_QUOTED_MAX];
	const char *best = NULL;

	for (size_t i = 0; i < msg_types_n; i++)
		nearest_try(name, msg_types[i].name, &best);
	text_add(&out, "%s is not a type of message; ", text_quote(quoted, name));
	if (best)
		text_add(&out, "did you mean %s?", best);
	for (size_t i = 0; !best && i < msg_types_n; i++)
		text_add(&out, "%s%s", i ? ", " : "there are ", msg_types[i].name);
	return text;
}

static int run(void *values, int argc, char **argv)
{
	const struct types *types = values;
	const struct msg_type *chosen[TYPES_MAX];
	char unknown[TOOL_TYPES_MAX];

	for (int i = 0; i < argc; i++) {
		chosen[i] = msg_type_by_name(argv[i]);
		if (!chosen[i])
			return tool_fail("%s", tool_unknown_type(unknown, argv[i]));
	}
	for (size_t i = 0; !argc && types->json && i < msg_types_n; i++)
		chosen[i] = &msg_types[i];
	if (types->json)
		print_json(chosen, argc ? (size_t)argc : msg_types_n);
	else if (!argc)
		table_types();
	for (int i = 0; !types->json && i < argc; i++) {
		printf("# %s: number %u, version %u, %zu bytes\n", chosen[i]->name, chosen[i]->number,
		       chosen[i]->version, chosen[i]->body->size);
		table_rows(chosen[i]->body, 0, "");
	}
	return 0;
}

TOOL_COMMAND(types, run, option_rows, struct types, "[TYPE...]", 0, TYPES_MAX,
	     "prints the layout of messages in memory", "Without TYPE: a line per type, or with --json all of them.\n");
