#include <fmt/format.h>

#include <cmath>
#include <complex>

#include "sextant/tensor/number_text.h"
#include "sextant/tensor/tensor.h"

namespace sextant {
namespace {

constexpr int64_t kThreshold = 1000;  // larger tensors are truncated
constexpr int64_t kEdgeItems = 3;     // items at both ends of each dimension
constexpr size_t kLineWidth = 75;

std::string BytesText(const std::string& bytes) {
  const bool single = bytes.find('\'') != std::string::npos && bytes.find('"') == std::string::npos;
  const char quote = single ? '"' : '\'';
  std::string text = fmt::format("b{}", quote);
  for (const char c : bytes) {
    const auto code = static_cast<uint8_t>(c);
    if (c == quote || c == '\\') {
      text += {'\\', c};
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c == '\t') {
      text += "\\t";
    } else if (code < 0x20 || code >= 0x7f) {
      text += fmt::format("\\x{:02x}", code);
    } else {
      text += c;
    }
  }
  return text + quote;
}

// Which elements are shown, in order.
class Selection {
 public:
  explicit Selection(const Shape& shape)
      : shape_(shape), truncated_(shape.num_elements() > kThreshold) {
    if (shape.num_elements() > 0) Collect(0, 0);
  }
  // Whether the middle of dimension "axis" is left out.
  bool Cut(int axis) const { return truncated_ && shape_[axis] > 2 * kEdgeItems; }
  const std::vector<int64_t>& indices() const { return indices_; }

 private:
  void Collect(int axis, int64_t base) {
    if (axis == shape_.rank()) {
      indices_.push_back(base);
      return;
    }
    for (int64_t i = 0; i < shape_[axis]; ++i) {
      if (Cut(axis) && i == kEdgeItems) i = shape_[axis] - kEdgeItems;
      Collect(axis + 1, base * shape_[axis] + i);
    }
  }

  const Shape& shape_;
  const bool truncated_;
  std::vector<int64_t> indices_;
};

template <typename T>
std::vector<T> Pick(const Tensor& tensor, const Selection& selection) {
  const T* values = tensor.data<T>();
  std::vector<T> picked;
  for (const int64_t i : selection.indices()) picked.push_back(values[i]);
  return picked;
}

template <typename T, typename Format>
std::vector<std::string> Words(const Tensor& tensor, const Selection& selection, Format format) {
  std::vector<std::string> words;
  for (const int64_t i : selection.indices()) words.push_back(format(tensor.data<T>()[i]));
  return words;
}

template <typename T>
std::vector<std::string> RealWords(const Tensor& tensor, const Selection& selection) {
  if (tensor.rank() == 0) return {RealText(*tensor.data<T>())};
  return AlignedReals<T>(Pick<T>(tensor, selection), false);
}

template <typename T>
std::vector<std::string> IntegerWords(const Tensor& tensor, const Selection& selection) {
  auto words = Words<T>(tensor, selection, [](T value) { return std::to_string(value); });
  AlignRight(&words);
  return words;
}

// "2" for "2.0": the parts of a complex scalar do not show that they are not integers.
template <typename T>
std::string PartText(T value) {
  std::string text = RealText(value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

template <typename T>
std::vector<std::string> ComplexWords(const Tensor& tensor, const Selection& selection) {
  if (tensor.rank() == 0) {
    const std::complex<T> value = *tensor.data<std::complex<T>>();
    const std::string imaginary = PartText(value.imag()) + "j";
    if (value.real() == 0 && !std::signbit(value.real())) return {imaginary};
    const char* plus = imaginary.starts_with('-') ? "" : "+";
    return {fmt::format("({}{}{})", PartText(value.real()), plus, imaginary)};
  }
  std::vector<T> real, imaginary;
  for (const auto& value : Pick<std::complex<T>>(tensor, selection)) {
    real.push_back(value.real());
    imaginary.push_back(value.imag());
  }
  std::vector<std::string> words = AlignedReals<T>(real, false);
  std::vector<std::string> tails = AlignedReals<T>(imaginary, true);
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] += tails[i].insert(tails[i].find_last_not_of(' ') + 1, 1, 'j');
  }
  return words;
}

std::vector<std::string> BoolWords(const Tensor& tensor, const Selection& selection) {
  const char* yes = tensor.rank() == 0 ? "True" : " True";
  return Words<bool>(tensor, selection, [&](bool value) { return value ? yes : "False"; });
}

std::vector<std::string> AllWords(const Tensor& tensor, const Selection& selection) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return RealWords<float>(tensor, selection);
    case DType::kDouble:
      return RealWords<double>(tensor, selection);
    case DType::kHalf:
      return RealWords<Half>(tensor, selection);
    case DType::kBFloat16:
      return RealWords<BFloat16>(tensor, selection);
    case DType::kComplex64:
      return ComplexWords<float>(tensor, selection);
    case DType::kComplex128:
      return ComplexWords<double>(tensor, selection);
    case DType::kInt8:
      return IntegerWords<int8_t>(tensor, selection);
    case DType::kInt16:
      return IntegerWords<int16_t>(tensor, selection);
    case DType::kInt32:
      return IntegerWords<int32_t>(tensor, selection);
    case DType::kInt64:
      return IntegerWords<int64_t>(tensor, selection);
    case DType::kUInt8:
      return IntegerWords<uint8_t>(tensor, selection);
    case DType::kUInt16:
      return IntegerWords<uint16_t>(tensor, selection);
    case DType::kUInt32:
      return IntegerWords<uint32_t>(tensor, selection);
    case DType::kUInt64:
      return IntegerWords<uint64_t>(tensor, selection);
    case DType::kQInt8:
      return IntegerWords<int8_t>(tensor.BitCast(DType::kInt8), selection);
    case DType::kQUInt8:
      return IntegerWords<uint8_t>(tensor.BitCast(DType::kUInt8), selection);
    case DType::kQInt16:
      return IntegerWords<int16_t>(tensor.BitCast(DType::kInt16), selection);
    case DType::kQUInt16:
      return IntegerWords<uint16_t>(tensor.BitCast(DType::kUInt16), selection);
    case DType::kQInt32:
      return IntegerWords<int32_t>(tensor.BitCast(DType::kInt32), selection);
    case DType::kBool:
      return BoolWords(tensor, selection);
    case DType::kString:
      return Words<std::string>(tensor, selection, BytesText);
    case DType::kResource:
      return Words<ResourceHandle>(tensor, selection, [](const ResourceHandle& handle) {
        return fmt::format("<resource {}>", handle.name);
      });
    case DType::kVariant:
      return Words<Variant>(tensor, selection, [](const Variant& value) {
        return fmt::format("<variant {}>", value.type_name());
      });
    case DType::kInvalid:
      break;
  }
  throw Internal("{} cannot be printed", tensor.Describe());
}

// Lays words out in nested brackets.
class Layout {
 public:
  Layout(const Shape& shape, const Selection& selection, const std::vector<std::string>& words)
      : shape_(shape), selection_(selection), word_(words.begin()) {}

  // "room" is what is left of the line after the brackets that close around this dimension.
  std::string Block(int axis, size_t room) {
    if (axis == shape_.rank()) return *word_++;
    const bool innermost = axis + 1 == shape_.rank();
    const std::string indent(axis + 1, ' ');
    const int64_t shown = selection_.Cut(axis) ? 2 * kEdgeItems : shape_[axis];
    std::string text;
    size_t line = axis + 1;
    for (int64_t i = 0; i < shown; ++i) {
      if (i > 0) Separate(axis, indent, &text, &line);
      if (i == kEdgeItems && selection_.Cut(axis)) {
        Add("...", innermost, room, indent, &text, &line);
        Separate(axis, indent, &text, &line);
      }
      Add(Block(axis + 1, room - 1), innermost, room, indent, &text, &line);
    }
    return "[" + text + "]";
  }

 private:
  void Separate(int axis, const std::string& indent, std::string* text, size_t* line) {
    const int newlines = shape_.rank() - 1 - axis;
    if (newlines == 0) {
      *text += ' ';
      ++*line;
    } else {
      *text += std::string(newlines, '\n') + indent;
    }
  }
  // Starts a new line when a word of the innermost dimension does not fit on this one.
  void Add(const std::string& word, bool innermost, size_t room, const std::string& indent,
           std::string* text, size_t* line) {
    if (innermost && *line > indent.size() && *line + word.size() > room - 1) {
      text->resize(text->find_last_not_of(' ') + 1);
      *text += '\n' + indent;
      *line = indent.size();
    }
    *text += word;
    *line += word.size();
  }

  const Shape& shape_;
  const Selection& selection_;
  std::vector<std::string>::const_iterator word_;
};

}  // namespace

std::string Tensor::ToString() const {
  if (!valid()) return Describe();
  if (num_elements() == 0) return "[]";
  const Selection selection(shape_);
  const std::vector<std::string> words = AllWords(*this, selection);
  return Layout(shape_, selection, words).Block(0, kLineWidth);
}

}  // namespace sextant
