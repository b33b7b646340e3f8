/* banned.h - calls that are never right here; each names its replacement. The build includes this
 * file in every source file (-include). The system headers come first, because they use the names.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* glibc makes macros of these names for clang when _FORTIFY_SOURCE is set. */
#undef sprintf
#undef vsprintf

#pragma GCC poison strcpy    /* buf_add or memcpy with a known length */
#pragma GCC poison strcat    /* buf_add */
#pragma GCC poison sprintf   /* buf_addf or snprintf */
#pragma GCC poison vsprintf  /* vsnprintf */
#pragma GCC poison strtok    /* str_cut */
#pragma GCC poison atoi      /* str_to_u64, str_to_i64 */
#pragma GCC poison atol      /* str_to_i64 */
#pragma GCC poison gmtime    /* gmtime_r */
#pragma GCC poison localtime /* localtime_r */
#pragma GCC poison rand      /* randombytes_buf in the shell; nothing in the core */
