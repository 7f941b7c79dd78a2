/* policy_rules.h: how a daemon is restarted, as its launch file says (launch(5)); achstart/policy.h obeys it. */
#pragma once

#include "config/base/base.h"

#define POLICY_DEATHS_MAX 100 /* the largest budget */

struct policy_rules {
	int never; /* 1: restart: never */
	bool critical;
	int64_t settled_ns;	  /* time in READY after which a death no longer counts as early: 1 s */
	int64_t backoff_ns;	  /* pause after the first early death: 0.1 s ... */
	int64_t backoff_max_ns;	  /* ... and at most: 5 s */
	int64_t budget;		  /* early deaths, 1 to POLICY_DEATHS_MAX, ... */
	int64_t budget_within_ns; /* ... within this time are too many: 10 in a minute */
	int64_t ready_within_ns;  /* 5 s */
	int64_t kill_within_ns;	  /* from SIGTERM to SIGKILL: 2 s */
};
