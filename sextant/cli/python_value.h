// Nested Python values of TensorFlow 2 functions as Python prints them.
#pragma once

#include <string>
#include <string_view>

namespace tensorflow {
class StructuredValue;
class TensorSpecProto;
}  // namespace tensorflow

namespace sextant::cli {

// repr(value), str(value) and type(value).__name__.
std::string PythonRepr(const tensorflow::StructuredValue& value);
std::string PythonStr(const tensorflow::StructuredValue& value);
std::string PythonTypeName(const tensorflow::StructuredValue& value);
std::string PythonRepr(const tensorflow::TensorSpecProto& spec);
// 'text', with the quotes and escapes Python chooses.
std::string PythonRepr(std::string_view text);

}  // namespace sextant::cli
