/* decide.h - from inputs to facts.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/model/form.h"
#include "core/model/ids.h"
#include "core/model/pool.h"
#include "core/model/resource.h"
#include "core/model/spec.h"
#include "core/model/verdict.h"

#include <stdint.h>

struct core;
struct facts;
struct input;
struct step;

/* What does this input change? Reads the state, changes nothing. */
enum verdict decide(const struct core *core, const struct input *in, struct facts *out);

/* ---- decisions by input ---- */

enum verdict decide_server_start(struct step *step);
enum verdict decide_pool_create(struct step *step);
enum verdict decide_pool_edit(struct step *step);
enum verdict decide_pool_delete(struct step *step);
enum verdict decide_node_join(struct step *step);
enum verdict decide_node_silent(struct step *step);
enum verdict decide_node_lost(struct step *step);
enum verdict decide_node_edit(struct step *step);
enum verdict decide_node_remove(struct step *step);
enum verdict decide_submit(struct step *step);
enum verdict decide_task_start(struct step *step);
enum verdict decide_task_pause(struct step *step);
enum verdict decide_task_activate(struct step *step);
enum verdict decide_move(struct step *step);
enum verdict decide_task_kill(struct step *step);
enum verdict decide_edit(struct step *step);
enum verdict decide_report(struct step *step);
enum verdict decide_tick(struct step *step);
enum verdict decide_account_set(struct step *step);
enum verdict decide_account_delete(struct step *step);
enum verdict decide_account_quota(struct step *step);
enum verdict decide_adopt(struct step *step);

/* ---- shared by them ---- */

/* Does the pool take this kind; can the request ever run there (P9)? Else refused; `spec` (or NULL) says how its groups are called. */
enum verdict decide_submit_accepts(struct step *step, const struct pool *pool, enum task_kind kind);
enum verdict decide_submit_possible(struct step *step, const struct pool *pool,
                                    const struct request *request, uint32_t gang_size);
enum verdict decide_form_possible(struct step *step, const struct pool *pool,
                                  const struct form *form, const struct task_spec *spec);

/* The form of a task with topology or groups, resolved; NULL: it has neither. `request` becomes that of its first instance. */
enum verdict decide_form_resolve(struct step *step, const struct task_spec *spec,
                                 struct request *request, const struct form **ret);

/* A task that asks for more slots than any node of the pool has, and for nothing else, as a gang of one-slot instances (of equal
 * parts that fill a node each, where the pool says so); others as they are. `request` follows. */
const struct task_spec *decide_spread(struct step *step, const struct pool *pool,
                                      const struct task_spec *spec, struct request *request);
/* The refusal of such a task in the words of what was asked for, with the smallest change. */
void decide_spread_refused(struct step *step, const struct pool *pool, const struct task_spec *spec,
                           const struct request *request);

/* What an instance asks for, with names resolved; the project that a spec names. */
enum verdict decide_submit_request(struct step *step, const struct task_spec *spec,
                                   struct request *ret);
enum verdict decide_submit_project(struct step *step, const char *name, account_id *ret);
/* The nodes to avoid: ascending, each once. */
enum verdict decide_submit_avoid(struct step *step, const char *const *names, uint32_t count,
                                 struct request *ret);
