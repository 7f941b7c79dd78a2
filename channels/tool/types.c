/* types.c: ach types: how messages lie in memory, for people and for programs in other languages. */
#include <string.h>

#include "channels/tool/tool.h"
#include "config/nearest.h"
#include "config/text.h"

#define TYPES_MAX 64

struct types {
	bool json;
};

static const struct settings_row rows[] = {
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

static size_t whole_size(const struct msg_field *f)
{
	return (size_t)f->size * (f->count ? f->count : 1u);
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
	for (const struct msg_field *f = group->fields; f < group->fields + group->n; base += whole_size(f), f++) {
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

static void table_fields(const struct msg_type *type)
{
	printf("# %s: number %u, version %u, %zu bytes\n", type->name, type->number, type->version, type->body->size);
	table_rows(type->body, 0, "");
}

/* ---- JSON; no name, unit or word of the tables needs an escape ---- */

static const char *struct_name(const struct msg_group *group)
{
	size_t i = 0;

	while (msg_structs[i].group != group)
		i++;
	return msg_structs[i].name;
}

static void json_field(const struct msg_field *f, size_t offset)
{
	printf("{\"name\":\"%s\",\"offset\":%zu,\"type\":\"%s\",\"size\":%u,\"count\":", f->name, offset,
	       kind_name(f->kind), f->size);
	printf(f->count ? "%u" : "null", f->count);
	printf(f->used ? ",\"counted_by\":\"%s\"" : ",\"counted_by\":null", f->used);
	printf(*f->unit ? ",\"unit\":\"%s\"" : ",\"unit\":null", f->unit);
	printf(",\"words\":%s", f->words ? "[" : "null");
	for (size_t i = 0; f->words && f->words[i]; i++)
		printf("%s\"%s\"", i ? "," : "", f->words[i]);
	printf(f->words ? "]" : "");
	printf(f->group ? ",\"group\":\"%s\"}" : ",\"group\":null}", f->group ? struct_name(f->group) : "");
}

static void json_fields(const struct msg_group *group)
{
	size_t offset = 0;

	printf("\"size\":%zu,\"fields\":[", group->size);
	for (size_t i = 0; i < group->n; i++) {
		printf(i ? ",\n  " : "\n  ");
		json_field(&group->fields[i], offset);
		offset += whole_size(&group->fields[i]);
	}
	printf("]}");
}

/* All but the messages, which come behind them. */
static void json_groups(void)
{
	printf("\"groups\":[");
	for (size_t i = 0; i < msg_structs_n - msg_types_n; i++) {
		printf("%s{\"name\":\"%s\",", i ? ",\n " : "\n ", msg_structs[i].name);
		json_fields(msg_structs[i].group);
	}
	printf("],\n");
}

static void json_types(const struct msg_type *const *types, size_t n)
{
	printf("\"types\":[");
	for (size_t i = 0; i < n; i++) {
		const struct msg_type *t = types[i];

		printf("%s{\"name\":\"%s\",\"number\":%u,\"version\":%u,\"struct\":\"%s\",\"retained\":%zu,",
		       i ? ",\n " : "\n ", t->name, t->number, t->version, struct_name(t->body), t->retained);
		json_fields(t->body);
	}
	printf("]}\n");
}

/* What a binding must know of ach.h besides the prototypes. */
static void json_ach(void)
{
	printf("\"ach\":{\"library\":\"libach.so.%.*s\",\n"
	       " \"sizeof\":{\"ach_channel_t\":%zu,\"ach_attr_t\":%zu,\"ach_create_attr_t\":%zu},\n"
	       " \"offsetof\":{\"ach_channel_t.seq_num\":%zu},\n"
	       " \"get\":{\"wait\":%d,\"last\":%d,\"copy\":%d,\"reltime\":%d},\n"
	       " \"status\":[",
	       (int)strcspn(TOOL_VERSION, "."), TOOL_VERSION, sizeof(ach_channel_t), sizeof(ach_attr_t),
	       sizeof(ach_create_attr_t), offsetof(ach_channel_t, seq_num), ACH_O_WAIT, ACH_O_LAST, ACH_O_COPY,
	       ACH_O_RELTIME);
	for (int status = ACH_OK; status <= ACH_ENOTSUP; status++)
		printf("%s\"%s\"", status ? "," : "", ach_result_to_string((enum ach_status)status));
	printf("]},\n");
}

static void json(const struct msg_type *const *types, size_t n)
{
	printf("{\"version\":\"%s\",\n", TOOL_VERSION);
	json_ach();
	json_groups();
	json_types(types, n);
}

/* ---- the command ---- */

static int unknown_type(const char *name)
{
	char quoted[TEXT_QUOTED_MAX];
	const char *best = NULL;

	for (size_t i = 0; i < msg_types_n; i++)
		nearest_try(name, msg_types[i].name, &best);
	text_quote(quoted, name);
	if (best)
		return tool_fail("%s is not a type of message; did you mean %s?", quoted, best);
	return tool_fail("%s is not a type of message (ach types lists them)", quoted);
}

int tool_types(int argc, char **argv)
{
	struct types types = { 0 };
	struct options options = { .program = "ach types",
				   .about = "prints the layout of messages in memory",
				   .rows = rows,
				   .values = &types,
				   .arguments = "[TYPE...]",
				   .arguments_max = TYPES_MAX,
				   .notes = "Without TYPE: a line per type, or with --json all of them.\n" };
	const struct msg_type *chosen[TYPES_MAX];
	int status = tool_options(&options, &argc, argv);

	if (status != TOOL_GO)
		return status;
	for (int i = 0; i < argc; i++) {
		chosen[i] = msg_type_by_name(argv[i]);
		if (!chosen[i])
			return unknown_type(argv[i]);
	}
	for (size_t i = 0; !argc && types.json && i < msg_types_n; i++)
		chosen[i] = &msg_types[i];
	if (types.json)
		json(chosen, argc ? (size_t)argc : msg_types_n);
	else if (!argc)
		table_types();
	for (int i = 0; !types.json && i < argc; i++)
		table_fields(chosen[i]);
	return 0;
}
