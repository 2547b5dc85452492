#include <deque>

#include "sextant/data/batch_spec.h"
#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

struct WindowParams {
  int64_t size, shift, stride;
  bool drop_remainder;
};

class WindowIterator : public NodeIterator {
 public:
  WindowIterator(std::unique_ptr<NodeIterator> input, const WindowParams& params)
      : input_(std::move(input)), params_(params) {}

  bool Next(Element* element) override {
    if (!ended_) Fill();
    if (buffer_.empty()) return false;
    const int64_t reach = (params_.size - 1) * params_.stride + 1;
    if (params_.drop_remainder && static_cast<int64_t>(buffer_.size()) < reach) return false;
    window_.Reset(params_.size, std::move(*element));
    try {
      for (size_t i = 0; i < buffer_.size() && !window_.full(); i += params_.stride) {
        CopyTo(buffer_[i], window_.scratch());
        window_.Append(window_.scratch());
      }
    } catch (...) {  // the next call goes on with the window behind this one
      Shift();
      throw;
    }
    *element = window_.Take(window_.rows());
    Shift();
    return true;
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("ended", ended_);
    writer.PutInt("skip", skip_);
    writer.PutInt("window", static_cast<int64_t>(buffer_.size()));
    for (const Element& element : buffer_) writer.PutElement("element", element);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    ended_ = reader.GetInt("ended") != 0;
    skip_ = reader.GetInt("skip");
    for (int64_t i = reader.GetInt("window"); i > 0; --i)
      buffer_.push_back(reader.GetElement("element"));
    input_->Restore(reader);
  }

 private:
  // Reads what lies between windows, then all that this window reaches.
  void Fill() {
    const int64_t reach = (params_.size - 1) * params_.stride + 1;
    const CancellableLoop loop;
    while (skip_ > 0 || static_cast<int64_t>(buffer_.size()) < reach) {
      loop.Turn();
      Element element;
      if (!input_->Next(&element)) {
        ended_ = true;
        return;
      }
      if (skip_ > 0) {
        --skip_;
      } else {
        buffer_.push_back(std::move(element));
      }
    }
  }
  void Shift() {
    const int64_t kept = std::min<int64_t>(params_.shift, static_cast<int64_t>(buffer_.size()));
    buffer_.erase(buffer_.begin(), buffer_.begin() + kept);
    skip_ = params_.shift - kept;
  }

  const std::unique_ptr<NodeIterator> input_;
  const WindowParams params_;
  std::deque<Element> buffer_;  // from the first element of the next window on
  int64_t skip_ = 0;            // elements of the input before that one
  bool ended_ = false;
  RowBatch window_;
};

class WindowNode : public UnaryNode {
 public:
  WindowNode(std::shared_ptr<const DatasetNode> input, const WindowParams& params)
      : UnaryNode(std::move(input)), params_(params) {
    if (params.size < 1 || params.shift < 1 || params.stride < 1) {
      throw InvalidArgument("Window needs size, shift and stride of at least 1, not {}, {} and {}",
                            params.size, params.shift, params.stride);
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<WindowIterator>(input_->MakeIterator(context), params_);
  }
  std::string Describe() const override {
    return fmt::format("{}.Window({},{},{},{})", input_->Describe(), params_.size, params_.shift,
                       params_.stride, params_.drop_remainder);
  }
  ElementSpec Spec() const override {
    return BatchSpec(input_->Spec(), params_.drop_remainder ? params_.size : -1);
  }

 private:
  const WindowParams params_;
};

}  // namespace

Dataset Dataset::Window(int64_t size, int64_t shift, int64_t stride, bool drop_remainder) const {
  const WindowParams params{size, shift == -1 ? size : shift, stride, drop_remainder};
  return Dataset(std::make_shared<WindowNode>(node_, params));
}

}  // namespace sextant::data
