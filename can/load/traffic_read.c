/* traffic_read.c: reads what drivers print with --frames. */
#include "can/bus/frame_text.h"
#include "can/load/traffic.h"

#define BITRATE_MIN 1000
#define BITRATE_MAX 10000000

static bool read_id(const struct yaml_node *node, uint32_t *id)
{
	return node && node->kind == YAML_TEXT && frame_text_read_id(node->text, id);
}

/* Nothing and null leave 0. */
static bool read_us(const struct yaml_node *node, int64_t *ns)
{
	double us;

	*ns = 0;
	if (!node || yaml_is_null(node))
		return true;
	if (yaml_real(node, &us) || us <= 0 || us > 1e12)
		return false;
	*ns = (int64_t)(us * 1000 + 0.5);
	return *ns > 0;
}

static bool read_flag(const struct yaml_node *node, bool *flag)
{
	*flag = false;
	return !node || !yaml_bool(node, flag);
}

static const char *read_len(struct traffic_row *row, const struct yaml_node *node)
{
	const struct yaml_node *length = yaml_find(node, "len");
	bool fd, brs;
	int64_t len;

	if (!read_flag(yaml_find(node, "fd"), &fd) || !read_flag(yaml_find(node, "brs"), &brs) || (brs && !fd))
		return "fd or brs is not true or false, or brs without fd";
	row->flags = (uint8_t)((fd ? FRAME_FD : 0) | (brs ? FRAME_BRS : 0));
	if (!length || yaml_int(length, &len) || len < 0 || len > (fd ? FRAME_DATA_MAX_FD : FRAME_DATA_MAX))
		return fd ? "len is not 0 to 64" : "len is not 0 to 8";
	row->len = (uint8_t)(fd ? frame_len_fd((unsigned int)len) : len);
	return NULL;
}

const char *traffic_read_row(struct traffic_row *row, const struct yaml_node *node)
{
	const struct yaml_node *reply = yaml_find(node, "reply");
	const char *dir = yaml_text(node, "dir", ""), *wrong;

	if (!read_id(yaml_find(node, "id"), &row->id))
		return "id is not three or eight digits such as 0EF";
	if (strcmp(dir, "tx") != 0 && strcmp(dir, "rx") != 0)
		return "dir is not tx or rx";
	row->tx = !strcmp(dir, "tx");
	wrong = read_len(row, node);
	if (wrong)
		return wrong;
	if (!read_flag(yaml_find(node, "shared"), &row->shared))
		return "shared is not true or false";
	if (!read_us(yaml_find(node, "period_us"), &row->period_ns))
		return "period_us is neither null nor above 0";
	if (!read_us(yaml_find(node, "deadline_us"), &row->deadline_ns))
		return "deadline_us is neither null nor above 0";
	row->answered = reply && !yaml_is_null(reply);
	if (row->answered && !read_id(yaml_find(reply, "id"), &row->reply_id))
		return "reply has no id of three or eight digits";
	if (row->answered && !read_us(yaml_find(reply, "within_us"), &row->within_ns))
		return "within_us is neither null nor above 0";
	return NULL;
}

/* ---- whole texts ---- */

static int read_frame(struct traffic *traffic, unsigned int driver, const struct yaml_node *node,
		      struct error_sink *errors)
{
	struct traffic_row row = { .driver = driver };
	const char *wrong = traffic_read_row(&row, node), *bus = yaml_text(node, "bus", "");
	int place;

	if (!wrong && !text_is_name(bus))
		wrong = "bus is not a name";
	if (wrong)
		return yaml_error(errors, node, "%s", wrong);
	place = traffic_bus(traffic, bus);
	if (place < 0)
		return yaml_error(errors, node, "too many buses");
	row.bus = (unsigned int)place;
	return traffic_add(traffic, &row);
}

static int read_driver(struct traffic *traffic, const struct yaml_node *node, struct error_sink *errors)
{
	const struct yaml_node *list = yaml_find(node, "frames");
	const char *name = yaml_text(node, "name", "");
	int64_t tick_ns;
	int driver, err = 0;

	if (!list || list->kind != YAML_LIST)
		return yaml_error(errors, node,
				  "no list \"frames\": give the output of DRIVER --frames or achstart --frames");
	if (!text_is_name(name) || !read_us(yaml_find(node, "tick_us"), &tick_ns))
		return yaml_error(errors, node, "name is not a name, or tick_us is neither null nor above 0");
	driver = traffic_driver(traffic, name, tick_ns);
	if (driver == -EEXIST)
		return yaml_error(errors, node, "two drivers of one name");
	if (driver < 0)
		return yaml_error(errors, node, "too many drivers");
	for (const struct yaml_node *frame = list->first; frame && !err; frame = frame->next)
		err = read_frame(traffic, (unsigned int)driver, frame, errors);
	return err;
}

static bool read_bitrate(const struct yaml_node *node, uint32_t usual, uint32_t *bitrate)
{
	int64_t value = usual;

	if (node && !yaml_is_null(node) && (yaml_int(node, &value) || value < BITRATE_MIN || value > BITRATE_MAX))
		return false;
	*bitrate = (uint32_t)value;
	return true;
}

static int read_bus(struct traffic *traffic, const struct yaml_node *node, struct error_sink *errors)
{
	const char *name = yaml_text(node, "name", "");
	const int place = text_is_name(name) ? traffic_bus(traffic, name) : -EINVAL;

	if (place < 0)
		return yaml_error(errors, node, "not the name of a bus, or too many of them");
	if (!read_bitrate(yaml_find(node, "bitrate"), TRAFFIC_BITRATE, &traffic->buses[place].bitrate) ||
	    !read_bitrate(yaml_find(node, "data_bitrate"), 0, &traffic->buses[place].data_bitrate))
		return yaml_error(errors, node, "bitrate or data_bitrate is not 1000 to 10000000");
	return 0;
}

int traffic_read(struct traffic *traffic, const char *name, const char *text, size_t len, struct error_sink *errors)
{
	const struct yaml_node *root, *node;
	struct yaml *doc;
	int err = yaml_open_text(&doc, name, text, len, errors);

	if (err)
		return err;
	root = yaml_root(doc);
	for (node = yaml_first(yaml_find(root, "buses")); node && !err; node = node->next)
		err = read_bus(traffic, node, errors);
	node = yaml_find(root, "drivers");
	if (!node && !err)
		err = read_driver(traffic, root, errors);
	for (node = yaml_first(node); node && !err; node = node->next)
		err = read_driver(traffic, node, errors);
	yaml_close(doc);
	return err;
}
