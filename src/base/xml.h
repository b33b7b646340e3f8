/* xml.h - reads the small XML of a cloud's answers: elements, texts, the five entities and numbers of
 * characters. Attributes are passed over, prefixes of namespaces are dropped. Everything else (document types,
 * CDATA, processing instructions, text beside elements) is refused.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/arena.h"
#include "base/fail.h"
#include "base/str.h"

enum { XML_DEPTH_MAX = 16, XML_NODES_MAX = 400000, XML_NAME_MAX = 64 };

struct xml_node {
    struct str name; /* without its prefix */
    struct str text; /* decoded, with a NUL behind it; empty where there are elements inside */
    struct xml_node *first;
    struct xml_node *next;
};

/* Everything lives in the arena. ERR_INVALID and ERR_LIMIT say where and why. */
must_use enum err xml_parse(struct arena *arena, struct str text, struct xml_node **ret,
                            struct error *e);

/* The first element of this name inside `node`; NULL: there is none, or `node` is NULL. */
const struct xml_node *xml_child(const struct xml_node *node, const char *name);

/* The text of that element; "": there is none. */
const char *xml_text(const struct xml_node *node, const char *name);
