#include "sextant/base/error.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/file_patterns.h"
#include "sextant/data/sources.h"
#include "sextant/data/state.h"

namespace sextant::data {
namespace {

class FilesIterator final : public NodeIterator {
 public:
  explicit FilesIterator(std::vector<std::string> files) : files_(std::move(files)) {}

  bool Next(Element* element) override {
    if (next_ == files_.size()) return false;
    *element = {{"file", Tensor(files_[next_++])}};
    return true;
  }
  // The list itself is saved: files that come or go do not change an iteration that has begun.
  void Save(StateWriter& writer) override {
    writer.PutInt("next", static_cast<int64_t>(next_));
    writer.PutTensor("files", Tensor::FromVector(files_));
  }
  void Restore(StateReader& reader) override {
    const auto next = static_cast<uint64_t>(reader.GetInt("next"));
    const Tensor files = reader.GetTensor("files");
    if (files.dtype() != DType::kString || next > static_cast<uint64_t>(files.num_elements())) {
      throw DataLoss("Files: the saved position is not a list of files");
    }
    files_.assign(files.flat<std::string>().begin(), files.flat<std::string>().end());
    next_ = next;
  }

 private:
  std::vector<std::string> files_;
  size_t next_ = 0;
};

class FilesNode final : public DatasetNode {
 public:
  explicit FilesNode(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext&) const override {
    return std::make_unique<FilesIterator>(ExpandPatterns(patterns_));
  }
  std::string Describe() const override {
    return fmt::format("Files([{}])", JoinPatterns(patterns_));
  }
  ElementSpec Spec() const override { return {{"file", DType::kString, Shape()}}; }

 private:
  const std::vector<std::string> patterns_;
};

}  // namespace

Dataset Files(const std::vector<std::string>& patterns) {
  return Dataset(std::make_shared<FilesNode>(patterns));
}

}  // namespace sextant::data
