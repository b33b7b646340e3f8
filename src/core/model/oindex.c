/* oindex.c - a copy-on-write B+tree.
 *
 *   level 1          [ a        m        t ]          keys[i], i > 0: at most the lowest
 *   level 0   [a b c d]  [m n o]  [t u v w x]         key below child i; all keys are in leaves
 *
 * A change descends once, taking every node of its path for itself (node_own), changes the leaf and
 * mends the path upwards. An append splits off a fresh node and leaves the full one full, since
 * most orders grow at their end. A node that a removal leaves small is merged with a neighbour when
 * both fit one node with room to spare. SPDX-License-Identifier: Apache-2.0 */
#include "core/model/oindex.h"

#include "base/mem.h"
#include "base/must.h"

#include <string.h>

enum { NODE_KEYS = 30, NODE_SMALL = NODE_KEYS / 4, NODE_MERGED_MAX = NODE_KEYS * 3 / 4 };

/* NODE_SMALL keys a node or more nearly everywhere: 2^64 keys are far below this height. */
enum { HEIGHT_MAX = 32 };

struct oindex_node {
    uint32_t refs;
    uint16_t count;
    uint16_t level; /* 0: a leaf */
    struct okey keys[NODE_KEYS];
};

struct inner {
    struct oindex_node node;
    struct oindex_node *child[NODE_KEYS];
};

struct oindex_path {
    unsigned depth;
    struct oindex_node *node[HEIGHT_MAX];
    unsigned at[HEIGHT_MAX]; /* which child was taken */
};

int oindex_key_compare(struct okey a, struct okey b)
{
    for (unsigned i = 0; i < 4; i++) {
        if (a.at[i] != b.at[i]) {
            return a.at[i] < b.at[i] ? -1 : 1;
        }
    }
    return 0;
}

/* Is `a` lower than `b`? Keys that are compared in a search mostly differ in one and the same number, so the branches are foreseen. */
static bool okey_lower(const struct okey *a, const struct okey *b)
{
    if (a->at[0] != b->at[0]) {
        return a->at[0] < b->at[0];
    }
    if (a->at[1] != b->at[1]) {
        return a->at[1] < b->at[1];
    }
    return a->at[2] != b->at[2] ? a->at[2] < b->at[2] : a->at[3] < b->at[3];
}

static struct oindex_node **children(struct oindex_node *node)
{
    must(node->level > 0);
    return ((struct inner *)node)->child;
}

static struct oindex_node *child_at(const struct oindex_node *node, unsigned i)
{
    must(node->level > 0);
    return ((const struct inner *)node)->child[i];
}

static size_t node_size(unsigned level)
{
    return level > 0 ? sizeof(struct inner) : sizeof(struct oindex_node);
}

static struct oindex_node *node_new(unsigned level)
{
    struct oindex_node *node = xmalloc(node_size(level));
    node->refs = 1;
    node->count = 0;
    node->level = (uint16_t)level;
    return node;
}

static void node_ref(struct oindex_node *node)
{
    (void)__atomic_fetch_add(&node->refs, 1, __ATOMIC_RELAXED);
}

static bool node_drop(struct oindex_node *node)
{
    return __atomic_fetch_sub(&node->refs, 1, __ATOMIC_ACQ_REL) == 1;
}

/* Frees what only this reference keeps, without recursion: at[] remembers the next child. */
static void node_unref(struct oindex_node *root)
{
    if (root == NULL || !node_drop(root)) {
        return;
    }
    struct oindex_path path = {.depth = 1, .node = {root}};
    while (path.depth > 0) {
        struct oindex_node *node = path.node[path.depth - 1];
        if (node->level == 0 || path.at[path.depth - 1] == node->count) {
            free(node);
            path.depth--;
            continue;
        }
        struct oindex_node *child = child_at(node, path.at[path.depth - 1]++);
        if (node_drop(child)) {
            must(path.depth < HEIGHT_MAX);
            path.node[path.depth] = child;
            path.at[path.depth++] = 0;
        }
    }
}

/* The node in this slot, for writing: a copy when anybody else can see it. */
static struct oindex_node *node_own(struct oindex_node **slot)
{
    struct oindex_node *node = *slot;
    if (__atomic_load_n(&node->refs, __ATOMIC_ACQUIRE) == 1) {
        return node;
    }
    struct oindex_node *copy = xmemdup(node, node_size(node->level));
    copy->refs = 1;
    for (unsigned i = 0; copy->level > 0 && i < copy->count; i++) {
        node_ref(child_at(copy, i));
    }
    node_unref(node);
    *slot = copy;
    return copy;
}

/* How many keys of the node, from `from` on, are < key; all before that are. */
static unsigned lower_bound(const struct oindex_node *node, unsigned from, const struct okey *key)
{
    unsigned low = from;
    unsigned left = node->count - from;
    while (left > 0) {
        const unsigned half = left / 2;
        if (okey_lower(&node->keys[low + half], key)) {
            low += half + 1;
            left -= half + 1;
        } else {
            left = half;
        }
    }
    return low;
}

/* The child whose range has the key: the last one whose lowest key is not above it. keys[0] has no
 * say: it is too high once lower keys went below child 0. */
static unsigned child_for(const struct oindex_node *node, const struct okey *key)
{
    const unsigned at = lower_bound(node, 1, key);
    return at < node->count && oindex_key_compare(node->keys[at], *key) == 0 ? at : at - 1;
}

void oindex_init(struct oindex *index)
{
    *index = (struct oindex){0};
}

void oindex_done(struct oindex *index)
{
    node_unref(index->root);
    *index = (struct oindex){0};
}

void oindex_copy(struct oindex *to, const struct oindex *from)
{
    *to = *from;
    if (to->root != NULL) {
        node_ref(to->root);
    }
}

uint64_t oindex_count(const struct oindex *index)
{
    return index->count;
}

bool oindex_has(const struct oindex *index, struct okey key)
{
    struct okey found;
    return oindex_from(index, key, &found) && oindex_key_compare(found, key) == 0;
}

/* The lowest (highest) leaf of a subtree. */
static const struct oindex_node *edge_leaf(const struct oindex_node *node, bool highest)
{
    while (node->level > 0) {
        node = child_at(node, highest ? node->count - 1U : 0);
    }
    return node;
}

bool oindex_walk_from(struct oindex_walk *walk, const struct oindex *index, struct okey from,
                      struct okey *ret)
{
    const struct oindex_node *node = index->root;
    const struct oindex_node *right = NULL; /* the nearest subtree right of the way down */
    if (node == NULL) {
        return false;
    }
    while (node->level > 0) {
        unsigned i = child_for(node, &from);
        if (i + 1 < node->count) {
            right = child_at(node, i + 1);
        }
        node = child_at(node, i);
    }
    unsigned at = lower_bound(node, 0, &from);
    if (at == node->count) {
        if (right == NULL) {
            return false;
        }
        node = edge_leaf(right, false);
        at = 0;
    }
    *walk = (struct oindex_walk){index, node, at};
    *ret = node->keys[at];
    return true;
}

/* The lowest key above; false: there is none. */
static bool okey_above(struct okey *key)
{
    for (unsigned i = 4; i-- > 0;) {
        if (++key->at[i] != 0) {
            return true;
        }
    }
    return false;
}

bool oindex_walk_next(struct oindex_walk *walk, struct okey *ret)
{
    if (walk->at + 1 < walk->leaf->count) {
        *ret = walk->leaf->keys[++walk->at];
        return true;
    }
    struct okey from = walk->leaf->keys[walk->at];
    return okey_above(&from) && oindex_walk_from(walk, walk->index, from, ret);
}

bool oindex_from(const struct oindex *index, struct okey from, struct okey *ret)
{
    struct oindex_walk walk;
    return oindex_walk_from(&walk, index, from, ret);
}

bool oindex_next(const struct oindex *index, struct okey after, struct okey *ret)
{
    return okey_above(&after) && oindex_from(index, after, ret);
}

bool oindex_prev(const struct oindex *index, struct okey before, struct okey *ret)
{
    const struct oindex_node *node = index->root;
    const struct oindex_node *left = NULL;
    if (node == NULL) {
        return false;
    }
    while (node->level > 0) {
        unsigned i = child_for(node, &before);
        if (i > 0) {
            left = child_at(node, i - 1);
        }
        node = child_at(node, i);
    }
    unsigned i = lower_bound(node, 0, &before);
    if (i > 0) {
        *ret = node->keys[i - 1];
        return true;
    }
    if (left == NULL) {
        return false;
    }
    const struct oindex_node *leaf = edge_leaf(left, true);
    *ret = leaf->keys[leaf->count - 1U];
    return true;
}

/* Own every node from the root to the leaf for `key`. Is it there already? */
static bool path_own(struct oindex *index, struct okey key, struct oindex_path *path)
{
    struct oindex_node *node = node_own(&index->root);
    path->depth = 0;
    while (true) {
        must(path->depth < HEIGHT_MAX);
        const unsigned at = node->level > 0 ? child_for(node, &key) : lower_bound(node, 0, &key);
        path->node[path->depth] = node;
        path->at[path->depth++] = at;
        if (node->level == 0) {
            return at < node->count && oindex_key_compare(node->keys[at], key) == 0;
        }
        node = node_own(&children(node)[at]);
    }
}

static void node_insert(struct oindex_node *node, unsigned at, struct okey key,
                        struct oindex_node *child)
{
    must(node->count < NODE_KEYS);
    must(at <= node->count);
    size_t behind = node->count - at;
    memmove(&node->keys[at + 1], &node->keys[at], behind * sizeof node->keys[0]);
    node->keys[at] = key;
    if (node->level > 0) {
        struct oindex_node **child_list = children(node);
        memmove(&child_list[at + 1], &child_list[at], behind * sizeof *child_list);
        child_list[at] = child;
    }
    node->count++;
}

static void node_remove(struct oindex_node *node, unsigned at)
{
    must(at < node->count);
    size_t behind = node->count - at - 1U;
    memmove(&node->keys[at], &node->keys[at + 1], behind * sizeof node->keys[0]);
    if (node->level > 0) {
        struct oindex_node **child_list = children(node);
        memmove(&child_list[at], &child_list[at + 1], behind * sizeof *child_list);
    }
    node->count--;
}

/* Move keys[from..] (and children) of one node to the end of another of the same level. */
static void node_move(struct oindex_node *to, struct oindex_node *node, unsigned from)
{
    size_t moved = node->count - from;
    must(to->count + moved <= NODE_KEYS);
    memcpy(&to->keys[to->count], &node->keys[from], moved * sizeof to->keys[0]);
    if (node->level > 0) {
        memcpy(&children(to)[to->count], &children(node)[from], moved * sizeof *children(to));
    }
    to->count = (uint16_t)(to->count + moved);
    node->count = (uint16_t)from;
}

/* Insert into a full node: the upper part moves to a new right neighbour, which is returned. */
static struct oindex_node *node_split(struct oindex_node *node, unsigned at, struct okey key,
                                      struct oindex_node *child)
{
    struct oindex_node *right = node_new(node->level);
    if (at == node->count) {
        node_insert(right, 0, key, child);
        return right;
    }
    node_move(right, node, NODE_KEYS / 2);
    if (at <= node->count) {
        node_insert(node, at, key, child);
    } else {
        node_insert(right, at - node->count, key, child);
    }
    return right;
}

bool oindex_insert(struct oindex *index, struct okey key)
{
    if (index->root == NULL) {
        index->root = node_new(0);
        node_insert(index->root, 0, key, NULL);
        index->count = 1;
        return true;
    }
    struct oindex_path path;
    if (path_own(index, key, &path)) {
        return false;
    }
    index->count++;
    struct oindex_node *child = NULL;
    unsigned at = path.at[path.depth - 1];
    struct okey low = key;
    for (unsigned depth = path.depth; depth-- > 0;) {
        struct oindex_node *node = path.node[depth];
        if (node->count < NODE_KEYS) {
            node_insert(node, at, low, child);
            return true;
        }
        child = node_split(node, at, low, child);
        low = child->keys[0];
        at = depth > 0 ? path.at[depth - 1] + 1 : 0;
    }
    struct oindex_node *root = node_new(index->root->level + 1U);
    node_insert(root, 0, index->root->keys[0], index->root);
    node_insert(root, 1, low, child);
    index->root = root;
    return true;
}

/* Merge child `at` of a parent with its right neighbour when both fit one node with room. */
static bool merge_right(struct oindex_node *parent, unsigned at)
{
    struct oindex_node *left = child_at(parent, at);
    struct oindex_node *right = child_at(parent, at + 1);
    if (left->count + right->count > NODE_MERGED_MAX) {
        return false;
    }
    left = node_own(&children(parent)[at]);
    right = node_own(&children(parent)[at + 1]);
    if (right->level > 0) {
        /* A node's own keys[0] is never looked at and may be too high; its parent's key is right. */
        right->keys[0] = parent->keys[at + 1];
    }
    node_move(left, right, 0);
    node_unref(right);
    node_remove(parent, at + 1);
    return true;
}

static void node_mend(struct oindex_node *parent, unsigned at)
{
    struct oindex_node *node = child_at(parent, at);
    if (node->count == 0) {
        node_unref(node);
        node_remove(parent, at);
        return;
    }
    if (node->count > NODE_SMALL) {
        return;
    }
    if (at + 1 < parent->count && merge_right(parent, at)) {
        return;
    }
    if (at > 0) {
        (void)merge_right(parent, at - 1);
    }
}

bool oindex_remove(struct oindex *index, struct okey key)
{
    struct oindex_path path;
    if (index->root == NULL || !path_own(index, key, &path)) {
        return false;
    }
    index->count--;
    node_remove(path.node[path.depth - 1], path.at[path.depth - 1]);
    for (unsigned depth = path.depth - 1; depth-- > 0;) {
        node_mend(path.node[depth], path.at[depth]);
    }
    while (index->root->level > 0 && index->root->count == 1) {
        struct oindex_node *root = index->root;
        index->root = child_at(root, 0);
        root->count = 0; /* its child has moved up with its reference */
        node_unref(root);
    }
    if (index->root->count == 0) {
        node_unref(index->root);
        index->root = NULL;
    }
    return true;
}
