// What hostile clients and damaged files may do to a server: another client is answered meanwhile
// and afterwards, and what they took is given back.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <random>
#include <thread>

#include "sextant/base/file_system.h"
#include "sextant/base/resident_memory.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/net/gzip.h"
#include "sextant/serving/model_manager.h"
#include "sextant/serving/server.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/http_client.h"
#include "sextant/testing/sanitizers.h"

namespace sextant::serving {
namespace {

namespace fs = std::filesystem;

int OpenFiles() {
  int count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

class AttacksTest : public testing::Test {
 protected:
  AttacksTest() {
    ExportSmallModel(Path("m"), 1);
    server_ =
        std::make_unique<Server>(ServerOptions{.rest_port = 0,
                                               .rest_threads = 2,
                                               .models = {{.name = "m", .base_path = Path("m")}},
                                               .file_system_poll = std::chrono::milliseconds(10),
                                               .max_load_retries = 0});
    EXPECT_TRUE(server_->WaitUntilReady(std::chrono::seconds(30)));
  }
  std::string Path(const std::string& name) const { return JoinPath(directory_.path(), name); }
  HttpAnswer Attack(const std::string& body, const std::string& headers = "") const {
    return TestHttpClient(server_->rest_port()).Post("/v1/models/m:predict", body, headers);
  }
  void ExpectServes() const {
    EXPECT_EQ(Attack(R"({"instances": [1.0]})").body, R"({"predictions": [2.5]})");
  }

  const TemporaryDirectory directory_;
  std::unique_ptr<Server> server_;
};

TEST_F(AttacksTest, HostileBodies) {
  ExpectServes();
  const int files = OpenFiles();
  const int64_t resident = ResidentBytes();
  std::string keys = "{";
  for (int i = 0; i < 200000; ++i) keys += fmt::format("\"k{}\": 1, ", i);
  const std::vector<std::string> bodies = {
      std::string(1000000, '['),
      "{\"instances\": " + std::string(1000000, '['),
      "{\"instances\": [\"" + std::string(10000000, 'x') + "\"]}",
      keys,
      R"({"instances": [{"x": 1, "x": 2}]})",
      "{\"instances\": [\"\\ud800\"]}",
      R"({"instances": [1e999]})",
      R"({"instances": [[1, 2], [3]]})",
      R"({"instances": []})",
      R"({"instances": [[]]})",
      R"({"inputs": 1.0})",
      std::string("\0\0\0\0", 4),
      "\xff\xfe{}",
      "",
  };
  for (int round = 0; round < 3; ++round) {
    for (const std::string& body : bodies) {
      const HttpAnswer answer = Attack(body);
      EXPECT_EQ(answer.status, 400) << body.substr(0, 60);
      EXPECT_LT(answer.body.size(), 20000u);
    }
  }
  const std::string bomb = net::Gzip(std::string(100 << 20, '\0'));
  EXPECT_EQ(Attack(bomb, "Content-Encoding: gzip\r\n").status, 413);
  ExpectServes();
  // The server opens the base path with every poll, so a single count may be one too high.
  int open_files = OpenFiles();
  for (int i = 0; i < 200 && open_files > files; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    open_files = OpenFiles();
  }
  EXPECT_LE(open_files, files);
  if (!kSanitizerKeepsMemory) {
    EXPECT_LT(ResidentBytes() - resident, 200 << 20);
  }
}

TEST_F(AttacksTest, ManySlowClients) {
  std::vector<std::unique_ptr<TestHttpClient>> slow;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(std::make_unique<TestHttpClient>(server_->rest_port()));
    slow.back()->Send(i % 2 == 0 ? "POST /v1/models/m:predict HTT"
                                 : "POST /v1/models/m:predict HTTP/1.1\r\nHost: a\r\n"
                                   "Content-Length: 1000\r\n\r\n{");
  }
  for (int i = 0; i < 50; ++i) ExpectServes();
}

TEST_F(AttacksTest, ClientsThatGo) {
  for (int i = 0; i < 200; ++i) {
    TestHttpClient client(server_->rest_port());
    client.Send("POST /v1/models/m:predict HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n" +
                std::string(i % 2 == 0 ? R"({"instances": [1.0]})" : "{"));
  }
  ExpectServes();
}

TEST_F(AttacksTest, MoreConnectionsThanFiles) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(OpenFiles() + 20);
  std::vector<std::unique_ptr<TestHttpClient>> clients;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  try {
    for (int i = 0; i < 100; ++i) {
      clients.push_back(std::make_unique<TestHttpClient>(server_->rest_port()));
    }
  } catch (const Error&) {  // the test has no more files either
  }
  clients.clear();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  ExpectServes();
}

// A version whose files nobody may read, or that is no directory, is no version.
TEST_F(AttacksTest, VersionsThatCannotBeRead) {
  FileSystem::ForPath("/").WriteFileAtomically(Path("m/7"), "a file");
  fs::create_directory_symlink("/proc/self/fd", Path("m/8"));
  fs::create_directory_symlink(Path("m"), Path("m/9"));  // a circle
  fs::copy(Path("m/1"), Path("m/10"), fs::copy_options::recursive);
  fs::permissions(Path("m/10/saved_model.pb"), fs::perms::none);
  MakeOld(Path("m/10"));
  server_->models().PollNow();
  EXPECT_EQ(Attack(R"({"instances": [1.0]})").status, 200);
}

// Every file of a new version is damaged in turn: cut off, or a byte changed. It loads or ends with
// an error; the old version serves.
TEST_F(AttacksTest, DamagedModels) {
  std::mt19937 random(7);
  int64_t version = 2;
  for (const char* file :
       {"saved_model.pb", "variables/variables.index", "variables/variables.data-00000-of-00001"}) {
    for (int i = 0; i < 6; ++i, ++version) {
      const std::string staged = Path("staged");
      fs::copy(Path("m/1"), staged, fs::copy_options::recursive);
      const std::string path = JoinPath(staged, file);
      std::string bytes = FileSystem::ForPath(path).ReadFile(path);
      if (i == 0) {
        bytes.resize(bytes.size() / 2);
      } else {
        bytes[random() % bytes.size()] ^= static_cast<char>(1 + random() % 255);
      }
      FileSystem::ForPath(path).WriteFileAtomically(path, bytes);
      MakeOld(staged);
      fs::rename(staged, Path("m/" + std::to_string(version)));
      server_->models().PollNow();
      EXPECT_EQ(Attack(R"({"instances": [1.0]})").status, 200);
      fs::remove_all(Path("m/" + std::to_string(version)));
    }
  }
}

}  // namespace
}  // namespace sextant::serving
