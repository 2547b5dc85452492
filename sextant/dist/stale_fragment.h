// Variants of the fragment of an asynchronous update that is too stale (staleness.h): without its
// changes, or with gradients that count less. Whatever the optimizer: only the graph is changed.
#pragma once

#include <memory>

#include "sextant/device/remote_task.h"

namespace sextant::dist {

// Whether running it changes a variable.
bool ChangesVariables(const Fragment& fragment);

// The same outputs, but no variable changes except counts (integers without dimensions, as the
// global step). None for a fragment whose tensors others fetch from here.
std::shared_ptr<const Fragment> WithoutUpdates(const Fragment& fragment);

// With one more feed behind the others, a float, which all gradients are multiplied by: those that
// optimizers' ops take ("grad", "delta") and the rows that are added to or subtracted from a table.
// None as above.
std::shared_ptr<const Fragment> WithScaledGradients(const Fragment& fragment);

}  // namespace sextant::dist
