/* test_balance_model.c: the model against figures of Krang that were computed elsewhere, and gains against theory. */
#include <math.h>
#include <stdio.h>

#include "test/lib/testcase.h"

#include "daemons/balance/balanced_settings.h"

#define LEN(array) (sizeof(array) / sizeof(*(array)))
#define DEG (M_PI / 180)

static struct balanced_settings krang(void)
{
	struct balanced_settings values = { 0 };
	struct settings settings = { .rows = balanced_settings_rows, .values = &values };
	struct error_sink errors = { 0 };

	TEST_ASSERT_EQUAL(0, settings_defaults(&settings, &errors));
	return values;
}

/* Krang with its arms tucked, by the equations of motion in polar form. */
static const struct {
	double waist, pitch_deg, height, by_waist, lean_lean, wheel_lean, lean_a, wheel_a;
} postures[] = {
	{ 0, -2.61, 0.559, 0.528, 12.864, -24.399, -0.1281, 0.4859 },
	{ 0.3, -11.69, 0.561, 0.528, 12.760, -24.289, -0.1269, 0.4845 },
	{ 1.2, -39.07, 0.493, 0.537, 13.245, -22.140, -0.1379, 0.4736 },
	{ 1.986, -63.83, 0.352, 0.571, 14.087, -16.820, -0.1684, 0.4441 },
	{ 2.79, -94.14, 0.155, 0.867, 10.954, -5.723, -0.2062, 0.3508 },
};

TEST(test_postures)
{
	const struct model model = krang().model;

	for (size_t i = 0; i < LEN(postures); i++) {
		const struct model_linear l = model_linear(&model, postures[i].waist);

		TEST_ASSERT_DOUBLE_WITHIN(0.02 * DEG, postures[i].pitch_deg * DEG, l.pitch_rad);
		TEST_ASSERT_DOUBLE_WITHIN(0.001, postures[i].height, l.height_m);
		TEST_ASSERT_DOUBLE_WITHIN(0.002, postures[i].by_waist,
					  model_lean_by_waist(&model, l.pitch_rad, postures[i].waist));
		TEST_ASSERT_DOUBLE_WITHIN(0.01, postures[i].lean_lean, l.lean_by_lean);
		TEST_ASSERT_DOUBLE_WITHIN(0.01, postures[i].wheel_lean, l.wheel_by_lean);
		TEST_ASSERT_DOUBLE_WITHIN(0.0002, postures[i].lean_a, l.lean_by_current);
		TEST_ASSERT_DOUBLE_WITHIN(0.0002, postures[i].wheel_a, l.wheel_by_current);
	}
}

/* The lean turns with the base as a whole, and is 0 at balance. */
TEST(test_lean)
{
	const struct model model = krang().model;

	for (double waist = 0; waist < 2.9; waist += 0.1) {
		const double pitch = model_linear(&model, waist).pitch_rad;

		for (double lean = -0.5; lean < 0.6; lean += 0.25)
			TEST_ASSERT_DOUBLE_WITHIN(1e-12, lean, model_lean(&model, pitch + lean, waist));
	}
}

TEST(test_what_the_waist_adds_is_the_derivative)
{
	const struct model model = krang().model;
	const double h = 1e-6;

	for (double waist = 0; waist < 2.9; waist += 0.1)
		for (double pitch = -1.5; pitch < 0.5; pitch += 0.25) {
			const double slope =
				(model_lean(&model, pitch, waist + h) - model_lean(&model, pitch, waist - h)) / (2 * h);

			TEST_ASSERT_DOUBLE_WITHIN(1e-6, slope, model_lean_by_waist(&model, pitch, waist));
		}
}

static const struct {
	double waist, period_s;
	struct gains_weights weights;
	struct gains gains;
} known[] = {
	{ 0, 0.002, { 400, 4, 1, 0.25, 1 / 400.0 }, { 794.4, 251.3, 19.70, 34.88 } },
	{ 0, 0.005, { 400, 4, 1, 0.25, 1 / 400.0 }, { 779.8, 246.8, 19.25, 34.11 } },
	{ 0, 0.001, { 400, 4, 1, 0.25, 1 / 400.0 }, { 799.3, 252.8, 19.85, 35.14 } },
	{ 0.3, 0.002, { 300, 96000, 30000, 90000, 3231 }, { 329, 108, 3.02, 9.14 } },
	{ 1.99, 0.002, { 300, 96000, 30000, 90000, 3231 }, { 264, 81, 3.02, 9.01 } },
	{ 2.79, 0.002, { 300, 96000, 30000, 90000, 3231 }, { 175, 57, 3.0, 9.2 } },
};

TEST(test_gains)
{
	const struct model model = krang().model;

	for (size_t i = 0; i < LEN(known); i++) {
		const struct model_linear linear = model_linear(&model, known[i].waist);
		const struct gains got = gains_of(&linear, &known[i].weights, known[i].period_s);

		TEST_ASSERT_DOUBLE_WITHIN(0.005 * known[i].gains.lean, known[i].gains.lean, got.lean);
		TEST_ASSERT_DOUBLE_WITHIN(0.007 * known[i].gains.lean_rate, known[i].gains.lean_rate, got.lean_rate);
		TEST_ASSERT_DOUBLE_WITHIN(0.01 * known[i].gains.wheel, known[i].gains.wheel, got.wheel);
		TEST_ASSERT_DOUBLE_WITHIN(0.01 * known[i].gains.wheel_rate, known[i].gains.wheel_rate, got.wheel_rate);
	}
}

TEST(test_between_postures)
{
	const struct balanced_settings s = krang();
	struct gains_table table;

	gains_fill(&table, &s.model, &s.weights, 0.001);
	TEST_ASSERT_EQUAL_DOUBLE(table.gains[0].lean, gains_at(&table, -1).lean);
	TEST_ASSERT_EQUAL_DOUBLE(table.gains[GAINS_MAX - 1].wheel_rate, gains_at(&table, 99).wheel_rate);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.5 * (table.gains[3].lean + table.gains[4].lean), gains_at(&table, 0.35).lean);
	TEST_ASSERT_DOUBLE_WITHIN(1e-9, table.linear[7].pitch_rad, gains_linear_at(&table, 0.7).pitch_rad);
}
