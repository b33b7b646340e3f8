/* top_doc.c - see top_doc.h. SPDX-License-Identifier: Apache-2.0 */
#include "cli/top_doc.h"

#include "cli/item.h"

#include <stdlib.h>

const char *top_doc_text(const struct doc *doc, const char *path)
{
    return doc != NULL ? item_text(doc, path) : "";
}

double top_doc_number(const struct doc *doc, const char *path)
{
    const char *text = top_doc_text(doc, path);
    return text[0] != '\0' ? strtod(text, NULL) : 0;
}

const struct doc *top_doc_list(const struct doc *doc, const char *path)
{
    const struct doc *list = doc != NULL ? item_at(doc, path) : NULL;
    return list != NULL && list->kind == DOC_LIST ? list : NULL;
}

const struct doc *top_doc_nth(const struct doc *list, size_t index)
{
    const struct doc *d = list != NULL ? list->first : NULL;
    while (d != NULL && index-- > 0) {
        d = d->next;
    }
    return d;
}
