// Saving and restoring float variables through a Session, beside plain writing and reading of the
// same bytes, in turn.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "benchmarks/report.h"
#include "benchmarks/timing.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/ops/checkpoint/save_restore.h"
#include "sextant/sextant.h"

namespace sextant::bench {
namespace {

constexpr int64_t kColumns = 1000;
constexpr int64_t kPiece = int64_t{8} << 20;

// Plain files, without our own layers between. Writing is as fast as a program can have it without
// knowing the disk: the blocks are taken at once, then whole pages are written in large pieces.
class PlainFile {
 public:
  PlainFile(const std::string& path, int flags) : fd_(open(path.c_str(), flags, 0666)) {
    if (fd_ < 0) throw FailedPrecondition("{}: cannot be opened", path);
  }
  ~PlainFile() { close(fd_); }
  // A hint: where the file system has no such thing, writing works without.
  void Reserve(int64_t bytes) const {
    static_cast<void>(fallocate(fd_, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)));
  }
  void Write(std::string_view data) const {
    while (!data.empty()) {
      const ssize_t done = write(fd_, data.data(), data.size());
      if (done < 0) throw ResourceExhausted("the disk is full");
      data.remove_prefix(done);
    }
  }
  void Sync() const { fsync(fd_); }
  void ReadAll(std::span<char> buffer) const {
    while (read(fd_, buffer.data(), buffer.size()) > 0) {
    }
  }

 private:
  const int fd_;
};

}  // namespace

void MeasureCheckpoint(const Options& options, const CheckpointOptions& checkpoint) {
  const int64_t rows =
      int64_t{checkpoint.megabytes} * 1'000'000 / 4 / checkpoint.variables / kColumns;
  const double megabytes = static_cast<double>(rows * kColumns * 4 * checkpoint.variables) / 1e6;
  Graph graph;
  GraphScope use(graph);
  std::vector<std::string> names;
  std::vector<Variable> variables;
  std::vector<Output> values;
  for (int i = 0; i < checkpoint.variables; ++i) {
    names.push_back(fmt::format("v{}", i));
    variables.emplace_back(names.back(), RandomUniform({rows, kColumns}, {.seed = i + 1}));
    values.push_back(variables.back());
  }
  const TemporaryDirectory folder(checkpoint.folder);
  const Output prefix = Const(Tensor(folder.path() + "/model.ckpt"));
  const Output keys = Const(Tensor::FromVector(names));
  const Output whole = Const(Tensor::FromVector(std::vector<std::string>(names.size())));
  const Operation save = SaveV2(prefix, keys, whole, values);
  std::vector<Operation> assigns;
  const std::vector<Output> restored =
      RestoreV2(prefix, keys, whole, std::vector<DType>(names.size(), DType::kFloat));
  for (size_t i = 0; i < variables.size(); ++i) {
    assigns.push_back(AssignVariable(variables[i].handle(), restored[i]));
  }
  const Operation restore = Group(assigns);

  Session session(graph, {.threads = options.threads});
  session.Run(GlobalVariablesInitializer());
  // At the start of a page, as a tensor is: some processors copy to a few bytes past one, where
  // `new` puts large blocks, at a fifth of their speed.
  Tensor memory(DType::kInt8, {kPiece});
  const std::span<char> block(static_cast<char*>(memory.raw_data()), kPiece);
  for (size_t i = 0; i < block.size(); ++i) block[i] = static_cast<char>(i * i >> 7);
  const auto blocks = static_cast<int64_t>(megabytes * 1e6 / kPiece);
  const std::string raw = folder.path() + "/raw";
  const double scale = static_cast<double>(blocks * kPiece) / 1e6;

  const auto write_plain = [&] {
    const PlainFile file(raw, O_WRONLY | O_CREAT | O_TRUNC);
    file.Reserve(blocks * kPiece);
    for (int64_t i = 0; i < blocks; ++i) file.Write({block.data(), block.size()});
    file.Sync();
  };
  // Warm-up: the first write also allocates the pages of the file cache.
  write_plain();
  std::filesystem::remove(raw);

  std::vector<double> write, read, saved, loaded, ratio;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    write.push_back(scale / Seconds(write_plain));
    read.push_back(scale / Seconds([&] { PlainFile(raw, O_RDONLY).ReadAll(block); }));
    std::filesystem::remove(raw);
    saved.push_back(megabytes / Seconds([&] { session.Run(save); }));
    loaded.push_back(megabytes / Seconds([&] { session.Run(restore); }));
    ratio.push_back(saved.back() / write.back());
  }
  const auto emit = [&](const char* mode, const std::vector<double>& rates,
                        const char* metric = "MB/s") {
    Emit("checkpoint", metric, rates, false,
         {{"mode", Quote(mode)},
          {"megabytes", fmt::format("{:.0f}", megabytes)},
          {"variables", std::to_string(checkpoint.variables)},
          {"threads", std::to_string(options.threads)}});
  };
  emit("raw write + fsync", write);
  emit("raw read", read);
  emit("save", saved);
  emit("restore", loaded);
  emit("save against raw write + fsync", ratio, "ratio");
}

}  // namespace sextant::bench
