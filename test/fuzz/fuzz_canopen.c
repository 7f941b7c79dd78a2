/* fuzz_canopen.c: arbitrary bytes as the replies of a CANopen node, and as frames of AMC drives: requests are
 * valid frames, what is refused has no value, a script never steps outside, a sample is finite.
 *
 * Longest: 400 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "can/canopen/emcy.h"
#include "can/canopen/nmt.h"
#include "can/canopen/pdo.h"
#include "daemons/amc/amc.h"
#include "test/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each 8 bytes are a reply; some are given index and sub-index of the request, as few random ones have them. */
static void check_node(const uint8_t *data, size_t size)
{
	static const struct pdo pdo = { PDO_SENT, 26, 0x2E3, 1, 2, { 0x60410010, 0x60640020 } };
	struct pdo_script script = { 0 };

	pdo_add(&script, PDO_STEP_READ, 0x1008, 0, 4, 0);
	pdo_off(&script, PDO_SENT, 1);
	pdo_map(&script, &pdo);
	pdo_begin(&script, PDO_WRITE);
	for (size_t at = 0; at + 8 <= size; at += 8) {
		struct frame request, reply = { .id = SDO_ID_REPLY + 5, .len = 8 };
		uint32_t value, code;

		if (pdo_step(&script, 5, &request) != PDO_BUSY)
			return;
		must(frame_valid(&request) && request.len == 8 && request.id == SDO_ID_REQUEST + 5);
		memcpy(reply.data, data + at, 8);
		if (!(reply.data[3] & 1))
			memcpy(reply.data + 1, request.data + 1, 3);
		code = sdo_reply(&request, &reply, &value);
		must((!code || !value) && sdo_words(code));
		if (pdo_done(&script, code, value) != PDO_BUSY)
			return;
		must(script.at <= script.n && pdo_at(&script));
	}
}

static void check_frames(const struct frame *frame, double value)
{
	const struct amc_scale scale = { .kp_a = 20, .ks_hz = 20000, .ki = 1, .counts_per_rad = 9549.3 };
	static const enum amc_mode modes[] = { AMC_MODE_POSITION, AMC_MODE_VELOCITY, AMC_MODE_CURRENT };
	struct amc_sample sample = { 0 };
	struct emcy emcy = { 0 };
	struct frame out;
	uint8_t word;

	if (emcy_decode(&emcy, frame))
		must(emcy_words(emcy.code) != NULL);
	nmt_decode(frame, &word);
	for (enum amc_layout layout = AMC_POSITION; layout <= AMC_VELOCITY_ONLY; layout++)
		if (!amc_decode(&sample, frame, layout, &scale))
			must(isfinite(sample.position_rad) && isfinite(sample.velocity_rad_s) &&
			     isfinite(sample.current_a));
	for (unsigned int i = 0; i < 3; i++)
		if (!amc_encode(&out, 0x2E0 + i, modes[i], 0x0F, value, &scale))
			must(frame_valid(&out) && isfinite(value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct {
		double value;
		struct frame frame;
	} in = { 0 };

	memcpy(&in, data, size < sizeof(in) ? size : sizeof(in));
	check_frames(&in.frame, in.value);
	check_node(data, size);
	return 0;
}
