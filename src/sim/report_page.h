/* report_page.h - the texts of report.css and report.js, which every report contains.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

extern const unsigned char report_css[];
extern const size_t report_css_len;
extern const unsigned char report_js[];
extern const size_t report_js_len;
