// What the registry test does not ask for, each with the reason.
#pragma once

#include <map>
#include <string>
#include <utility>

namespace sextant {

// Op → the test that covers it in place of a case of the tables.
inline const std::map<std::string, std::string> kOpsWithoutCase = {
};

// Op and element type that TensorFlow has a CPU kernel for and we do not → why.
inline const std::map<std::pair<std::string, std::string>, std::string> kTypesWithoutKernel = {
};

}  // namespace sextant
