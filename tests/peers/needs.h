/* needs.h - is a case whole? What a translator reads without asking must be there.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "peers.h"

/* Has the case these fields: names between blanks, each with its form: "queues[{}]" a list of maps, "filter[]" a list, "expect{}" a
 * map, "total" anything but null; "a|b{}" one of the two. False: the trial has failed, and says what is missing. */
bool needs_met(struct trial *trial, const char *needs);
