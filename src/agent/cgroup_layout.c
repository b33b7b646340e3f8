/* cgroup_layout.c - see cgroup_layout.h. Nothing is assumed about paths, nor about which controllers
 * share a mount. SPDX-License-Identifier: Apache-2.0 */
#include "agent/cgroup_layout.h"

#include "agent/cgroup_file.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

/* A process that was moved out of the way of `cgroup.subtree_control` is in this leaf. */
static const char leaf[] = "/weir.leaf";

static const struct {
    const char *name;
    unsigned bit;
} controllers[] = {
    {"cpu", CGROUP_CPU},
    {"cpuacct", CGROUP_CPUACCT},
    {"memory", CGROUP_MEMORY},
    {"pids", CGROUP_PIDS},
};

/* The bits of the names in a list like "rw,cpu,cpuacct". */
static unsigned bits_of(struct str names, char separator)
{
    unsigned bits = 0;
    while (names.p != NULL) {
        struct str name = str_trim(str_cut(names, separator, &names));
        for (size_t i = 0; i < sizeof controllers / sizeof controllers[0]; i++) {
            bits |= str_is(name, controllers[i].name) ? controllers[i].bit : 0;
        }
    }
    return bits;
}

/* Finds the path of the own cgroup in a tree: the lines are "4:memory:/path" and "0::/path". */
static bool own_find(const char *own, const struct cgroup_tree *tree, struct str *ret)
{
    struct str rest = str_of(own);
    while (rest.p != NULL && rest.len > 0) {
        struct str path = str_cut(rest, '\n', &rest);
        const struct str number = str_cut(path, ':', &path);
        const struct str names = path.p == NULL ? path : str_cut(path, ':', &path);
        if (path.p != NULL && (tree->unified ? str_is(number, "0") && names.len == 0
                                             : (bits_of(names, ',') & tree->controllers) != 0)) {
            *ret = path;
            return true;
        }
    }
    return false;
}

/* Joins mount point and own path. Where only a part of the tree is mounted (a container), the path
 * begins with the root of the mount, which is left out. */
static bool path_join(struct str point, struct str root, struct str path, char *out)
{
    if (root.len > 1 && path.len >= root.len && memcmp(path.p, root.p, root.len) == 0) {
        path.p += root.len;
        path.len -= root.len;
    }
    const size_t leaf_len = sizeof leaf - 1;
    if (path.len >= leaf_len && memcmp(path.p + path.len - leaf_len, leaf, leaf_len) == 0) {
        path.len -= leaf_len;
    }
    while (path.len > 0 && path.p[path.len - 1] == '/') {
        path.len--;
    }
    const int len =
        snprintf(out, AGENT_PATH_MAX, "%.*s%.*s", (int)point.len, point.p, (int)path.len, path.p);
    return len > 0 && len < AGENT_PATH_MAX - 64;
}

/* Adds the tree of one line of mountinfo:
 * "36 31 0:29 /root /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu". */
static void line_take(struct str line, const char *own, struct cgroup_layout *ret)
{
    enum { FIELD_ROOT = 3, FIELD_POINT = 4 };
    struct str rest = line;
    struct str root = {0};
    struct str point = {0};
    bool dash = false;
    for (int i = 0; rest.p != NULL && !dash; i++) {
        struct str word = str_cut(rest, ' ', &rest);
        root = i == FIELD_ROOT ? word : root;
        point = i == FIELD_POINT ? word : point;
        dash = i > FIELD_POINT && str_is(word, "-");
    }
    if (!dash || rest.p == NULL || ret->count == CGROUP_TREES_MAX) {
        return;
    }
    const struct str type = str_cut(rest, ' ', &rest);
    struct cgroup_tree tree = {.unified = str_is(type, "cgroup2")};
    if (!tree.unified && (!str_is(type, "cgroup") || rest.p == NULL)) {
        return;
    }
    if (!tree.unified) {
        (void)str_cut(rest, ' ', &rest);
        tree.controllers = rest.p == NULL ? 0 : bits_of(rest, ',');
        tree.controllers &= ~cgroup_layout_controllers(ret);
    } else if (ret->count > 0 && ret->trees[0].unified) {
        return;
    }
    struct str path;
    if ((!tree.unified && tree.controllers == 0) || !own_find(own, &tree, &path) ||
        !path_join(point, root, path, tree.path)) {
        return;
    }
    const size_t at = tree.unified ? 0 : ret->count;
    memmove(&ret->trees[at + 1], &ret->trees[at], (ret->count - at) * sizeof tree);
    ret->trees[at] = tree;
    ret->count++;
}

void cgroup_layout_of(const char *mountinfo, const char *own, struct cgroup_layout *ret)
{
    *ret = (struct cgroup_layout){0};
    struct str rest = str_of(mountinfo);
    while (rest.p != NULL && rest.len > 0) {
        line_take(str_cut(rest, '\n', &rest), own, ret);
    }
}

void cgroup_layout_read(struct cgroup_layout *ret)
{
    auto_free(freep) char *mountinfo = xmalloc(CGROUP_TEXT_MAX);
    auto_free(freep) char *own = xmalloc(CGROUP_TEXT_MAX);
    *ret = (struct cgroup_layout){0};
    if (cgroup_file_read("/proc/self", "mountinfo", mountinfo, CGROUP_TEXT_MAX) &&
        cgroup_file_read("/proc/self", "cgroup", own, CGROUP_TEXT_MAX)) {
        cgroup_layout_of(mountinfo, own, ret);
    }
    if (ret->count > 0 && ret->trees[0].unified) {
        char names[CGROUP_LINE_MAX];
        if (cgroup_file_read(ret->trees[0].path, "cgroup.controllers", names, sizeof names)) {
            ret->trees[0].controllers = bits_of(str_trim(str_of(names)), ' ');
        }
    }
}

enum cgroup_mode cgroup_layout_mode(const struct cgroup_layout *layout)
{
    if (layout->count == 0) {
        return CGROUP_MODE_NONE;
    }
    if (!layout->trees[0].unified) {
        return CGROUP_MODE_V1;
    }
    return layout->count > 1 ? CGROUP_MODE_HYBRID : CGROUP_MODE_V2;
}

unsigned cgroup_layout_controllers(const struct cgroup_layout *layout)
{
    unsigned bits = 0;
    for (size_t i = 0; i < layout->count; i++) {
        bits |= layout->trees[i].controllers;
    }
    return bits;
}

const char *cgroup_layout_mode_name(enum cgroup_mode mode)
{
    static const char *const names[] = {
        [CGROUP_MODE_NONE] = "none",
        [CGROUP_MODE_V1] = "v1",
        [CGROUP_MODE_HYBRID] = "hybrid",
        [CGROUP_MODE_V2] = "v2",
    };
    must((size_t)mode < sizeof names / sizeof names[0]);
    return names[mode];
}
