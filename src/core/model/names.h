/* names.h - the words of the enums, as API, CLI and events write them.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/account.h"
#include "core/model/claim.h"
#include "core/model/fallback.h"
#include "core/model/launch.h"
#include "core/model/leave.h"
#include "core/model/length.h"
#include "core/model/life.h"
#include "core/model/node.h"
#include "core/model/reason.h"
#include "core/model/rollout.h"
#include "core/model/spec.h"
#include "core/model/task.h"

#include <stdbool.h>

/* "department", "project". */
const char *names_account_kind(enum account_kind kind);
/* "share", "guarantee" …: the rule of an eviction. */
const char *names_eviction_rule(enum eviction_rule rule);
/* "name", "user-size" …; NULL beyond the last. */
const char *names_length_source(enum length_source source);
/* "asked", "requested" … */
const char *names_fallback_why(enum fallback_why why);
const char *names_launch_state(enum launch_state state);
const char *names_provider_why(enum provider_why why);
const char *names_node_state(enum node_state state);
/* "no-room", "gang-short" …: the reason code that API and CLI show. */
const char *names_reason(enum reason_code code);
/* "experiment" … ; NULL beyond the last. */
const char *names_service_health(enum service_health health);
const char *names_rollout_phase(enum rollout_phase phase);
const char *names_rollout_why(enum rollout_why why);
const char *names_restart(enum restart restart);
const char *names_task_kind(enum task_kind kind);
bool names_task_kind_parse(const char *name, enum task_kind *ret);
/* "fair-share", "pack", "least-loss", "submission" …; NULL beyond the last. */
const char *names_pool_policy(enum pool_policy policy);
const char *names_pool_placement(enum pool_placement placement);
const char *names_pool_victims(enum pool_victims victims);
const char *names_pool_order(enum pool_order order);
const char *names_pool_provider(enum pool_provider provider);
/* "submitted" …, "running" …, "starting" …: the life cycle of a pool. */
const char *names_pool_state(enum pool_state state);
const char *names_pool_health(enum pool_health health);
const char *names_pool_why(enum pool_why why);
/* "public", "dedicated"; NULL beyond the last. */
const char *names_pool_access(enum pool_access access);
const char *names_idle_action(enum idle_action action);
const char *names_idle_step(enum idle_step step);       /* "warned" … */
const char *names_account_idle(enum account_idle idle); /* "inherit" …; NULL beyond the last */
const char *names_task_state(enum task_state state);
bool names_task_state_parse(const char *name, enum task_state *ret);
const char *names_end_cause(enum end_cause cause);
/* "wait", "requeue" …; NULL beyond the last. */
const char *names_busy(enum busy busy);
bool names_busy_parse(const char *name, enum busy *ret);
const char *names_leave(enum leave leave); /* "drained", "scaled" … */
