/* ros_markers.c: a balancing robot as shapes for 3D panels: visualization_msgs/MarkerArray.
 *
 * All shapes are in one frame, on the floor below the axle, x forward, y left, z up (REP 105, base_footprint), so a
 * panel needs neither transforms nor a model of the robot.  A part whose angle is not known is not drawn.  A shape that
 * is not sent again within a second disappears.
 *
 * Checked: covered.
 */
#include <math.h>

#include "channels/ros/ros_inside.h"

/* m, of Krang: hw-docs/devices/krang-body.md */
#define WHEEL_RADIUS 0.264
#define WHEEL_BASE 0.70
#define WAIST_X 0.091
#define WAIST_Z 0.499
/* A sketch: these are not measured. */
#define SHOULDER_Y 0.30
#define SHOULDER_Z 0.80
#define ARM_WIDTH 0.09
#define TEXT_Z 1.95
#define TEXT_HEIGHT 0.1

#define ARM_JOINTS 7
#define ARM_OLD_NS 1000000000
#define FRAME "base_footprint"
#define NAMESPACE "robot"

enum shape { CUBE = 1, SPHERE = 2, CYLINDER = 3, TEXT = 9 };

static const float tyre[] = { 0.15F, 0.15F, 0.17F }, metal[] = { 0.62F, 0.65F, 0.68F }, body[] = { 0.05F, 0.45F, 0.6F },
		   head[] = { 0.9F, 0.6F, 0.1F }, white[] = { 1, 1, 1 };

/* ---- frames ---- */

/* at in m; turn is a quaternion, x y z w. */
struct frame {
	double at[3], turn[4];
};

enum axis { X, Y, Z };

/* Turned about one of its own axes. */
static struct frame turned(const struct frame *f, enum axis axis, double angle_rad)
{
	const double s = sin(angle_rad / 2), w = cos(angle_rad / 2), *q = f->turn;
	const int a = axis, b = (axis + 1) % 3, c = (axis + 2) % 3;
	struct frame to = *f;

	to.turn[a] = q[a] * w + q[3] * s;
	to.turn[b] = q[b] * w + q[c] * s;
	to.turn[c] = q[c] * w - q[b] * s;
	to.turn[3] = q[3] * w - q[a] * s;
	return to;
}

static void cross(double to[3], const double a[3], const double b[3])
{
	for (int i = 0; i < 3; i++)
		to[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* Moved along its own axes. */
static struct frame moved(const struct frame *f, double x, double y, double z)
{
	const double by[3] = { x, y, z };
	double once[3], twice[3];
	struct frame to = *f;

	cross(once, f->turn, by);
	cross(twice, f->turn, once);
	for (int i = 0; i < 3; i++)
		to.at[i] += by[i] + 2 * (f->turn[3] * once[i] + twice[i]);
	return to;
}

/* ---- markers ---- */

struct picture {
	struct cdr_out *o;
	const char *frame_id;
	uint32_t n;
};

/* Stamp 0 and frame_locked: where the frame is now. */
static void put_marker(struct picture *p, int32_t id, enum shape shape, const struct frame *f, const double size[3],
		       const float rgb[3], const char *text)
{
	struct cdr_out *o = p->o;

	p->n++;
	cdr_put_i32(o, 0);
	cdr_put_u32(o, 0);
	cdr_put_string(o, p->frame_id, strlen(p->frame_id));
	cdr_put_string(o, NAMESPACE, strlen(NAMESPACE));
	cdr_put_i32(o, id);
	cdr_put_i32(o, (int32_t)shape);
	cdr_put_i32(o, 0); /* action: add */
	cdr_put(o, f->at, sizeof(*f->at), 3);
	cdr_put(o, f->turn, sizeof(*f->turn), 4);
	cdr_put(o, size, sizeof(*size), 3);
	cdr_put(o, rgb, sizeof(*rgb), 3);
	cdr_put_f32(o, 1); /* alpha */
	cdr_put_i32(o, 1); /* lifetime, s */
	cdr_put_u32(o, 0);
	cdr_put_u8(o, 1);	  /* frame_locked */
	cdr_put_u32(o, 0);	  /* points */
	cdr_put_u32(o, 0);	  /* colors */
	cdr_put_string(o, "", 0); /* texture_resource; texture: stamp, frame_id, format, data */
	cdr_put_i32(o, 0);
	cdr_put_u32(o, 0);
	cdr_put_string(o, "", 0);
	cdr_put_string(o, "", 0);
	cdr_put_u32(o, 0);
	cdr_put_u32(o, 0); /* uv_coordinates */
	cdr_put_string(o, text, strlen(text));
	cdr_put_string(o, "", 0); /* mesh_resource; mesh_file: filename, data */
	cdr_put_string(o, "", 0);
	cdr_put_u32(o, 0);
	cdr_put_u8(o, 0); /* mesh_use_embedded_materials */
}

/* ---- parts ---- */

enum part { LEFT_WHEEL, RIGHT_WHEEL, BASE, TORSO, PARTS };

/* The place of a row is the id of its marker.  A cylinder's axis is z. */
static const struct {
	enum part part;
	enum shape shape;
	double at[3], size[3];
	const float *rgb;
} shapes[] = {
	{ LEFT_WHEEL, CYLINDER, { 0 }, { 2 * WHEEL_RADIUS, 2 * WHEEL_RADIUS, 0.08 }, tyre },
	{ LEFT_WHEEL, CUBE, { 0 }, { 1.6 * WHEEL_RADIUS, 0.05, 0.1 }, metal }, /* a spoke: it is seen to roll */
	{ RIGHT_WHEEL, CYLINDER, { 0 }, { 2 * WHEEL_RADIUS, 2 * WHEEL_RADIUS, 0.08 }, tyre },
	{ RIGHT_WHEEL, CUBE, { 0 }, { 1.6 * WHEEL_RADIUS, 0.05, 0.1 }, metal },
	{ BASE, CUBE, { 0.02, 0, 0.2 }, { 0.36, 0.5, 0.5 }, body },
	{ BASE, CUBE, { WAIST_X, 0, WAIST_Z - 0.05 }, { 0.1, 0.3, 0.16 }, metal },
	{ TORSO, CUBE, { 0, 0, 0.4 }, { 0.16, 0.3, 0.8 }, body },
	{ TORSO, CUBE, { 0, 0, SHOULDER_Z }, { 0.12, 2 * SHOULDER_Y, 0.12 }, metal },
	{ TORSO, SPHERE, { 0, 0, 1 }, { 0.18, 0.18, 0.2 }, head },
};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))
#define TEXT_ID ((int32_t)SHAPES)
#define ARM_ID 20 /* and 30 */

static struct frame wheel(const struct msg_balance_state *s, int side)
{
	const struct frame axle = { { 0, side * WHEEL_BASE / 2, WHEEL_RADIUS }, { 0, 0, 0, 1 } };
	const double roll_rad = (s->travel - side * s->heading * WHEEL_BASE / 2) / WHEEL_RADIUS;
	const struct frame rolled = turned(&axle, Y, roll_rad);

	return turned(&rolled, X, M_PI / 2);
}

static void find_parts(struct frame parts[PARTS], const struct msg_balance_state *s)
{
	const struct frame axle = { { 0, 0, WHEEL_RADIUS }, { 0, 0, 0, 1 } };
	struct frame waist;

	parts[LEFT_WHEEL] = wheel(s, 1);
	parts[RIGHT_WHEEL] = wheel(s, -1);
	parts[BASE] = turned(&axle, Y, s->pitch);
	waist = moved(&parts[BASE], WAIST_X, 0, WAIST_Z);
	parts[TORSO] = turned(&waist, Y, s->waist_position);
}

static bool is_known(const struct frame *f)
{
	double sum = 0;

	for (int i = 0; i < 4; i++)
		sum += f->turn[i];
	return isfinite(sum);
}

/* Hangs along the torso at 0.  Every second joint bends it, forward if positive; those between turn it. */
static void put_arm(struct picture *p, const struct frame *torso, const struct msg_joint_state *s, int side)
{
	static const double lengths[] = { 0.33, 0.32, 0.22 };
	static const double hand[] = { 0.06, 0.14, 0.1 };
	struct frame f = moved(torso, 0, side * (SHOULDER_Y + ARM_WIDTH / 2), SHOULDER_Z);
	int32_t id = side > 0 ? ARM_ID : ARM_ID + 10;

	f = turned(&f, X, M_PI);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		const double size[] = { ARM_WIDTH, ARM_WIDTH, lengths[i] };

		f = turned(&f, Z, s->position[2 * i]);
		f = turned(&f, Y, s->position[2 * i + 1]);
		f = moved(&f, 0, 0, lengths[i] / 2);
		if (!is_known(&f))
			return;
		put_marker(p, id++, CYLINDER, &f, size, metal, "");
		f = moved(&f, 0, 0, lengths[i] / 2);
	}
	f = turned(&f, Z, s->position[ARM_JOINTS - 1]);
	if (is_known(&f))
		put_marker(p, id, CUBE, &f, hand, body, "");
}

static bool is_arm(const struct msg_joint_state *arm, const struct msg_balance_state *s)
{
	int64_t age_ns;

	return arm && arm->count == ARM_JOINTS &&
	       !__builtin_sub_overflow(s->header.t_publish_ns, arm->header.t_publish_ns, &age_ns) &&
	       age_ns < ARM_OLD_NS;
}

void ros_put_markers(struct cdr_out *o, const struct msg_type *type, const void *msg, const struct ros_context *c)
{
	static const char *const modes[] = { MSG_WORDS_BALANCE(MSG_WORD) };
	static const double height[] = { 0, 0, TEXT_HEIGHT };
	static const struct frame above = { { 0, 0, TEXT_Z }, { 0, 0, 0, 1 } };
	const struct msg_balance_state *s = msg;
	struct picture p = { .o = o, .frame_id = c->frame_id ? c->frame_id : FRAME };
	const size_t mark = cdr_mark(o);
	struct frame parts[PARTS];

	(void)type;
	find_parts(parts, s);
	for (size_t i = 0; i < SHAPES; i++) {
		const struct frame f = moved(&parts[shapes[i].part], shapes[i].at[0], shapes[i].at[1], shapes[i].at[2]);

		if (is_known(&f))
			put_marker(&p, (int32_t)i, shapes[i].shape, &f, shapes[i].size, shapes[i].rgb, "");
	}
	put_marker(&p, TEXT_ID, TEXT, &above, height, white,
		   s->mode < sizeof(modes) / sizeof(*modes) ? modes[s->mode] : "unknown");
	for (int i = 0; i < 2; i++)
		if (is_known(&parts[TORSO]) && is_arm(c->arms[i], s))
			put_arm(&p, &parts[TORSO], c->arms[i], i ? -1 : 1);
	cdr_set_mark(o, mark, p.n);
}
