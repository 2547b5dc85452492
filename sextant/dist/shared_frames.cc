#include "sextant/dist/shared_frames.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "sextant/base/copy_bytes.h"
#include "sextant/base/error.h"
#include "sextant/dist/incarnation.h"
#include "sextant/net/frame.h"

namespace sextant::dist {
namespace {

constexpr size_t kMostSegments = 16;
constexpr size_t kMostBytes = size_t{2} << 30;  // of all segments that one end makes
static_assert(kMostSharedBytes + kMostSharedBytes / 8 <= SharedSegment::kMostBytes);
constexpr std::chrono::seconds kIdleSegmentTime(10);
constexpr size_t kMostWaiting = 64;

enum class MessageKind : uint64_t {
  kNumber = 1,   // of the connection; the first message of the client
  kSegment = 2,  // with a descriptor
  kDrop = 3,     // the segment is not used any more
};
struct Message {
  MessageKind kind = MessageKind::kNumber;
  uint64_t id = 0;
};

union Control {  // aligned as the kernel wants it
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

bool SendMessage(int socket, Message message, int descriptor) {
  iovec part = {&message, sizeof(message)};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control = {};
  if (descriptor >= 0) {
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof(control.bytes);
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(item), &descriptor, sizeof(int));
  }
  return sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof(message);
}

enum class Got { kMessage, kNothing, kGone };

Got ReceiveMessage(int socket, Message* message, Descriptor* descriptor) {
  iovec part = {message, sizeof(*message)};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  Control control = {};
  header.msg_control = control.bytes;
  header.msg_controllen = CMSG_LEN(sizeof(int));  // no padding, in which a second one would fit
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? Got::kNothing : Got::kGone;
  *descriptor = Descriptor();
  for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
    if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(item), sizeof(int));  // there is room for one: others are closed
    *descriptor = Descriptor(fd);
  }
  return got == sizeof(*message) ? Got::kMessage : Got::kGone;
}

bool IsOfUser(int socket, uid_t user) {
  ucred credentials = {};
  socklen_t size = sizeof(credentials);
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
         credentials.uid == user;
}

// A name of the abstract namespace begins with a zero byte.
struct SocketName {
  explicit SocketName(const std::string& name) {
    address.sun_family = AF_UNIX;
    const size_t count = std::min(name.size(), sizeof(address.sun_path) - 1);
    std::memcpy(address.sun_path + 1, name.data(), count);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + count);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  sockaddr_un address = {};
  socklen_t size = 0;
};

Descriptor NewSocket() {
  return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// A frame that another process wrote, released with the last tensor in it.
class TakenFrame : public Buffer {
 public:
  TakenFrame(std::shared_ptr<SharedSegment> segment, uint64_t frame)
      : Buffer(segment->data(), segment->capacity()), segment_(std::move(segment)), frame_(frame) {}

 private:
  ~TakenFrame() override { segment_->Release(frame_); }
  const std::shared_ptr<SharedSegment> segment_;
  const uint64_t frame_;
};

size_t PlainBytes(std::span<const Tensor> tensors) {
  size_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.valid() && IsPlain(tensor.dtype())) bytes += tensor.bytes();
  }
  return bytes;
}

}  // namespace

bool SharedFramesWanted() {
  const char* value = std::getenv("SEXTANT_SHARED_FRAMES");
  return value == nullptr || std::string_view(value) != "0";
}

SharedFrames::SharedFrames(Descriptor socket, uint64_t number)
    : socket_(std::move(socket)), number_(number), next_id_(NewIncarnation()) {}

std::shared_ptr<SharedFrames> SharedFrames::Connect(const std::string& name, uid_t user) {
  const SocketName address(name);
  const uint64_t number = NewIncarnation();
  Descriptor socket = NewSocket();
  if (!socket.valid() || connect(socket.get(), address.get(), address.size) != 0 ||
      !IsOfUser(socket.get(), user) ||
      !SendMessage(socket.get(), {MessageKind::kNumber, number}, -1))
    return nullptr;
  return std::make_shared<SharedFrames>(std::move(socket), number);
}

std::shared_ptr<SharedSegment> SharedFrames::ClaimOwn(size_t bytes, uint64_t* id) {
  const std::lock_guard lock(mutex_);
  auto best = own_.end(), idle = own_.end();
  size_t total = 0;
  for (auto it = own_.begin(); it != own_.end(); ++it) {
    const size_t capacity = it->second.segment->capacity();
    total += capacity;
    if (!it->second.segment->free()) continue;
    idle = it;
    if (capacity >= bytes && (best == own_.end() || capacity < best->second.segment->capacity()))
      best = it;
  }
  if (best != own_.end() && best->second.segment->Claim()) {
    *id = best->first;
    best->second.used = Clock::now();
    return best->second.segment;
  }
  if (own_.size() >= kMostSegments) {
    if (idle == own_.end() || !SendMessage(socket_.get(), {MessageKind::kDrop, idle->first}, -1))
      return nullptr;
    total -= idle->second.segment->capacity();
    own_.erase(idle);
  }
  const size_t wanted = bytes + bytes / 8;  // frames of a model differ a little
  if (total + wanted > kMostBytes) return nullptr;
  SharedSegment::Made made = SharedSegment::Make(wanted);
  if (!made.segment ||
      !SendMessage(socket_.get(), {MessageKind::kSegment, next_id_}, made.descriptor.get()))
    return nullptr;
  *id = next_id_++;
  made.segment->Claim();
  own_[*id] = {made.segment, Clock::now()};
  return made.segment;
}

std::shared_ptr<const SharedFrames::Written> SharedFrames::Write(std::span<const Tensor> tensors) {
  if (PlainBytes(tensors) < kLeastSharedBytes) return nullptr;
  const net::EncodedFrame frame = net::EncodeFrame("", tensors);
  if (frame.bytes > kMostSharedBytes) return nullptr;
  SharedPlace place;
  uint64_t id = 0;
  std::shared_ptr<SharedSegment> segment = ClaimOwn(frame.bytes, &id);
  if (!segment) return nullptr;
  char* to = segment->data();
  for (const net::FramePiece& piece : frame.pieces) {
    CopyBytes(to, piece.bytes.data(), piece.bytes.size());
    to += piece.bytes.size();
  }
  place.set_segment(id);
  place.set_bytes(frame.bytes);
  place.set_frame(segment->Publish());
  return std::make_shared<const Written>(std::move(segment), std::move(place));
}

bool SharedFrames::Receive() {
  for (;;) {
    Message message;
    Descriptor descriptor;
    switch (ReceiveMessage(socket_.get(), &message, &descriptor)) {
      case Got::kNothing:
        return true;
      case Got::kGone:
        return false;
      case Got::kMessage:
        break;
    }
    if (message.kind == MessageKind::kDrop) {
      others_.erase(message.id);
    } else if (message.kind == MessageKind::kSegment && others_.size() < kMostSegments) {
      if (auto segment = SharedSegment::Map(descriptor)) others_[message.id] = std::move(segment);
    }
  }
}

std::shared_ptr<SharedSegment> SharedFrames::FindOther(uint64_t id) {
  const std::lock_guard lock(mutex_);
  auto found = others_.find(id);
  if (found == others_.end()) {
    Receive();
    found = others_.find(id);
  }
  return found == others_.end() ? nullptr : found->second;
}

bool SharedFrames::Knows(const SharedPlace& place) {
  const auto segment = FindOther(place.segment());
  return segment && place.bytes() <= segment->capacity();
}

std::vector<Tensor> SharedFrames::Read(const SharedPlace& place, bool transient) {
  const auto segment = FindOther(place.segment());
  if (!segment || place.bytes() > segment->capacity() || !segment->Take(place.frame()))
    throw MakeError<Code::kAborted>("a frame in shared memory is gone");
  const BufferRef buffer(new TakenFrame(segment, place.frame()));
  buffer->set_transient(transient);
  return net::DecodeFrameInPlace(buffer, place.bytes()).tensors;
}

bool SharedFrames::Tidy(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  const bool alive = Receive();
  for (auto it = own_.begin(); it != own_.end();) {
    const bool idle = it->second.segment->free() && now - it->second.used > kIdleSegmentTime;
    const bool dropped = idle && SendMessage(socket_.get(), {MessageKind::kDrop, it->first}, -1);
    it = dropped || !alive ? own_.erase(it) : std::next(it);
  }
  if (!alive) others_.clear();
  return alive;
}

SharedFramesListener::SharedFramesListener(uid_t user) : user_(user) {
  Descriptor socket = NewSocket();
  const std::string name =
      fmt::format("sextant-{:016x}{:016x}", NewIncarnation(), NewIncarnation());
  const SocketName address(name);
  if (!socket.valid() || bind(socket.get(), address.get(), address.size) != 0 ||
      listen(socket.get(), SOMAXCONN) != 0)
    return;
  socket_ = std::move(socket);
  name_ = name;
}

void SharedFramesListener::AcceptAll() {
  while (waiting_.size() < kMostWaiting) {
    Descriptor client(accept4(socket_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client.valid()) break;
    if (IsOfUser(client.get(), user_)) waiting_.push_back({std::move(client)});
  }
  for (Waiting& waiting : waiting_) {
    Message message;
    Descriptor descriptor;
    const Got got = ReceiveMessage(waiting.socket.get(), &message, &descriptor);
    if (got == Got::kNothing) continue;
    waiting.gone = true;
    if (got == Got::kMessage && message.kind == MessageKind::kNumber)
      clients_[message.id] = std::make_shared<SharedFrames>(std::move(waiting.socket), message.id);
  }
  std::erase_if(waiting_, [](const Waiting& waiting) { return waiting.gone; });
}

std::shared_ptr<SharedFrames> SharedFramesListener::Find(uint64_t number) {
  const std::lock_guard lock(mutex_);
  auto found = clients_.find(number);
  if (found == clients_.end()) {
    AcceptAll();
    found = clients_.find(number);
  }
  return found == clients_.end() ? nullptr : found->second;
}

void SharedFramesListener::Tidy() {
  const std::lock_guard lock(mutex_);
  AcceptAll();
  const auto now = SharedFrames::Clock::now();
  std::erase_if(clients_, [now](const auto& client) { return !client.second->Tidy(now); });
}

}  // namespace sextant::dist
