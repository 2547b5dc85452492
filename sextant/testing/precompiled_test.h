// Included by the build in front of every test's sources; see sextant_precompile.
#pragma once

#include <gtest/gtest.h>

#include "sextant/precompiled.h"
#include "sextant/runtime/session.h"
