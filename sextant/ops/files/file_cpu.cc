#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

template <typename T>
const T& ScalarAt(KernelContext& ctx, int i, const char* name) {
  const Tensor& input = ctx.input(i);
  if (input.rank() != 0) {
    throw InvalidArgument("{} must be a scalar, got shape {}", name, input.shape().ToString());
  }
  return input.scalar<T>();
}

std::string& ScalarOutput(KernelContext& ctx) {
  return *ctx.AllocateOutput(0, Shape()).data<std::string>();
}

void ReadFileKernel(KernelContext& ctx) {
  const auto& path = ScalarAt<std::string>(ctx, 0, "filename");
  ScalarOutput(ctx) = FileSystem::ForPath(path).ReadFile(path);
}

void WriteFileKernel(KernelContext& ctx) {
  const auto& path = ScalarAt<std::string>(ctx, 0, "filename");
  const auto& contents = ScalarAt<std::string>(ctx, 1, "contents");
  FileSystem& files = FileSystem::ForPath(path);
  if (const std::string directory(DirectoryName(path)); !directory.empty()) {
    files.CreateDirectories(directory);
  }
  files.WriteFileAtomically(path, contents);
}

void MatchingFilesKernel(KernelContext& ctx) {
  const Tensor& patterns = ctx.input(0);
  if (patterns.rank() > 1) {
    throw InvalidArgument("patterns must be a scalar or a vector, got shape {}",
                          patterns.shape().ToString());
  }
  std::vector<std::string> names;
  for (const std::string& pattern : patterns.flat<std::string>()) {
    for (std::string& name : FileSystem::ForPath(pattern).Glob(pattern)) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  Tensor& out = ctx.AllocateOutput(0, {static_cast<int64_t>(names.size())});
  std::move(names.begin(), names.end(), out.data<std::string>());
}

void ShardedFilenameKernel(KernelContext& ctx) {
  const auto& basename = ScalarAt<std::string>(ctx, 0, "basename");
  const int32_t shard = ScalarAt<int32_t>(ctx, 1, "shard");
  const int32_t num_shards = ScalarAt<int32_t>(ctx, 2, "num_shards");
  ScalarOutput(ctx) = fmt::format("{}-{:05}-of-{:05}", basename, shard, num_shards);
}

void ShardedFilespecKernel(KernelContext& ctx) {
  const auto& basename = ScalarAt<std::string>(ctx, 0, "basename");
  ScalarOutput(ctx) =
      fmt::format("{}-\?\?\?\?\?-of-{:05}", basename, ScalarAt<int32_t>(ctx, 1, "num_shards"));
}

}  // namespace

void RegisterFileCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("ReadFile").Function(ReadFileKernel));
  registry.Add(KernelDef("WriteFile").Function(WriteFileKernel));
  registry.Add(KernelDef("MatchingFiles").Function(MatchingFilesKernel));
  registry.Add(KernelDef("ShardedFilename").Function(ShardedFilenameKernel));
  registry.Add(KernelDef("ShardedFilespec").Function(ShardedFilespecKernel));
}

}  // namespace sextant
