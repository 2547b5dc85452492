// The token of the current CancellationScope, for libraries beside libsextant: they do not see its
// thread-local variables.
#pragma once

#include "sextant/base/cancellation.h"
#include "sextant/base/export.h"

namespace sextant {

// Null where no scope is open on the thread.
SEXTANT_API CancellationToken* CurrentCancellation();

}  // namespace sextant
