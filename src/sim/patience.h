/* patience.h - the patience of pools, as the command line gives it: "auto", "4d", "60s,gpu=auto".
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/fail.h"
#include "sim/scenario.h"

/* Checks the form. ERR_USAGE says what is wrong. */
must_use enum err patience_check(const char *text, struct error *e);

/* Sets the patience of the pools: a value alone is for every pool, `default` included, and
 * POOL=VALUE for one. ERR_USAGE: the scenario has no such pool. */
must_use enum err patience_set(const char *text, struct scenario *scenario, struct error *e);
