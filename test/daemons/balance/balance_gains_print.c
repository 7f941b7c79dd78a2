/* balance_gains_print.c: the gains that balanced computes, for test_balance_gains.sh. */
#include <stdio.h>

#include "daemons/balance/balanced_settings.h"

int main(void)
{
	struct balanced_settings values = { 0 };
	struct settings settings = { .rows = balanced_settings_rows, .values = &values };
	struct error_sink errors = { 0 };
	struct gains_table table;

	if (settings_defaults(&settings, &errors))
		return 1;
	gains_fill(&table, &values.model, &values.weights, 0.001);
	for (int i = 0; i < GAINS_MAX; i++)
		printf("%.3f %.4f %.4f %.4f %.4f\n", i * GAINS_STEP_RAD, table.gains[i].lean, table.gains[i].lean_rate,
		       table.gains[i].wheel, table.gains[i].wheel_rate);
	return 0;
}
