#include "sextant/base/error.h"
#include "sextant/data/block_reader.h"
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
    if (!reader.NextIs("next")) {
      throw FailedPrecondition(
          "Files: the saved position is of input that is shared out otherwise");
    }
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

// Some of the files, as others read the rest. What is done with a file is not seen here: all count
// as read when the iteration is at its end.
class SharedFilesIterator final : public NodeIterator {
 public:
  SharedFilesIterator(std::vector<std::string> files, const std::string& source,
                      const IterationContext& context)
      : files_(std::move(files)),
        blocks_(
            context, source, 0, [this](uint64_t) { return BlocksOf(files_, {}); },
            BlockReader::Held::kAllToEnd) {}

  bool Next(Element* element) override {
    if (!blocks_.Next()) return false;
    CheckBlockFile(blocks_.block(), files_);
    *element = {{"file", Tensor(files_[blocks_.block().file])}};
    return true;
  }
  void Save(StateWriter& writer) override { blocks_.Save(writer); }
  void Restore(StateReader& reader) override {
    if (!reader.NextIs("blocks_ended")) {
      throw FailedPrecondition(
          "Files: the saved position is of input that is shared out otherwise");
    }
    blocks_.Restore(reader);
  }

 private:
  const std::vector<std::string> files_;
  BlockReader blocks_;
};

class FilesNode final : public DatasetNode {
 public:
  explicit FilesNode(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    if (context.leases) {
      return std::make_unique<SharedFilesIterator>(ExpandPatterns(patterns_), Describe(), context);
    }
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
