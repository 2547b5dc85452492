#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

// With as few digits as any float (double) keeps, or where they do not tell it, with as many as
// tell every one.
template <typename T>
void AppendReal(T value, std::string* text) {
  constexpr bool kDouble = std::is_same_v<T, double>;
  const std::string shorter = fmt::format("{:.{}g}", value, kDouble ? 15 : 6);
  T back = 0;
  std::from_chars(shorter.data(), shorter.data() + shorter.size(), back);
  *text +=
      back == value || value != value ? shorter : fmt::format("{:.{}g}", value, kDouble ? 17 : 9);
}

// As in a C program: quotes, backslashes and control characters are escaped. Bytes above 127, of
// UTF-8 or not, stay as they are.
void AppendQuoted(const std::string& value, std::string* text) {
  *text += '"';
  for (const char c : value) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\' || c == '\'') {
      *text += {'\\', c};
    } else if (c == '\n' || c == '\r' || c == '\t') {
      *text += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      *text += fmt::format("\\{:03o}", byte);
    } else {
      *text += c;
    }
  }
  *text += '"';
}

template <typename T>
void AppendElement(const Tensor& tensor, int64_t i, std::string* text) {
  const T& value = tensor.data<T>()[i];
  if constexpr (std::is_same_v<T, std::string>) {
    AppendQuoted(value, text);
  } else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    AppendReal(value, text);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    AppendReal(static_cast<float>(value), text);
  } else {
    *text += std::to_string(value);
  }
}

using AppendFn = void (*)(const Tensor& tensor, int64_t i, std::string* text);
AppendFn ElementFn(DType dtype) {
  AppendFn found = [](const Tensor&, int64_t, std::string* text) { *text += '?'; };
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t, bool, std::string>([&]<typename T>() {
    if (DTypeOf<T> == dtype) found = AppendElement<T>;
  });
  return found;
}

// Nested brackets, at most "edge" items at both ends of each dimension.
class TensorText {
 public:
  TensorText(const Tensor& tensor, int64_t edge, std::string* text)
      : tensor_(tensor), edge_(edge), append_(ElementFn(tensor.dtype())), text_(text) {}

  void Append(int axis = 0, int64_t base = 0) {
    if (axis == tensor_.rank()) {
      if (edge_ == 0) {
        *text_ += "...";
      } else {
        append_(tensor_, base, text_);
      }
      return;
    }
    const int64_t size = tensor_.dim(axis);
    const bool cut = edge_ >= 0 && size > 2 * edge_;
    // Items of the last dimension stand on one line, those of others on lines of their own.
    const int deeper = tensor_.rank() - 1 - axis;
    const std::string between = deeper == 0 ? " "
                                            : std::string(static_cast<size_t>(deeper), '\n') +
                                                  std::string(static_cast<size_t>(axis) + 1, ' ');
    *text_ += '[';
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) *text_ += between;
      if (cut && i == edge_) {
        *text_ += edge_ == 0 ? between + "..." : "..." + between;
        if (edge_ == 0) break;
        i = size - edge_;
      }
      Append(axis + 1, base * size + i);
    }
    *text_ += ']';
  }

 private:
  const Tensor& tensor_;
  const int64_t edge_;
  const AppendFn append_;
  std::string* const text_;
};

class StringFormatKernel : public Kernel {
 public:
  explicit StringFormatKernel(KernelInit& init) : summarize_(init.attr<int64_t>("summarize")) {
    const auto& placeholder = init.attr<std::string>("placeholder");
    if (placeholder.empty()) throw InvalidArgument("the placeholder is empty");
    std::string_view rest = init.attr<std::string>("template");
    for (size_t at; (at = rest.find(placeholder)) != std::string_view::npos;) {
      pieces_.emplace_back(rest.substr(0, at));
      rest.remove_prefix(at + placeholder.size());
    }
    pieces_.emplace_back(rest);
    if (static_cast<int>(pieces_.size()) - 1 != init.num_inputs()) {
      throw InvalidArgument("the template has {} placeholders for {} inputs", pieces_.size() - 1,
                            init.num_inputs());
    }
  }

  void Compute(KernelContext& ctx) override {
    std::string& out = *ctx.AllocateOutput(0, Shape()).data<std::string>();
    out = pieces_[0];
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      TensorText(ctx.input(i), summarize_, &out).Append();
      out += pieces_[i + 1];
    }
  }

 private:
  const int64_t summarize_;
  std::vector<std::string> pieces_;
};

}  // namespace

void RegisterStringFormatCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StringFormat").Make<StringFormatKernel>());
}

}  // namespace sextant
