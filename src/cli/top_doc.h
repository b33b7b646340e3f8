/* top_doc.h - values of the API's answers, for the pages of `weir top`. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/doc.h"

/* Values of an answer; "" and 0 where the answer or the value is not there. */
const char *top_doc_text(const struct doc *doc, const char *path);
double top_doc_number(const struct doc *doc, const char *path);
const struct doc *top_doc_list(const struct doc *doc, const char *path); /* NULL: no list */
const struct doc *top_doc_nth(const struct doc *list, size_t index);     /* NULL: none */
