/* objects.h - words that the tables of objects use.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The word of a switch whose member is 1 when the switch is off: "on" for 0, "off" for 1. */
const char *objects_switch_name(unsigned off);

/* The word of a switch whose member is 1 when the switch is on: "off" for 0, "on" for 1. */
const char *objects_switch_on_name(unsigned on);
