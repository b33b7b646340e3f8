/* page_scripts.h - what the tasks of `weir notebook` and `weir tensorboard` run: the bytes of jupyter.sh and
 * tensorboard.sh. The web interface starts the same scripts. SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>

extern const size_t script_jupyter_len;
extern const unsigned char script_jupyter[];
extern const size_t script_tensorboard_len;
extern const unsigned char script_tensorboard[];
