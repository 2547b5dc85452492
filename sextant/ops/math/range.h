// Range, LinSpace: evenly spaced numbers.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// start, start + delta, ... up to but without limit
Output Range(Output start, Output limit, Output delta);
// "num" numbers from start to stop, both included
Output LinSpace(Output start, Output stop, Output num);

}  // namespace sextant

#pragma GCC visibility pop
