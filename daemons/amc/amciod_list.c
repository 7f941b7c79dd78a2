/* amciod_list.c: the setting `drives`. */
#include "daemons/amc/amciod_list.h"

#define PIECE_MAX 64
#define WORDS_MAX 3

/* [BUS:]NODE JOINT [-]; piece is changed.  NULL, or what is wrong. */
static const char *read_piece(char *piece, const struct amciod_list_buses *buses, struct amciod_list_item *item)
{
	char *words[WORDS_MAX] = { NULL }, *rest = NULL, *colon, *end;
	unsigned long node;
	int bus = 0;

	for (unsigned int n = 0; n < WORDS_MAX; n++)
		words[n] = strtok_r(n ? NULL : piece, " ", &rest);
	if (!words[1] || (words[2] && strcmp(words[2], "-") != 0) || strtok_r(NULL, " ", &rest))
		return "not a drive; write 0x20 left, or base:0x20 left, and - behind a drive that counts backwards";
	colon = strrchr(words[0], ':');
	if (colon) {
		*colon = '\0';
		bus = buses->find(buses->of, words[0]);
		words[0] = colon + 1;
	}
	if (bus < 0)
		return "this device has no such bus";
	if (!colon && buses->n != 1)
		return "on which bus? write base:0x20 left";
	node = strtoul(words[0], &end, 0);
	if (end == words[0] || *end || !node || node > AMCIOD_NODE_MAX)
		return "nodes have the numbers 1 to 0x7F";
	if (!text_is_name(words[1]) || strlen(words[1]) >= sizeof(item->joint))
		return "not a valid name of a joint";
	*item = (struct amciod_list_item){ .bus = (unsigned int)bus,
					   .node = (unsigned int)node,
					   .backwards = words[2] != NULL };
	strcpy(item->joint, words[1]);
	return NULL;
}

static const char *add(struct amciod_list *list, const struct amciod_list_item *item)
{
	for (unsigned int i = 0; i < list->n; i++) {
		if (list->item[i].bus == item->bus && list->item[i].node == item->node)
			return "this node is in the list already";
		if (!strcmp(list->item[i].joint, item->joint))
			return "this joint is in the list already";
	}
	if (list->n == AMCIOD_LIST_MAX)
		return "too many drives: give some of them to another amciod";
	list->item[list->n++] = *item;
	return NULL;
}

int amciod_list_read(struct amciod_list *list, const char *text, const struct amciod_list_buses *buses,
		     struct error_sink *errors)
{
	list->n = 0;
	for (const char *p = text;; p++) {
		const size_t len = strcspn(p, ",");
		struct amciod_list_item item;
		char piece[PIECE_MAX], shown[PIECE_MAX], quoted[TEXT_QUOTED_MAX];
		const char *wrong = "too long";

		snprintf(piece, sizeof(piece), "%.*s", (int)(len < PIECE_MAX ? len : PIECE_MAX), p);
		strcpy(shown, piece + strspn(piece, " "));
		if (len < PIECE_MAX)
			wrong = read_piece(piece, buses, &item);
		if (!wrong)
			wrong = add(list, &item);
		if (wrong)
			return error_refuse(errors, -EINVAL, "%s: %s: %s", buses->where, text_quote(quoted, shown),
					    wrong);
		p += len;
		if (!*p)
			return 0;
	}
}
