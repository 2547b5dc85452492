// Included by the build in front of every test's sources; see sextant_precompile.
#pragma once

#include <gtest/gtest.h>

#include "cmake/precompiled/library.h"
#include "sextant/base/file_system.h"
#include "sextant/runtime/session.h"
