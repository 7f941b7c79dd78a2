/* gains.c: the gains that suit a model; see gains.h.  Checked: pure. */
#include <math.h>

#include "config/base/base.h"
#include "daemons/balance/gains.h"

#define N 4
#define DOUBLINGS_MAX 40

struct matrix {
	double at[N][N];
};

static struct matrix diagonal(const double d[N])
{
	struct matrix c = { 0 };

	for (int i = 0; i < N; i++)
		c.at[i][i] = d[i];
	return c;
}

static struct matrix one(void)
{
	return diagonal((const double[N]){ 1, 1, 1, 1 });
}

static struct matrix multiply(struct matrix a, struct matrix b)
{
	struct matrix c = { 0 };

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c.at[i][j] += a.at[i][k] * b.at[k][j];
	return c;
}

static struct matrix add(struct matrix a, struct matrix b)
{
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			a.at[i][j] += b.at[i][j];
	return a;
}

static struct matrix transpose(struct matrix a)
{
	struct matrix c;

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			c.at[i][j] = a.at[j][i];
	return c;
}

static void swap_rows(struct matrix *a, int i, int k)
{
	for (int j = 0; j < N; j++) {
		const double before = a->at[i][j];

		a->at[i][j] = a->at[k][j];
		a->at[k][j] = before;
	}
}

/* By Gauss and Jordan, with the largest pivot. */
static struct matrix inverse(struct matrix a)
{
	struct matrix c = one();

	for (int i = 0; i < N; i++) {
		int pivot = i;

		for (int k = i + 1; k < N; k++)
			if (fabs(a.at[k][i]) > fabs(a.at[pivot][i]))
				pivot = k;
		swap_rows(&a, i, pivot);
		swap_rows(&c, i, pivot);
		for (int k = 0; k < N; k++) {
			const double share = (k == i ? a.at[i][i] - 1 : a.at[k][i]) / a.at[i][i];

			for (int j = 0; j < N; j++) {
				a.at[k][j] -= share * a.at[i][j];
				c.at[k][j] -= share * c.at[i][j];
			}
		}
	}
	return c;
}

/* The model over one period, with the current held: series of the matrix exponential.  Its third power is below
 * 1e-12 of the first for a period of 1 ms; eight terms serve for 10 ms. */
static void discretise(const struct model_linear *linear, double period_s, struct matrix *a, double b[N])
{
	const struct matrix rate = { { { 0, 1, 0, 0 },
				       { linear->lean_by_lean, 0, 0, 0 },
				       { 0, 0, 0, 1 },
				       { linear->wheel_by_lean, 0, 0, 0 } } };
	const double input[N] = { 0, linear->lean_by_current, 0, linear->wheel_by_current };
	struct matrix term = one();

	*a = (struct matrix){ 0 };
	memset(b, 0, N * sizeof(*b));
	for (int k = 1; k <= 8; k++) {
		*a = add(*a, term);
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				b[i] += term.at[i][j] * input[j] * period_s / k;
		term = multiply(term, rate);
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				term.at[i][j] *= period_s / k;
	}
}

/* The discrete Riccati equation by doubling: each round looks twice as far ahead, so some fifteen are enough where
 * iterating tick by tick takes ten thousand. */
static struct matrix riccati(struct matrix a, const double b[N], const double weights[N], double weight_current)
{
	struct matrix g, h = diagonal(weights);

	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			g.at[i][j] = b[i] * b[j] / weight_current;
	for (int round = 0; round < DOUBLINGS_MAX; round++) {
		const struct matrix w = inverse(add(multiply(g, h), one())), wa = multiply(w, a);
		const struct matrix at = transpose(a), more = multiply(at, multiply(h, wa));
		double change = 0;

		h = add(h, more);
		for (int i = 0; i < N; i++)
			change = fmax(change, fabs(more.at[i][i]) / h.at[i][i]);
		g = add(g, multiply(a, multiply(multiply(w, g), at)));
		a = multiply(a, wa);
		if (change < 1e-12)
			break;
	}
	return h;
}

struct gains gains_of(const struct model_linear *linear, const struct gains_weights *weights, double period_s)
{
	const double state[N] = { weights->lean, weights->lean_rate, weights->wheel, weights->wheel_rate };
	double b[N], k[N] = { 0 }, bh[N] = { 0 }, divisor = weights->current;
	struct matrix a, h, bha;

	discretise(linear, period_s, &a, b);
	h = riccati(a, b, state, weights->current);
	for (int i = 0; i < N; i++) {
		for (int j = 0; j < N; j++)
			bh[i] += b[j] * h.at[j][i];
		divisor += bh[i] * b[i];
	}
	bha = multiply((struct matrix){ { { bh[0], bh[1], bh[2], bh[3] } } }, a);
	for (int i = 0; i < N; i++)
		k[i] = -bha.at[0][i] / divisor;
	return (struct gains){ k[0], k[1], k[2], k[3] };
}

void gains_fill(struct gains_table *table, const struct model *model, const struct gains_weights *weights,
		double period_s)
{
	for (int i = 0; i < GAINS_MAX; i++) {
		table->linear[i] = model_linear(model, i * GAINS_STEP_RAD);
		table->gains[i] = gains_of(&table->linear[i], weights, period_s);
	}
}

/* The rows are structs of n doubles. */
static void between(const double *rows, size_t n, double waist_rad, double *to)
{
	const double place = num_clamp(waist_rad / GAINS_STEP_RAD, 0, GAINS_MAX - 1);
	const size_t i = place < GAINS_MAX - 2 ? (size_t)place : GAINS_MAX - 2;
	const double share = place - (double)i;

	for (size_t k = 0; k < n; k++)
		to[k] = (1 - share) * rows[i * n + k] + share * rows[(i + 1) * n + k];
}

struct gains gains_at(const struct gains_table *table, double waist_rad)
{
	struct gains gains = { 0 };

	between(&table->gains[0].lean, sizeof(gains) / sizeof(double), waist_rad, &gains.lean);
	return gains;
}

struct model_linear gains_linear_at(const struct gains_table *table, double waist_rad)
{
	struct model_linear linear = { 0 };

	between(&table->linear[0].pitch_rad, sizeof(linear) / sizeof(double), waist_rad, &linear.pitch_rad);
	return linear;
}
