/* unprevented.c - see unprevented.h. SPDX-License-Identifier: Apache-2.0 */
#include "agent/unprevented.h"

#include "agent/confine.h"
#include "base/log.h"

/* Says what tasks of an ordinary user can still do, which depends on how the kernel can confine them. */
static const char *by_confinement(unsigned confine)
{
    static const char open[] = "tasks run as the agent's own user: a task can read its files "
                               "(credentials too), see and trace other tasks, stop the agent and "
                               "other tasks; run the agent as root, or only trusted tasks";
    static const char domain[] = "tasks run as the agent's own user: a task can read its files "
                                 "(credentials too), see other tasks, stop the agent and other "
                                 "tasks; run the agent as root, or only trusted tasks";
    static const char domain_signals[] = "tasks run as the agent's own user: a task can read its "
                                         "files (credentials too) and see other tasks; run the "
                                         "agent as root, or only trusted tasks";
    static const char view[] = "tasks run as the agent's own user, in views of their own: a task "
                               "can use this user's files outside Weir's directories, what this "
                               "user's programs serve, abstract sockets, and the network";
    static const char view_domain[] = "tasks run as the agent's own user, in views of their own: "
                                      "a task can use this user's files outside Weir's "
                                      "directories, what this user's programs serve, and the "
                                      "network";
    const bool landlock = (confine & CONFINE_LANDLOCK) != 0;
    if ((confine & CONFINE_VIEW) != 0) {
        return landlock ? view_domain : view;
    }
    return !landlock ? open : (confine & CONFINE_SIGNALS) != 0 ? domain_signals : domain;
}

/* Who tasks are to each other. */
static const char *by_account(struct agent *agent)
{
    if (!agent->account.switch_user) {
        return by_confinement(agent->confine);
    }
    if (agent->task_uids.count > 0) {
        return "tasks have users of their own, and share the network, the machine's name and what "
               "every "
               "user of the machine can read";
    }
    return arena_fmt(&agent->arena,
                     "all tasks run as the user '%s': a task can signal other tasks and read their "
                     "memory, environment and files",
                     agent->account.name);
}

/* Appends a word to a list. */
static const char *list_add(struct agent *agent, const char *list, const char *word)
{
    return list[0] == '\0' ? word : arena_fmt(&agent->arena, "%s, %s", list, word);
}

void unprevented_tell(struct agent *agent)
{
    static const struct {
        unsigned bit;
        const char *name;
    } each[] = {{CGROUP_CPU, "cpu"}, {CGROUP_MEMORY, "memory"}, {CGROUP_PIDS, "processes"}};
    const char *held = "";
    const char *missing = "";
    for (size_t i = 0; i < sizeof each / sizeof each[0]; i++) {
        const bool has = (agent->cgroup_controllers & each[i].bit) != 0;
        held = has ? list_add(agent, held, each[i].name) : held;
        missing = has ? missing : list_add(agent, missing, each[i].name);
    }
    const bool idle = held[0] == '\0' && agent->cgroup_mode != CGROUP_MODE_NONE;
    agent->node.limits =
        arena_fmt(&agent->arena, "cgroups %s%s%s", cgroup_layout_mode_name(agent->cgroup_mode),
                  held[0] != '\0' ? ": "
                  : idle          ? ", without the controllers cpu, memory and pids"
                                  : "",
                  held);
    agent->node.unprevented = by_account(agent);
    if (missing[0] != '\0') {
        agent->node.unprevented = arena_fmt(&agent->arena, "%.240s; more %s than a task holds",
                                            agent->node.unprevented, missing);
    }
    log_info("what this node cannot prevent", kv_str("what", agent->node.unprevented),
             kv_str("limits", agent->node.limits));
}
