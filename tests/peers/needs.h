/* needs.h - checks that a case has the fields that its translator reads without asking.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "peers.h"

/* `needs` lists field names between blanks, each with its form: "queues[{}]" a list of maps,
 * "filter[]" a list, "expect{}" a map, "total" anything but null, "a|b{}" one of two names.
 * False: the trial has failed and says which field is missing. */
bool needs_met(struct trial *trial, const char *needs);
