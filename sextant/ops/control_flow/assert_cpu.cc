#include <cstdio>

#include "sextant/device/kernel_registry.h"

namespace sextant {

namespace {

std::string Element(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kString:
      return tensor.data<std::string>()[i];
    case DType::kBool:
      return tensor.data<bool>()[i] ? "1" : "0";
    case DType::kResource:
      return "<resource>";
    case DType::kVariant:
      return "<variant>";
    default:
      break;
  }
  Tensor one(tensor.dtype(), Shape());
  const size_t size = DTypeSize(tensor.dtype());
  std::copy_n(static_cast<const char*>(tensor.raw_data()) + i * size, size,
              static_cast<char*>(one.raw_data()));
  if (IsInteger(tensor.dtype())) return one.ToString();
  if (IsFloating(tensor.dtype())) return fmt::format("{:.9g}", one.AsDouble());
  return one.ToString();
}

// "[1 2 3...]"; a scalar without brackets of its own.
std::string Summary(const Tensor& tensor, int64_t limit) {
  const int64_t count = tensor.num_elements();
  const int64_t shown = limit < 0 ? count : std::min(limit, count);
  std::string text = "[";
  for (int64_t i = 0; i < shown; ++i) {
    if (i > 0) text += ' ';
    text += Element(tensor, i);
  }
  if (shown < count) text += "...";
  return text + "]";
}

class AssertKernel : public Kernel {
 public:
  explicit AssertKernel(KernelInit& init) : summarize_(init.attr<int64_t>("summarize")) {}
  void Compute(KernelContext& ctx) override {
    if (ctx.input(0).rank() != 0) {
      throw InvalidArgument("the condition must be a scalar, got shape {}",
                            ctx.input(0).shape().ToString());
    }
    if (ctx.input(0).scalar<bool>()) return;
    std::string message = "assertion failed:";
    for (int i = 1; i < ctx.num_inputs(); ++i) message += " " + Summary(ctx.input(i), summarize_);
    throw InvalidArgument("{}", message);
  }

 private:
  const int64_t summarize_;
};

class PrintKernel : public Kernel {
 public:
  explicit PrintKernel(KernelInit& init)
      : message_(init.attr<std::string>("message")),
        first_n_(init.attr<int64_t>("first_n")),
        summarize_(init.attr<int64_t>("summarize")) {}
  void Compute(KernelContext& ctx) override {
    ctx.ForwardInput(0, 0);
    if (first_n_ >= 0 && printed_ >= first_n_) return;
    ++printed_;
    std::string line = message_;
    for (int i = 1; i < ctx.num_inputs(); ++i) line += Summary(ctx.input(i), summarize_);
    std::fprintf(stderr, "%s\n", line.c_str());
  }

 private:
  const std::string message_;
  const int64_t first_n_, summarize_;
  int64_t printed_ = 0;
};

}  // namespace

void RegisterAssertCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Assert").Make<AssertKernel>());
  registry.Add(KernelDef("Print").Alias(0, 0).Make<PrintKernel>());
}

}  // namespace sextant
