#include "sextant/base/temporary_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"

namespace sextant {
namespace {

using Strings = std::vector<std::string>;

// The process number of a child that has ended.
pid_t DeadProcess() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

// A temporary name of another process of this space.
std::string NameOf(const std::string& path, pid_t process) {
  std::string name = TemporaryName(path);
  const std::string own = fmt::format("-{}-", getpid());
  return name.replace(name.rfind(own), own.size(), fmt::format("-{}-", process));
}

TEST(TemporaryFileTest, NamesDiffer) {
  EXPECT_NE(TemporaryName("d/file"), TemporaryName("d/file"));
  EXPECT_TRUE(TemporaryName("d/file").starts_with("d/file.tmp-"));
}

TEST(TemporaryFileTest, DeletesThoseOfDeadWritersAlone) {
  const TemporaryDirectory temporary;
  const std::string& directory = temporary.path();
  FileSystem& files = FileSystem::ForPath(directory);
  const std::string model = directory + "/model.ckpt-1.index";
  const std::string own = TemporaryName(model), parents = NameOf(model, getppid());
  const std::string dead = NameOf(model, DeadProcess());
  const std::string other = NameOf(directory + "/other", DeadProcess());
  const std::string elsewhere = model + ".tmp-0123456789abcdef-999999999-1";
  const std::string alike = model + ".tmp-0123456789abcdef-999999999-1x";
  for (const std::string& path : {model, own, parents, dead, other, elsewhere, alike}) {
    files.WriteFileAtomically(path, "");
  }
  DeleteStaleTemporaries(files, directory, "model.ckpt");
  EXPECT_FALSE(files.Exists(dead));
  for (const std::string& path : {model, own, parents, other, elsewhere, alike}) {
    EXPECT_TRUE(files.Exists(path)) << path;
  }
  // Another machine's, not written for two days.
  const timeval old = {time(nullptr) - 2 * 24 * 3600, 0};
  const timeval times[2] = {old, old};
  ASSERT_EQ(utimes(elsewhere.c_str(), times), 0);
  DeleteStaleTemporaries(files, directory, "model.ckpt");
  EXPECT_FALSE(files.Exists(elsewhere));
  EXPECT_TRUE(files.Exists(own));
  DeleteStaleTemporaries(files, directory, "model.ckpt");  // nothing to do, nothing to say
}

}  // namespace
}  // namespace sextant
