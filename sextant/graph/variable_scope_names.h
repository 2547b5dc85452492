// Default names of variable scopes, counted as TensorFlow counts them: the first layer without a
// name of its own is "dense", the next "dense_1". A count lasts as long as the enclosing
// VariableScope is open, so that entering that scope again, to reuse its variables, gives the same
// names again.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

// "dense", or the first of "dense_1", "dense_2", … that no VariableScope opened inside the current
// one has had. Opening it is what counts.
std::string FreeVariableScopeName(std::string_view default_name);

}  // namespace sextant
