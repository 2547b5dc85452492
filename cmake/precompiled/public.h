// Included by the build in front of the sources of programs; see sextant_precompile.
#pragma once

#include "sextant/sextant.h"
