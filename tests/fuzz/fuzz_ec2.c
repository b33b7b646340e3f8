/* fuzz_ec2.c - the answers of EC2: the XML reader, lists of machines, errors. What is accepted is within its bounds, and
 * every text ends where it says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/must.h"
#include "base/utf8.h"
#include "provider/ec2/ec2_answer.h"
#include "base/xml.h"

#include <string.h>

/* Walks the whole document without recursion. */
static void document_check(const struct xml_node *node)
{
    const struct xml_node *up[XML_DEPTH_MAX];
    unsigned depth = 0;
    uint32_t count = 0;
    while (node != NULL) {
        must(++count <= XML_NODES_MAX);
        must(node->name.len > 0 && node->name.len <= XML_NAME_MAX);
        must(strlen(node->text.p) == node->text.len);
        must(utf8_valid(node->text.p, node->text.len));
        must(node->first == NULL || node->text.len == 0);
        if (node->first != NULL) {
            must(depth < XML_DEPTH_MAX);
            up[depth++] = node;
            node = node->first;
            continue;
        }
        while (node->next == NULL && depth > 0) {
            node = up[--depth];
        }
        node = depth > 0 || node->next != NULL ? node->next : NULL;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct str text = {(const char *)data, size};
    struct arena arena;
    struct error e = {0};
    struct xml_node *root;
    struct ec2_machines machines;
    struct ec2_error error;
    arena_init(&arena);
    if (xml_parse(&arena, text, &root, &e) == ERR_OK) {
        must(root->next == NULL);
        document_check(root);
    } else {
        must(e.text[0] != '\0');
    }
    if (ec2_answer_machines(text, &arena, &machines, &e) == ERR_OK) {
        for (uint32_t i = 0; i < machines.count; i++) {
            must(machines.at[i].id[0] != '\0');
            must(machines.at[i].state <= EC2_ENDED);
            must(machines.at[i].why != NULL);
        }
    }
    ec2_answer_error(400, text, &arena, &error);
    must(error.words[0] != '\0');
    arena_done(&arena);
    return 0;
}
