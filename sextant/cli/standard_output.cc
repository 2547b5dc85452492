#include "sextant/cli/standard_output.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <streambuf>
#include <string>
#include <system_error>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"

namespace sextant::cli {
namespace {

constexpr size_t kBufferBytes = 1 << 16;
bool bytes_pass_through = false;

// How many bytes at the end of the text begin a character that is not whole.
size_t BeginningOfCharacter(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
  }
  return 0;
}

}  // namespace

class StandardOutput::Buffer : public std::streambuf {
 public:
  explicit Buffer(OnClosedPipe on_closed_pipe) : on_closed_pipe_(on_closed_pipe) {
    text_.reserve(kBufferBytes);
  }

  int error() const { return error_; }
  // Also what is no whole character.
  void WriteAll() {
    Write(text_);
    text_.clear();
  }

 protected:
  int_type overflow(int_type c) override {
    if (c != traits_type::eof()) {
      const char byte = traits_type::to_char_type(c);
      xsputn(&byte, 1);
    }
    return traits_type::not_eof(c);
  }
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    text_.append(bytes, static_cast<size_t>(count));
    const bool line_ended = is_terminal_ && text_.ends_with('\n');
    if (text_.size() >= kBufferBytes || line_ended) sync();
    return count;
  }
  int sync() override {
    const size_t rest = BeginningOfCharacter(text_);
    Write(std::string_view(text_).substr(0, text_.size() - rest));
    text_.erase(0, text_.size() - rest);
    return 0;
  }

 private:
  void Write(std::string_view text) {
    if (bytes_pass_through) return WriteBytes(text);
    WriteBytes(Printable(text, LineEnds::kKeep));
  }

  void WriteBytes(std::string_view bytes) {
    while (!bytes.empty() && error_ == 0) {
      const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (written >= 0) {
        bytes.remove_prefix(static_cast<size_t>(written));
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    if (error_ == EPIPE && on_closed_pipe_ == OnClosedPipe::kEnd) {
      std::signal(SIGPIPE, SIG_DFL);
      std::raise(SIGPIPE);
    }
  }

  const OnClosedPipe on_closed_pipe_;
  const bool is_terminal_ = isatty(STDOUT_FILENO) == 1;
  std::string text_;
  int error_ = 0;  // of the first write that failed; nothing is written after it
};

StandardOutput::StandardOutput(OnClosedPipe on_closed_pipe)
    : buffer_(std::make_unique<Buffer>(on_closed_pipe)),
      before_(std::cout.rdbuf(buffer_.get())),
      signal_before_(std::signal(SIGPIPE, SIG_IGN)) {
  bytes_pass_through = false;
}

StandardOutput::~StandardOutput() {
  buffer_->WriteAll();
  std::cout.rdbuf(before_);
  std::signal(SIGPIPE, signal_before_);
}

void StandardOutput::Finish() {
  buffer_->WriteAll();
  const int error = buffer_->error();
  if (error == 0 || error == EPIPE) return;
  throw Error(Code::kUnknown, fmt::format("the output cannot be written: {}",
                                          std::generic_category().message(error)));
}

void PassBytesThrough() { bytes_pass_through = isatty(STDOUT_FILENO) == 0; }

}  // namespace sextant::cli
