/* task_groups.c - how close together the instances of a gang are to be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "spec/task_internal.h"

#include <string.h>

/* A level of a pool's topology: the key of a node label. */
bool level_read(struct reader *in, const struct place *place, const struct doc *doc,
                const char **ret)
{
    const char *level;
    if (!value_text(in, place, doc, NAME_LEN_MAX, &level)) {
        return false;
    }
    if (level[0] == '\0') {
        problem_add(in, place, doc, "it is empty; the key of a node label is wanted, like rack");
        return false;
    }
    in->text_bytes += strlen(level) + 1;
    *ret = level;
    return true;
}

static void level_field(struct reader *in, const struct place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    (void)level_read(in, place, doc, (const char **)((char *)object + field->offset));
}

static const struct field topology_fields[] = {
    {"required", level_field, offsetof(struct topology_spec, required), 0, 0, NULL},
    {"preferred", level_field, offsetof(struct topology_spec, preferred), 0, 0, NULL},
    {0},
};

/* `topology: {required: zone, preferred: rack}`. */
void task_topology_read(struct reader *in, const struct place *place, const struct doc *doc,
                        const struct field *field, void *object)
{
    struct topology_spec *topology = (struct topology_spec *)((char *)object + field->offset);
    const uint32_t before = in->problems->total;
    fields_read(in, place, doc, topology_fields, topology);
    if (in->problems->total == before && topology->required == NULL &&
        topology->preferred == NULL) {
        problem_add(in, place, doc, "it names no level, like {required: rack}");
    }
}
