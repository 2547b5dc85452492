// libFuzzer target: the bytes are what another process of the host does to a server that shares
// memory with it: messages and descriptors over the socket, what is in the segments, the places
// that calls name. A finding is a memory error, a segment or descriptor that stays, or an error of
// another code than ABORTED, DATA_LOSS and UNIMPLEMENTED.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/dist/shared_frames.h"
#include "sextant/net/frame.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

using dist::Descriptor;
using dist::SharedFrames;

class Bytes {
 public:
  explicit Bytes(std::string_view left) : left_(left) {}
  bool empty() const { return left_.empty(); }
  std::string_view Take(size_t count) {
    const std::string_view taken = left_.substr(0, count);
    left_.remove_prefix(taken.size());
    return taken;
  }
  uint64_t Number(size_t bytes) {
    uint64_t value = 0;
    const std::string_view taken = Take(bytes);
    std::memcpy(&value, taken.data(), taken.size());
    return value;
  }

 private:
  std::string_view left_;
};

int OpenDescriptors() {
  int count = 0;
  for (int fd = 0; fd < 256; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1 : 0;
  return count;
}

// The other process: as SharedFrames writes and sends, but whatever the bytes say.
class Stranger {
 public:
  Stranger(const std::string& name, Bytes& bytes)
      : bytes_(bytes), socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0)
      Report("no connection");
  }
  ~Stranger() {
    for (const Segment& segment : segments_) munmap(segment.memory, kSegmentBytes);
  }

  // Of any length, with up to two descriptors of any kind.
  void Send() {
    const size_t count = bytes_.Number(1) % 3;
    std::vector<int> descriptors;
    for (size_t i = 0; i < count; ++i) descriptors.push_back(SomeDescriptor());
    SendRaw(bytes_.Take(bytes_.Number(1) % 32), descriptors);
  }
  // As it should be, with an id that calls can name.
  void SendWhole(uint64_t kind, uint64_t id) {
    const uint64_t message[2] = {kind, id};
    std::vector<int> descriptors;
    if (kind == 2 && !segments_.empty()) descriptors = {segments_.back().descriptor.get()};
    SendRaw({reinterpret_cast<const char*>(message), sizeof(message)}, descriptors);
  }

  void MakeSegment() {
    if (segments_.size() >= kMostSegments) return;
    Descriptor descriptor(memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (ftruncate(descriptor.get(), kSegmentBytes) != 0) Report("no memory");
    fcntl(descriptor.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    void* memory =
        mmap(nullptr, kSegmentBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
    if (memory == MAP_FAILED) Report("no memory");
    segments_.push_back({std::move(descriptor), static_cast<char*>(memory)});
  }
  // The word that says whose the segment is.
  void SetWord(uint64_t word) {
    if (!segments_.empty()) std::memcpy(segments_.back().memory, &word, sizeof(word));
  }
  void WriteFrame() {
    if (segments_.empty()) return;
    const Tensor tensors[2] = {
        Tensor::Zeros(DType::kFloat, {static_cast<int64_t>(bytes_.Number(2) % 600)}),
        Tensor::Zeros(DType::kBool, {static_cast<int64_t>(bytes_.Number(2) % 3000)})};
    std::string frame;
    for (const net::FramePiece& piece : net::EncodeFrame("", tensors).pieces) frame += piece.bytes;
    written_ = frame.size();
    std::memcpy(segments_.back().memory + kHead, frame.data(),
                std::min(frame.size(), kSegmentBytes - kHead));
  }
  void Scribble() {
    if (segments_.empty()) return;
    const size_t offset = bytes_.Number(2) % kSegmentBytes;
    const std::string_view text = bytes_.Take(bytes_.Number(1));
    std::memcpy(segments_.back().memory + offset, text.data(),
                std::min(text.size(), kSegmentBytes - offset));
  }

  size_t written() const { return written_; }

 private:
  static constexpr size_t kSegmentBytes = 16384, kHead = 64, kMostSegments = 20;
  struct Segment {
    Descriptor descriptor;
    char* memory;
  };

  int SomeDescriptor() {
    switch (bytes_.Number(1) % 3) {
      case 0:
        return segments_.empty() ? STDIN_FILENO : segments_.front().descriptor.get();
      case 1:
        return socket_.get();
      default:
        return STDERR_FILENO;
    }
  }
  void SendRaw(std::string_view text, const std::vector<int>& descriptors) {
    iovec part = {const_cast<char*>(text.data()), text.size()};
    msghdr header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    if (!descriptors.empty()) {
      const size_t bytes = descriptors.size() * sizeof(int);
      header.msg_control = control;
      header.msg_controllen = CMSG_SPACE(bytes);
      cmsghdr* item = CMSG_FIRSTHDR(&header);
      item->cmsg_level = SOL_SOCKET;
      item->cmsg_type = SCM_RIGHTS;
      item->cmsg_len = CMSG_LEN(bytes);
      std::memcpy(CMSG_DATA(item), descriptors.data(), bytes);
    }
    sendmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  }

  Bytes& bytes_;
  const Descriptor socket_;
  std::deque<Segment> segments_;
  size_t written_ = 0;
};

void ReadPlace(SharedFrames& server, const dist::SharedPlace& place, std::vector<Tensor>* held) {
  server.Knows(place);
  try {
    for (Tensor& tensor : server.Read(place, true)) {
      if (tensor.valid()) tensor.ToString();
      held->push_back(std::move(tensor));
    }
  } catch (const Error& error) {
    if (error.code() != Code::kAborted && error.code() != Code::kDataLoss &&
        error.code() != Code::kUnimplemented)
      Report(error.what());
  }
}

void Run(Bytes& bytes) {
  dist::SharedFramesListener listener(geteuid());
  Stranger stranger(listener.name(), bytes);
  constexpr uint64_t kNumber = 7;
  std::vector<Tensor> held;
  std::shared_ptr<const SharedFrames::Written> written;
  if (bytes.Number(1) % 8 != 0) stranger.SendWhole(1, kNumber);
  while (!bytes.empty()) {
    const auto server = listener.Find(kNumber);
    const uint64_t what = bytes.Number(1);
    switch (what % 10) {
      case 0:
        stranger.Send();
        break;
      case 1:
        stranger.MakeSegment();
        break;
      case 2:
        stranger.SendWhole(bytes.Number(1) % 5, bytes.Number(1));
        break;
      case 3:
        stranger.SetWord(bytes.Number(what % 2 == 0 ? 1 : 8));
        break;
      case 4:
        stranger.WriteFrame();
        break;
      case 5:
        stranger.Scribble();
        break;
      case 6:
      case 7: {
        dist::SharedPlace place;
        place.set_segment(bytes.Number(1));
        place.set_frame(bytes.Number(1));
        place.set_bytes(what % 10 == 6 ? stranger.written() : bytes.Number(8));
        if (server) ReadPlace(*server, place, &held);
        break;
      }
      case 8: {
        const Tensor answer = Tensor::Zeros(DType::kFloat, {20'000});
        if (server) written = server->Write({&answer, 1});
        break;
      }
      default:
        if (bytes.Number(1) % 2 == 0) held.clear();
        listener.Tidy();
    }
  }
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int open = sextant::fuzz::OpenDescriptors();
  sextant::fuzz::Bytes bytes({reinterpret_cast<const char*>(data), size});
  sextant::fuzz::Run(bytes);
  if (sextant::dist::SharedSegment::num_mapped() != 0)
    sextant::fuzz::Report("segments stay mapped");
  if (sextant::fuzz::OpenDescriptors() != open) sextant::fuzz::Report("descriptors stay open");
  return 0;
}
