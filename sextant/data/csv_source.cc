// CSV files as rows.
//
// A ByteWindow holds the file from the current position on. To read n rows it is cut: as many whole
// rows as there are, up to n, are found by their line ends (csv_row_cutter.h); if there are fewer,
// the window grows and is cut again. The text of these rows goes to CsvParser in one piece, which
// converts it column by column straight into the rows of a batch, 256 rows at a time, so that text,
// separators and columns stay in the first-level cache.
//
//   a,1\nb,2\nc,"x      cut(4) -> 2 rows, 8 bytes; the third is not whole yet, so the window grows
//
// Invariants: the window begins at the start of a row, or of blank lines before one; line_ is the
// number of the line there. Rows are consumed only when all of them are parsed, or up to and with
// the first bad one: its error names file, line and column, and reading continues behind it. So
// the position to save is the file's number, its path, offset() and line().
#include <algorithm>
#include <optional>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/base/utf8.h"
#include "sextant/data/block_reader.h"
#include "sextant/data/byte_window.h"
#include "sextant/data/csv_row_cutter.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/file_patterns.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/parse_csv.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/sources.h"
#include "sextant/data/state.h"

namespace sextant::data {
namespace {

// Rows parsed at once: their text, their separators and their columns stay in the cache.
constexpr int64_t kRowsAtOnce = 256;
constexpr size_t kEnoughBytes = 4 << 20;

// An open file, its header read.
class CsvFile {
 public:
  CsvFile(const std::string& path, const CsvFileOptions& options, CsvParser& parser)
      : options_(options), window_(path, options.compression) {
    window_.Need(3);
    window_.Consume(window_.view().size() - WithoutByteOrderMark(window_.view()).size());
    if (!options.header) return;
    if (Cut(1) == 0) throw InvalidArgument("{}: is empty, but should have a header", path);
    try {
      parser.SetHeader(Header());
    } catch (const Error& e) {
      throw e.WithPrefix(path + ": ");
    }
    // The blank lines around it too.
    Skip(cut_.bytes);
  }

  // Cuts off up to "count" of the rows at the file's place, fewer of long ones, and returns how
  // many there are; 0 at the end.
  int64_t Cut(int64_t count) {
    for (;; window_.More() || (at_end_ = true)) {
      std::string_view view = window_.view();
      const bool to_end = at_end_ || end_ - offset() <= view.size();
      if (end_ - offset() < view.size()) view = view.substr(0, end_ - offset());
      cut_ = CutCsvRows(view, count, options_.delimiter, options_.quotes, to_end);
      const bool enough = cut_.rows > 0 && view.size() > kEnoughBytes;
      if (cut_.rows == count || to_end || enough) return cut_.rows;
    }
  }
  // Goes on behind the rows that were cut off, without a look at them.
  void Pass() {
    window_.Consume(cut_.bytes);
    line_ += cut_.lines;
  }
  // Parses them and goes on behind them, or behind the first bad one.
  void Parse(CsvParser& parser, std::span<void* const> outs) {
    try {
      parser.Parse(window_.view().substr(0, cut_.bytes), cut_, line_, outs);
    } catch (const Error& e) {
      Skip(parser.bad_row_end());
      throw e.WithPrefix(window_.path() + ": ");
    }
    Pass();
  }

  // Where a row begins that is not read any more. REQUIRES: not behind it.
  void set_end(uint64_t end) { end_ = end; }
  uint64_t offset() const { return window_.offset(); }
  int64_t line() const { return line_; }
  void Seek(uint64_t offset, int64_t line) {
    window_.Seek(offset);
    line_ = line;
    at_end_ = false;
  }

 private:
  std::string_view Header() const {
    std::string_view text = window_.view().substr(0, cut_.bytes);
    text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
    return text.substr(0, CsvRowEnd(text, options_.delimiter, options_.quotes));
  }
  void Skip(size_t bytes) {
    line_ += std::ranges::count(window_.view().substr(0, bytes), '\n');
    window_.Consume(bytes);
  }

  const CsvFileOptions& options_;
  ByteWindow window_;
  bool at_end_ = false;  // nothing follows the window
  uint64_t end_ = InputBlock::kFileEnd;
  int64_t line_ = 1;  // of the window's first byte
  CutRows cut_;
};

struct CsvParams {
  std::vector<std::string> patterns;
  CsvFileOptions options;
  RowFormat format;
};

class CsvIterator final : public NodeIterator {
 public:
  CsvIterator(const CsvParams& params, const std::string& source, const IterationContext& context)
      : params_(params),
        cancellation_(context.cancellation),
        files_(ExpandPatterns(params_.patterns)),
        parser_(params_.options),
        outs_(params_.format.fields.size()) {
    if (!context.leases) return;
    blocks_.emplace(context, source, BytesOf(files_),
                    [this](uint64_t bytes) { return Blocks(bytes); });
    index_ = files_.size();
  }

  bool Next(Element* element) override {
    cancellation_->ThrowIfCancelled();
    if (Cut(1) == 0) return false;
    element->fields().resize(params_.format.fields.size());
    for (size_t c = 0; c < params_.format.fields.size(); ++c) {
      auto& [name, tensor] = element->fields()[c];
      name = params_.format.fields[c].name;
      MakeOwn(&tensor, params_.format.fields[c].dtype, Shape());
      outs_[c] = tensor.raw_data();
    }
    file_->Parse(parser_, outs_);
    return true;
  }
  void NextRows(RowBatch& batch) override {
    cancellation_->ThrowIfCancelled();
    if (batch.capacity() > RowBatch::kMostRowsAtOnce || !batch.Prepare(params_.format.fields)) {
      return NodeIterator::NextRows(batch);
    }
    while (!batch.full()) {
      cancellation_->ThrowIfCancelled();
      const int64_t rows = Cut(std::min(batch.capacity() - batch.rows(), kRowsAtOnce));
      if (rows == 0) return;
      for (size_t c = 0; c < outs_.size(); ++c) {
        outs_[c] = batch.raw_row(static_cast<int>(c), batch.rows());
      }
      try {
        file_->Parse(parser_, outs_);
      } catch (const Error&) {
        batch.AddRows(parser_.bad_row());
        throw;
      }
      batch.AddRows(rows);
    }
  }

  void Save(StateWriter& writer) override {
    if (blocks_) blocks_->Save(writer);
    writer.PutInt("file", static_cast<int64_t>(index_));
    writer.PutBytes("path", index_ < files_.size() ? files_[index_] : "");
    writer.PutInt("offset", file_ ? static_cast<int64_t>(file_->offset()) : -1);
    writer.PutInt("line", file_ ? file_->line() : 0);
  }
  void Restore(StateReader& reader) override {
    if (blocks_.has_value() != reader.NextIs("blocks_ended")) {
      throw FailedPrecondition("Csv: the saved position is of input that is shared out otherwise");
    }
    if (blocks_) blocks_->Restore(reader);
    const auto index = static_cast<uint64_t>(reader.GetInt("file"));
    const std::string path = reader.GetBytes("path");
    const int64_t offset = reader.GetInt("offset"), line = reader.GetInt("line");
    if (index > files_.size() || (index < files_.size() && files_[index] != path)) {
      throw FailedPrecondition(
          "Csv: the saved position is in file {}, {}, which the files found now do not have there",
          index, path);
    }
    index_ = index;
    if (index_ == files_.size() || offset < 0) return;
    Open();
    file_->Seek(static_cast<uint64_t>(offset), line);
    if (blocks_) file_->set_end(blocks_->block().end);
  }

 private:
  // Cuts off up to "count" rows of the first file that has any; 0 at the end of all.
  int64_t Cut(int64_t count) {
    while (blocks_) {
      if (index_ < files_.size()) {
        if (const int64_t rows = file_->Cut(count); rows > 0) return rows;
      }
      if (!EnterNextBlock()) return 0;
    }
    for (; index_ < files_.size(); ++index_, file_.reset()) {
      if (!file_) Open();
      if (const int64_t rows = file_->Cut(count); rows > 0) return rows;
    }
    return 0;
  }
  void Open() try {
    file_.emplace(files_[index_], params_.options, parser_);
  } catch (const Error&) {
    index_ = blocks_ ? files_.size() : index_ + 1;
    throw;
  }
  bool EnterNextBlock() {
    index_ = files_.size();
    if (!blocks_->Next()) return false;
    const InputBlock& block = blocks_->block();
    CheckBlockFile(block, files_);
    index_ = block.file;
    Open();
    if (block.begin != InputBlock::kFileStart) file_->Seek(block.begin, block.line);
    file_->set_end(block.end);
    return true;
  }
  // Rows may hold line ends inside quotes: they are found from the start of a file on.
  std::vector<InputBlock> Blocks(uint64_t bytes) const {
    constexpr int64_t kRowsOfCut = 16;
    return BlocksOf(files_, [&](const std::string& path) {
      std::vector<std::pair<uint64_t, int64_t>> starts;
      if (params_.options.compression != Compression::kNone) return starts;
      CsvParser parser(params_.options);
      CsvFile file(path, params_.options, parser);
      for (starts.emplace_back(file.offset(), file.line()); file.Cut(kRowsOfCut) > 0;) {
        if (file.offset() - starts.back().first >= bytes) {
          starts.emplace_back(file.offset(), file.line());
        }
        file.Pass();
      }
      return starts;
    });
  }

  const CsvParams& params_;
  const std::shared_ptr<CancellationToken> cancellation_;
  const std::vector<std::string> files_;
  CsvParser parser_;
  std::optional<BlockReader> blocks_;  // where the input is shared out
  size_t index_ = 0;
  std::optional<CsvFile> file_;
  std::vector<void*> outs_;
};

class CsvNode final : public DatasetNode {
 public:
  explicit CsvNode(CsvParams params) : params_(std::move(params)) {}

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<CsvIterator>(params_, context.leases ? Describe() : std::string(),
                                         context);
  }
  std::string Describe() const override {
    std::string columns;
    for (const RowField& field : params_.format.fields) {
      columns += fmt::format(",{}:{}", field.name, DTypeName(field.dtype));
    }
    return fmt::format("Csv([{}]{})", JoinPatterns(params_.patterns), columns);
  }
  const RowFormat* row_format() const override { return &params_.format; }
  ElementSpec Spec() const override {
    ElementSpec spec;
    for (const RowField& field : params_.format.fields) {
      spec.push_back({field.name, field.dtype, field.shape});
    }
    return spec;
  }

 private:
  const CsvParams params_;
};

}  // namespace

Dataset Csv(const std::vector<std::string>& files, const CsvFileOptions& options) {
  CsvParams params{files, options, {}};
  const CsvParser checked(options);
  for (const CsvColumn& column : checked.columns()) {
    params.format.fields.push_back({column.name, column.dtype, Shape()});
  }
  return Dataset(std::make_shared<CsvNode>(std::move(params)));
}

}  // namespace sextant::data
