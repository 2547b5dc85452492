// TensorArray: the resource behind TensorArrayV3 handles. Held by the handle tensor, so it lives
// for one run. Each element is written once and, unless told otherwise, read once. Thread-safe.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sextant/tensor/handle.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

struct TensorArrayTraits {
  DType dtype = DType::kInvalid;
  PartialShape element_shape;
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool identical_element_shapes = false;
  bool adds_up = false;  // gradient arrays: writing twice adds
};

// All functions throw INVALID_ARGUMENT, naming the array and the index, on what is not allowed, and
// once closed.
class TensorArray : public Resource {
 public:
  static constexpr const char* kTypeName = "TensorArray";
  TensorArray(std::string name, TensorArrayTraits traits, int64_t size);

  const std::string& name() const { return name_; }
  DType dtype() const { return traits_.dtype; }
  int64_t Size();
  PartialShape ElementShape();
  // Grows an array of dynamic size so that it has at least this many elements.
  void EnsureSize(int64_t size);

  void Write(int64_t index, const Tensor& value);
  // An element that was not written is zeros where its shape is known.
  Tensor Read(int64_t index);
  // The array that gradients named "source" go to: as long as this one, which cannot grow any more,
  // with elements of the same shapes, "prepend" in front.
  std::shared_ptr<TensorArray> Gradient(const std::string& source, const Shape& prepend);
  void Close();

 private:
  struct Element {
    Tensor value;
    std::optional<Shape> shape;  // of the value, or of the zeros that it is when nobody wrote it
    bool written = false, read = false, cleared = false;
  };
  void CheckOpen() const;
  void Resize(int64_t size);

  const std::string name_;
  std::mutex mutex_;
  TensorArrayTraits traits_;
  std::vector<Element> elements_;
  std::map<std::string, std::shared_ptr<TensorArray>> gradients_;
  bool closed_ = false;
};

}  // namespace sextant
