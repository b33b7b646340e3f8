/* spool_report.h - what the server is told of a record of the spool.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "agent/record.h"
#include "wire/agent.h"

/* Turns a record of an attempt into a report. Output is borrowed from the record. The record must not
 * be of type NONE, SEGMENT or ACCEPTED: the server is not told of these. */
void spool_report_of(const struct record *record, struct arena *arena, struct agent_report *ret);
