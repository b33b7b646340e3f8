/* reasons_others.h - waits that end when other tasks leave: part of test_reasons.c.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

void what_was_lent_comes_back(void **state);
void the_oldest_borrower_gives_first(void **state);
void a_gang_waits_for_as_many_as_it_needs(void **state);
void the_moment_is_exact_among_thirty(void **state);
void time_does_not_help_where_too_little_would_leave(void **state);
void lower_priorities_have_their_runtime_too(void **state);
void the_delay_counts_for_every_way(void **state);
void the_later_of_delay_and_runtime(void **state);
void time_does_not_help_everybody(void **state);
void what_is_promised_to_another(void **state);
void a_priority_that_helps(void **state);
void a_place_ahead_of_the_holder(void **state);
void a_draining_node_that_helps(void **state);
void a_flavor_that_is_sold_out(void **state);
void flavors_that_cannot_be_had(void **state);
void networks_that_tasks_cannot_have(void **state);
void networks_that_are_in_the_way(void **state);
void flavors_of_ec2_that_do_not_fit(void **state);
