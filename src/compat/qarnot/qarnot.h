/* qarnot.h - the interface of Qarnot's Python SDK, for the server.
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "api/api.h"

extern const struct route_mount qarnot_mount;
