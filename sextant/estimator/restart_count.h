// RestartCount: ends a training that a platform starts again and again and that never gets further,
// as one that runs out of memory in every step. A file of model_dir, which the chief of a cluster
// writes, counts the restarts since the newest checkpoint.
#pragma once

#include <string>

namespace sextant {

inline constexpr int kRestartsInVain = 5;

class RestartCount {
 public:
  // Counts this start. "newest" is the checkpoint it goes on from; "": none. Throws
  // FAILED_PRECONDITION, and has the process end with exit code 5, when the training was started
  // again five times since that checkpoint was saved.
  RestartCount(const std::string& model_dir, const std::string& newest);

  // This start does not count: it ended in good order, or for want of other tasks.
  void TakeBack();

 private:
  void Write(int restarts) const;

  const std::string path_, newest_;
  int restarts_ = 0;  // since that checkpoint, this one included
};

}  // namespace sextant
