// KeptFrames: what fragments keep on this task, as frames for the tasks that need it.
//
// Thread-safe. To ask changes nothing, so a question may come twice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "sextant/dist/shared_frames.h"
#include "sextant/net/frame.h"
#include "sextant/proto/cluster.pb.h"
#include "sextant/runtime/fragment_host.h"

namespace sextant::dist {

class KeptFrames {
 public:
  // Both must outlive it; no listener: nothing goes through shared memory.
  KeptFrames(FragmentHost& host, SharedFramesListener* shared) : host_(host), shared_(shared) {}

  // All tensors in one frame: in the answer, in memory that the asker shares, or, when it is too
  // large, the part that is wanted. Throws NOT_FOUND for a run that has ended.
  net::EncodedFrame Answer(const KeptHeader& wanted);
  // Forgets the run, in the host too.
  void EndRun(uint64_t run);

 private:
  using Written = std::shared_ptr<const SharedFrames::Written>;
  Written Write(const KeptHeader& wanted, std::span<const Tensor> tensors);

  FragmentHost& host_;
  SharedFramesListener* const shared_;
  std::mutex mutex_;
  std::map<uint64_t, std::vector<Written>> written_;  // by run: may not have been taken yet
};

}  // namespace sextant::dist
