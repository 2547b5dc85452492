// SharedFrames: frames between two processes of one host through shared memory, one copy instead of
// three and no network.
//
//   client: frames = SharedFrames::Connect(name)
//           written = frames->Write(tensors)
//           a call with frames->number(), written->place()
//   server: frames = listener.Find(number)
//           frames->Read(place): tensors that lie where they were written
//
// A connection is a Unix socket, over which each end hands the descriptors of the segments that it
// writes to; nothing else travels there. It is an addition: where there is none, where no segment
// is free or memory is short, frames travel in the calls, and calls mean the same either way. A
// call refers to a descriptor that was sent before it, so a reader that does not know a segment
// finds it by looking at the socket; no thread waits there.
//
// Only processes of the same user are connected, in both directions: the kernel says who they are.
// The socket has a name in the abstract namespace, which ends with the process and is not seen from
// other hosts and network namespaces.
//
// Thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sextant/dist/shared_segment.h"
#include "sextant/proto/cluster.pb.h"
#include "sextant/tensor/tensor.h"

namespace sextant::dist {

// Smaller frames are as quick inside the call, larger ones would hold too much memory.
inline constexpr size_t kLeastSharedBytes = size_t{64} << 10;
inline constexpr size_t kMostSharedBytes = size_t{1} << 30;

// Unless SEXTANT_SHARED_FRAMES is 0.
bool SharedFramesWanted();

class SharedFrames {
 public:
  using Clock = std::chrono::steady_clock;

  SharedFrames(Descriptor socket, uint64_t number);
  // The client's end. Null when nobody of that name listens on this host, or another user does.
  static std::shared_ptr<SharedFrames> Connect(const std::string& name, uid_t user);

  // Drawn at random by the client: the connection's name in calls.
  uint64_t number() const { return number_; }

  // A frame in a segment. It stays until the other end has taken and let go of it, or, if it is not
  // taken, as long as this object.
  class Written {
   public:
    Written(std::shared_ptr<SharedSegment> segment, SharedPlace place)
        : segment_(std::move(segment)), place_(std::move(place)) {}
    ~Written() { segment_->Withdraw(place_.frame()); }
    Written(const Written&) = delete;
    Written& operator=(const Written&) = delete;
    const SharedPlace& place() const { return place_; }

   private:
    const std::shared_ptr<SharedSegment> segment_;
    const SharedPlace place_;
  };
  // Null when the tensors are to travel in the call.
  std::shared_ptr<const Written> Write(std::span<const Tensor> tensors);

  // Whether the other end has handed over the segment.
  bool Knows(const SharedPlace& place);
  // What the other end wrote. Large tensors stay where they are; the segment is released with the
  // last of them. "transient": they shall be copied by a receiver that keeps them for long. Throws
  // ABORTED when the frame was withdrawn or taken before, DATA_LOSS when it is none.
  std::vector<Tensor> Read(const SharedPlace& place, bool transient);

  // Frees segments that have not been needed for a while. False when the other end is gone.
  bool Tidy(Clock::time_point now);

 private:
  struct Own {
    std::shared_ptr<SharedSegment> segment;
    Clock::time_point used;
  };
  std::shared_ptr<SharedSegment> ClaimOwn(size_t bytes, uint64_t* id);
  std::shared_ptr<SharedSegment> FindOther(uint64_t id);
  // Takes what the other end has sent. False when it is gone.
  bool Receive();

  const Descriptor socket_;
  const uint64_t number_;
  std::mutex mutex_;
  uint64_t next_id_;  // from a random number on: segments of different connections differ
  std::map<uint64_t, Own> own_;
  std::map<uint64_t, std::shared_ptr<SharedSegment>> others_;
};

// The server's end: where clients connect.
class SharedFramesListener {
 public:
  // Processes of the user may connect.
  explicit SharedFramesListener(uid_t user);

  // For SharedFrames::Connect; "" when the system gives no socket.
  const std::string& name() const { return name_; }
  // The connection of that number, or null.
  std::shared_ptr<SharedFrames> Find(uint64_t number);
  // Lets go of clients that are gone, and of segments that have not been needed for a while.
  void Tidy();

 private:
  struct Waiting {
    Descriptor socket;
    bool gone = false;
  };
  void AcceptAll();

  const uid_t user_;
  std::string name_;
  Descriptor socket_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;  // connections whose number is not known yet
  std::map<uint64_t, std::shared_ptr<SharedFrames>> clients_;
};

}  // namespace sextant::dist
