// For tests: an HTTP server on a port of its own that serves one file as /file.bin.
#pragma once

#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sextant::datasets {

struct TestHttpServerOptions {
  size_t cut_after = 0;  // the first answer ends after n bytes; 0: no
  bool ranges = true;    // answers to Range
};

class TestHttpServer {
 public:
  explicit TestHttpServer(std::string content, TestHttpServerOptions options = {});
  ~TestHttpServer();

  std::string url() const;
  // What the requests so far asked for by "Range:"; "" for those that did not.
  std::vector<std::string> ranges() const;
  int num_requests() const { return static_cast<int>(ranges().size()); }

 private:
  void Serve();
  void Answer(int connection);

  const std::string content_;
  const TestHttpServerOptions options_;
  int listener_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> ranges_;
  std::thread thread_;
};

}  // namespace sextant::datasets
