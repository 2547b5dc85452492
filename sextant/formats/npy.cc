#include "sextant/formats/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/utf8.h"
#include "sextant/tensor/float16.h"

namespace sextant {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kHeaderAlignment = 64;
constexpr size_t kMaxDigits = 21;  // room for the first size to grow, as NumPy leaves it

// Element types by kind and size, as in "<f4".
struct NumberType {
  char kind;
  size_t size;
  DType dtype;
};
constexpr NumberType kNumberTypes[] = {
    {'b', 1, DType::kBool},      {'i', 1, DType::kInt8},       {'i', 2, DType::kInt16},
    {'i', 4, DType::kInt32},     {'i', 8, DType::kInt64},      {'u', 1, DType::kUInt8},
    {'u', 2, DType::kUInt16},    {'u', 4, DType::kUInt32},     {'u', 8, DType::kUInt64},
    {'f', 2, DType::kHalf},      {'f', 4, DType::kFloat},      {'f', 8, DType::kDouble},
    {'c', 8, DType::kComplex64}, {'c', 16, DType::kComplex128}};

struct NpyHeader {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }".
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view what) : text_(text), what_(what) {}

  NpyHeader Parse() {
    NpyHeader header;
    bool has_descr = false, has_order = false, has_shape = false;
    Expect('{');
    while (!Accept('}')) {
      const std::string key = String();
      Expect(':');
      if (key == "descr") {
        if (Peek() != '\'' && Peek() != '"') {
          throw InvalidArgument("{}: arrays of records cannot be read", what_);
        }
        header.descr = String();
        has_descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = Bool();
        has_order = true;
      } else if (key == "shape") {
        header.shape = Sizes();
        has_shape = true;
      } else {
        Fail();
      }
      if (!Accept(',') && Peek() != '}') Fail();
    }
    if (!has_descr || !has_order || !has_shape) Fail();
    return header;
  }

 private:
  [[noreturn]] void Fail() const {
    throw DataLoss("{}: the header of the array is damaged", what_);
  }
  char Peek() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_.front();
  }
  bool Accept(char c) {
    if (Peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) Fail();
  }
  std::string String() {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') Fail();
    const size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) Fail();
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }
  bool Bool() {
    Peek();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(std::strlen(word));
      return value;
    }
    Fail();
  }
  std::vector<int64_t> Sizes() {
    std::vector<int64_t> sizes;
    Expect('(');
    while (!Accept(')')) {
      Peek();
      int64_t size = -1;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) Fail();
      text_.remove_prefix(end - text_.data());
      Accept('L');  // as Python 2 wrote them
      sizes.push_back(size);
      if (!Accept(',') && Peek() != ')') Fail();
    }
    return sizes;
  }

  std::string_view text_;
  const std::string_view what_;
};

// The header's text and what follows it.
std::pair<std::string_view, std::string_view> Split(std::string_view bytes, std::string_view what) {
  if (!bytes.starts_with(kNpyMagic) || bytes.size() < kNpyMagic.size() + 4) {
    throw InvalidArgument("{} is not an .npy file", what);
  }
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const int version = byte(6);
  if (version < 1 || version > 3) {
    throw InvalidArgument("{}: version {} of .npy is not known", what, version);
  }
  const size_t begin = version == 1 ? 10 : 12;
  size_t length = byte(8) | size_t{byte(9)} << 8;
  if (version > 1) {
    if (bytes.size() < begin) throw DataLoss("{} is cut off", what);
    length |= size_t{byte(10)} << 16 | size_t{byte(11)} << 24;
  }
  if (bytes.size() - begin < length) throw DataLoss("{} is cut off", what);
  return {bytes.substr(begin, length), bytes.substr(begin + length)};
}

// Element i of a row-major array is element ColumnMajor(i) of the column-major one.
class ColumnMajor {
 public:
  explicit ColumnMajor(const Shape& shape) : shape_(shape) {}
  int64_t operator()(int64_t i) const {
    int64_t stride = shape_.num_elements(), result = 0;
    for (int axis = shape_.rank() - 1; axis >= 0; --axis) {
      stride /= shape_[axis];
      result += i % shape_[axis] * stride;
      i /= shape_[axis];
    }
    return result;
  }

 private:
  const Shape& shape_;
};

std::string BytesElement(std::string_view field) {
  return std::string(field.substr(0, field.find_last_not_of('\0') + 1));
}

std::string UnicodeElement(std::string_view field, bool big_endian, std::string_view what) {
  std::string text;
  for (size_t i = 0; i + 4 <= field.size(); i += 4) {
    uint32_t c = 0;
    for (int k = 0; k < 4; ++k) {
      c |= uint32_t{static_cast<uint8_t>(field[i + (big_endian ? 3 - k : k)])} << (8 * k);
    }
    if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000)) {
      throw DataLoss("{}: {:#x} is not a character", what, c);
    }
    AppendUtf8(c, &text);
  }
  return BytesElement(text);
}

void SwapBytes(char* data, size_t count, size_t size) {
  for (size_t i = 0; i < count; ++i) std::reverse(data + i * size, data + (i + 1) * size);
}

Tensor WidenBFloat16(const Tensor& tensor) {
  Tensor wide(DType::kFloat, tensor.shape());
  std::transform(tensor.data<BFloat16>(), tensor.data<BFloat16>() + tensor.num_elements(),
                 wide.data<float>(), [](BFloat16 value) { return static_cast<float>(value); });
  return wide;
}

std::string HeaderBytes(const std::string& descr, const Shape& shape) {
  std::string sizes;
  for (int i = 0; i < shape.rank(); ++i) sizes += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  if (shape.rank() == 1) sizes += ',';
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, sizes);
  if (shape.rank() > 0) text.append(kMaxDigits - std::to_string(shape[0]).size(), ' ');
  const size_t unpadded = kNpyMagic.size() + 4 + text.size() + 1;
  text.append((kHeaderAlignment - unpadded % kHeaderAlignment) % kHeaderAlignment, ' ');
  text += '\n';
  std::string bytes(kNpyMagic);
  bytes += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return bytes + text;
}

}  // namespace

Tensor ParseNpy(std::string_view bytes, std::string_view what) {
  const auto parts = Split(bytes, what);
  const NpyHeader header = HeaderParser(parts.first, what).Parse();
  const std::string_view data = parts.second;
  const std::string& descr = header.descr;
  const auto unsupported = [&] {
    return InvalidArgument(
        "{}: arrays of type '{}' cannot be read{}", what, descr,
        descr.find('O') != std::string::npos ? "; save strings with a dtype of 'S' or 'U'" : "");
  };
  if (descr.size() < 3) throw unsupported();
  size_t size = 0;
  const auto [end, error] = std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
  if (error != std::errc() || end != descr.data() + descr.size() || size > size_t{1} << 28) {
    throw unsupported();
  }
  const char kind = descr[1];
  const bool big_endian = descr[0] == '>';
  const bool text = kind == 'S' || kind == 'U' || kind == 'a';
  const size_t element = kind == 'U' ? size * 4 : size;

  size_t count = 1;
  for (const int64_t n : header.shape) {
    if (n > 0 && count > (size_t{1} << 40) / static_cast<size_t>(n)) {
      throw DataLoss("{}: the array is larger than the file", what);
    }
    count *= static_cast<size_t>(n);
  }
  // Elements of no bytes would make an array of any size from an empty file.
  if (count * std::max<size_t>(element, 1) > data.size() + (element == 0 ? 1 << 20 : 0)) {
    throw DataLoss("{}: {} bytes of {} are missing", what, count * element - data.size(),
                   count * element);
  }
  const Shape shape(header.shape);
  const ColumnMajor column_major(shape);
  const auto source = [&](int64_t i) {
    return data.substr((header.fortran_order ? column_major(i) : i) * element, element);
  };
  if (text) {
    Tensor tensor(DType::kString, shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      tensor.data<std::string>()[i] =
          kind == 'U' ? UnicodeElement(source(i), big_endian, what) : BytesElement(source(i));
    }
    return tensor;
  }
  const auto* type = std::find_if(std::begin(kNumberTypes), std::end(kNumberTypes),
                                  [&](const auto& t) { return t.kind == kind && t.size == size; });
  if (type == std::end(kNumberTypes)) throw unsupported();
  Tensor tensor(type->dtype, shape);
  char* out = static_cast<char*>(tensor.raw_data());
  if (header.fortran_order && shape.rank() > 1) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      std::memcpy(out + i * element, source(i).data(), element);
    }
  } else if (count > 0) {
    std::memcpy(out, data.data(), count * element);
  }
  if (type->dtype == DType::kBool) {
    for (size_t i = 0; i < count; ++i) out[i] = out[i] != 0;
  }
  if (big_endian) {
    const size_t part = kind == 'c' ? element / 2 : element;
    SwapBytes(out, count * element / part, part);
  }
  return tensor;
}

std::string NpyBytes(const Tensor& tensor) {
  if (tensor.dtype() == DType::kBFloat16) return NpyBytes(WidenBFloat16(tensor));
  if (tensor.dtype() == DType::kString) {
    size_t longest = 1;
    for (const std::string& s : tensor.flat<std::string>()) longest = std::max(longest, s.size());
    std::string bytes = HeaderBytes(fmt::format("|S{}", longest), tensor.shape());
    for (const std::string& s : tensor.flat<std::string>()) {
      bytes += s;
      bytes.append(longest - s.size(), '\0');
    }
    return bytes;
  }
  for (const NumberType& type : kNumberTypes) {
    if (type.dtype != tensor.dtype()) continue;
    std::string bytes = HeaderBytes(
        fmt::format("{}{}{}", type.size == 1 ? '|' : '<', type.kind, type.size), tensor.shape());
    return bytes.append(static_cast<const char*>(tensor.raw_data()), tensor.bytes());
  }
  throw InvalidArgument("a tensor of {} has no .npy form", DTypeName(tensor.dtype()));
}

Tensor ReadNpy(const std::string& path) {
  return ParseNpy(FileSystem::ForPath(path).ReadFile(path), path);
}

void WriteNpy(const std::string& path, const Tensor& tensor) {
  FileSystem::ForPath(path).WriteFileAtomically(path, NpyBytes(tensor));
}

}  // namespace sextant
