// Long options by any unambiguous prefix, as Python's argparse takes them ("--tag" for
// "--tag_set"); - and _ inside a name count as the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sextant::cli {

// The one of `names` ("--tag_set", ...) that "--tag" stands for: an exact match or else the only
// one that begins so; `given` itself when none does. Throws INVALID_ARGUMENT when several do.
std::string ExpandOption(std::string_view given, const std::vector<std::string>& names);

// Expands every argument of the form --name or --name=value, up to "--". Throws INVALID_ARGUMENT,
// with the name most like it, for a name that there is not, and
// for "--name=" without a value.
void ExpandOptions(std::vector<std::string>& arguments, const std::vector<std::string>& names);

}  // namespace sextant::cli
