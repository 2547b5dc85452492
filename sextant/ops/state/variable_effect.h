// Why ops that change variables have no gradient.
#pragma once

namespace sextant {

inline constexpr char kChangesVariable[] = "changes a variable instead of giving a value";

}  // namespace sextant
