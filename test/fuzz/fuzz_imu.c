/* fuzz_imu.c: arbitrary frames as those of a DMU and of an MTi: a sample is made of frames of one sequence, finite, and
 * not older than its first frame; a toggle of a DMU's stream is put only after silence.
 *
 * Longest: 240 bytes.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "daemons/imu/dmu.h"
#include "daemons/imu/mti.h"
#include "test/fuzz/must.h"

#define MS ((int64_t)1000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sample(const struct imu_sample *s, int64_t first_ns, int64_t t_ns)
{
	struct mounting mounting;
	struct imu_sample turned = *s;
	double before = 0, after = 0;

	must(s->t_ns >= first_ns && s->t_ns <= t_ns && t_ns - s->t_ns <= 4 * MS);
	mounting = mounting_of((const double[3]){ 10, -20, 135 });
	imu_mount(&mounting, &turned);
	for (unsigned int i = 0; i < 3; i++) {
		must(isfinite(s->rate_rad_s[i]) && isfinite(s->acceleration_m_s2[i]));
		before += s->rate_rad_s[i] * s->rate_rad_s[i];
		after += turned.rate_rad_s[i] * turned.rate_rad_s[i];
	}
	must(fabs(before - after) < 1e-6 * (1 + before));
	for (unsigned int i = 0; i < 4; i++)
		must(!(fabs(s->orientation[i]) > 1 + 1e-9));
}

/* Of each frame 10 bytes: identifier, length, data; the identifier also says how much time passes. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t ids[8] = { MTI_ID_TIME, MTI_ID_COUNTER,	   MTI_ID_STATUS,      MTI_ID_ORIENTATION,
					 MTI_ID_RATE, MTI_ID_ACCELERATION, MTI_ID_TEMPERATURE, 0x7FF };
	struct dmu dmu = { .window_ns = 4 * MS };
	struct mti mti = { .id_rate = MTI_ID_RATE, .id_acceleration = MTI_ID_ACCELERATION, .window_ns = 4 * MS };
	struct dmu_stream stream = { .listen_ns = 20 * MS, .retry_ns = 100 * MS };
	int64_t t_ns = MS, heard_ns = 0;
	uint8_t sequences[2] = { 0 };
	unsigned int n = 0;

	for (; size >= 10; data += 10, size -= 10, n++) {
		struct frame f = { .len = data[1] % 9 };
		struct imu_sample sample;

		memcpy(f.data, data + 2, 8);
		t_ns += (data[0] >> 4) * MS / 2;
		f.id = data[0] & 1 ? DMU_ID_RATE : DMU_ID_ACCELERATION;
		if (f.len == DMU_LEN)
			sequences[data[0] & 1] = f.data[7];
		if (dmu_take(&dmu, &f, t_ns, &sample)) {
			check_sample(&sample, MS, t_ns);
			must(sequences[0] == sequences[1] && f.len == DMU_LEN);
		}
		f.id = ids[data[0] & 7];
		if (mti_take(&mti, &f, t_ns, &sample))
			check_sample(&sample, MS, t_ns);
		if (data[1] & 0x80)
			dmu_stream_sent(&stream, t_ns);
		if (data[1] & 0x40) {
			dmu_stream_heard(&stream, t_ns);
			heard_ns = t_ns;
		}
		if (dmu_stream_tick(&stream, t_ns, data[1] & 0x20))
			must(t_ns - heard_ns >= stream.listen_ns);
	}
	must(dmu.counts.odd <= n && dmu.counts.incomplete <= n && mti.counts.incomplete <= n + 1);
	return 0;
}
