// Nested Python values of TensorFlow 2 functions as Python prints them.
#pragma once

#include <string>
#include <string_view>

namespace sextant::proto {
class StructuredValue;
class TensorSpecProto;
}  // namespace sextant::proto

namespace sextant::cli {

// repr(value), str(value) and type(value).__name__.
std::string PythonRepr(const proto::StructuredValue& value);
std::string PythonStr(const proto::StructuredValue& value);
std::string PythonTypeName(const proto::StructuredValue& value);
std::string PythonRepr(const proto::TensorSpecProto& spec);
// 'text', with the quotes and escapes Python chooses.
std::string PythonRepr(std::string_view text);

}  // namespace sextant::cli
