#include "sextant/data/record_files.h"

#include <optional>

#include "sextant/base/cancellation.h"
#include "sextant/base/coding.h"
#include "sextant/base/error.h"
#include "sextant/data/block_reader.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/file_patterns.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/state.h"

namespace sextant::data {
namespace {

bool ParsePosition(std::string_view position, uint32_t* file, uint64_t* offset) {
  return GetFixed32(&position, file) && GetFixed64(&position, offset) && position.empty();
}

// A position in the records of all files.
class RecordCursor {
 public:
  RecordCursor(const RecordFilesParams& params, const std::string& source,
               const IterationContext& context)
      : params_(params), files_(ExpandPatterns(params.patterns)) {
    if (!context.leases) return;
    blocks_.emplace(context, source, BytesOf(files_),
                    [this](uint64_t bytes) { return Blocks(bytes); });
    index_ = files_.size();
  }

  bool Next(std::string_view* record) {
    if (blocks_) return NextOfBlocks(record);
    for (; index_ < files_.size(); ++index_, file_.reset()) {
      if (!ReadFrom(record)) continue;
      return true;
    }
    return false;
  }
  // Of the record last read.
  size_t file_index() const { return index_; }
  uint64_t offset() const { return offset_; }

  const std::vector<std::string>& files() const { return files_; }

  void Save(StateWriter& writer) const {
    if (blocks_) blocks_->Save(writer);
    writer.PutInt("file", static_cast<int64_t>(index_));
    writer.PutBytes("path", index_ < files_.size() ? files_[index_] : "");
    writer.PutInt("offset", static_cast<int64_t>(file_       ? file_->offset()
                                                 : again_at_ ? *again_at_
                                                             : -1));
  }
  void Restore(StateReader& reader) {
    if (blocks_.has_value() != reader.NextIs("blocks_ended")) {
      throw FailedPrecondition("{}: the saved position is of input that is shared out otherwise",
                               params_.kind);
    }
    if (blocks_) blocks_->Restore(reader);
    const auto index = static_cast<uint64_t>(reader.GetInt("file"));
    const std::string path = reader.GetBytes("path");
    const int64_t offset = reader.GetInt("offset");
    if (index > files_.size() || (index < files_.size() && files_[index] != path)) {
      throw FailedPrecondition(
          "{}: the saved position is in file {}, {}, which the files found now do not have there",
          params_.kind, index, path);
    }
    index_ = index;
    if (index_ == files_.size()) return;
    if (blocks_) end_ = blocks_->block().end;
    if (offset < 0) return;
    file_ = params_.open(files_[index_]);
    file_->Seek(static_cast<uint64_t>(offset));
  }

 private:
  bool ReadFrom(std::string_view* record) try {
    if (!file_) {
      file_ = params_.open(files_[index_]);
      if (again_at_) file_->Seek(*again_at_);
    }
    offset_ = file_->offset();
    if (offset_ >= end_) return false;
    again_at_ = offset_;
    const bool more = file_->Next(record);
    again_at_.reset();
    return more;
  } catch (const Error&) {
    // Nothing can be found behind damage in a file: reading goes on with the next one, or the next
    // block.
    index_ = blocks_ ? files_.size() : index_ + 1;
    file_.reset();
    again_at_.reset();
    throw;
  } catch (...) {
    file_.reset();  // out of memory, anywhere in a record, which is read again
    throw;
  }

  bool NextOfBlocks(std::string_view* record) {
    for (;;) {
      if (index_ < files_.size() && ReadFrom(record)) return true;
      const size_t before = index_;
      index_ = files_.size();
      if (!blocks_->Next()) return false;
      Enter(blocks_->block(), before);
    }
  }
  // `open` is the file that is open, if one is.
  void Enter(const InputBlock& block, size_t open) {
    CheckBlockFile(block, files_);
    again_at_.reset();
    if (block.begin == InputBlock::kFileStart || block.file != open) file_.reset();
    if (block.begin != InputBlock::kFileStart) {
      if (file_) {
        if (file_->offset() != block.begin) file_->Seek(block.begin);
      } else {
        again_at_ = block.begin;
      }
    }
    end_ = block.end;
    index_ = block.file;
  }
  std::vector<InputBlock> Blocks(uint64_t bytes) const {
    return BlocksOf(files_, [&](const std::string& path) {
      std::vector<std::pair<uint64_t, int64_t>> starts;
      if (!params_.cut) return starts;
      for (const uint64_t at : params_.cut(path, bytes)) starts.emplace_back(at, 0);
      return starts;
    });
  }

  const RecordFilesParams& params_;
  const std::vector<std::string> files_;
  std::optional<BlockReader> blocks_;  // where the input is shared out
  size_t index_ = 0;
  uint64_t end_ = InputBlock::kFileEnd;  // of the block
  std::unique_ptr<RecordFile> file_;
  uint64_t offset_ = 0;
  std::optional<uint64_t> again_at_;  // of a record that is not read yet
};

class RecordIterator final : public NodeIterator, private Seekable {
 public:
  RecordIterator(const RecordFilesParams& params, const RowFormat& format,
                 const std::string& source, const IterationContext& context)
      : params_(params),
        format_(format),
        cancellation_(context.cancellation),
        records_(params, source, context),
        opened_(records_.files().size()) {}

  bool Next(Element* element) override {
    cancellation_->ThrowIfCancelled();
    std::string_view record;
    if (!records_.Next(&record)) return false;
    Put(record, element);
    return true;
  }
  bool NextPending(PendingElement* pending) override {
    if (!NodeIterator::NextPending(pending)) return false;
    pending->origin = Position();
    return true;
  }
  void NextRows(RowBatch& batch) override {
    cancellation_->ThrowIfCancelled();
    if (batch.capacity() > RowBatch::kMostRowsAtOnce || !batch.Prepare(format_.fields)) {
      return NodeIterator::NextRows(batch);
    }
    for (std::string_view record; !batch.full() && records_.Next(&record); batch.AddRows(1)) {
      cancellation_->ThrowIfCancelled();
      batch.row_data<std::string>(0, batch.rows())->assign(record);
      if (batch.keeps_origins()) PutPosition(&batch.origin(batch.rows()));
    }
  }
  void Save(StateWriter& writer) override { records_.Save(writer); }
  void Restore(StateReader& reader) override { records_.Restore(reader); }
  Seekable* seekable() override { return params_.seekable ? this : nullptr; }

 private:
  std::string Position() const override {
    std::string position;
    PutPosition(&position);
    return position;
  }
  Element ElementAt(std::string_view position) override {
    uint32_t index;
    uint64_t offset;
    if (!ParsePosition(position, &index, &offset) || index >= opened_.size()) {
      throw DataLoss("{}: a saved position is not one of these files", params_.kind);
    }
    std::unique_ptr<RecordFile>& file = opened_[index];
    if (!file) file = params_.open(records_.files()[index]);
    if (file->offset() != offset) file->Seek(offset);
    std::string_view record;
    if (!file->Next(&record)) {
      throw DataLoss("{}: there is no {} at offset {} any more", records_.files()[index],
                     params_.field, offset);
    }
    Element element;
    Put(record, &element);
    return element;
  }
  // Short enough to need no memory of its own.
  void PutPosition(std::string* position) const {
    position->clear();
    PutFixed32(position, static_cast<uint32_t>(records_.file_index()));
    PutFixed64(position, records_.offset());
  }
  void Put(std::string_view record, Element* element) const {
    element->fields().resize(1);
    auto& [name, tensor] = element->fields()[0];
    name = params_.field;
    MakeOwn(&tensor, DType::kString, Shape());
    tensor.data<std::string>()->assign(record);
  }

  const RecordFilesParams& params_;
  const RowFormat& format_;
  const std::shared_ptr<CancellationToken> cancellation_;
  RecordCursor records_;
  std::vector<std::unique_ptr<RecordFile>> opened_;  // by ElementAt
};

class RecordFilesNode final : public DatasetNode {
 public:
  explicit RecordFilesNode(RecordFilesParams params)
      : params_(std::move(params)),
        format_{.fields = {{params_.field, DType::kString, Shape()}}, .origins = true} {}

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<RecordIterator>(params_, format_,
                                            context.leases ? Describe() : std::string(), context);
  }
  std::string Describe() const override {
    return fmt::format("{}([{}]{})", params_.kind, JoinPatterns(params_.patterns), params_.options);
  }
  ElementSpec Spec() const override { return {{params_.field, DType::kString, Shape()}}; }
  const RowFormat* row_format() const override { return &format_; }
  std::string DescribeOrigin(std::string_view origin) const override {
    const std::vector<std::string> files = ExpandPatterns(params_.patterns);
    uint32_t index;
    uint64_t offset;
    if (!ParsePosition(origin, &index, &offset) || index >= files.size()) return "";
    return fmt::format("{}, {} at offset {}: ", files[index], params_.field, offset);
  }

 private:
  const RecordFilesParams params_;
  const RowFormat format_;
};

}  // namespace

Dataset RecordFiles(RecordFilesParams params) {
  return Dataset(std::make_shared<RecordFilesNode>(std::move(params)));
}

}  // namespace sextant::data
