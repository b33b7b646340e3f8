/* health.h - the site's own check of a node: a program that the agent runs again and again. While its last run failed, the node
 * is out of service, with the words of the program. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

struct agent;
struct health;

/* Runs the program of --health-check at once, and from then on every --health-every. NULL where there is no program. */
struct health *health_new(struct agent *agent);
void health_free(struct health *health); /* NULL is allowed */

/* Is the first run still to come to its end? Until then the agent does not join. */
bool health_unknown(const struct health *health);

/* Why the node is out of service; "": the program found nothing, or there is no program. */
const char *health_trouble(const struct health *health);
