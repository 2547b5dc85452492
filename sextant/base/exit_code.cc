#include "sextant/base/exit_code.h"

#include <atomic>

#include "sextant/base/interrupt.h"

namespace sextant {
namespace {

std::atomic<bool> in_cluster = false, training_begun = false;
std::atomic<int> noted_exit_code = 0;

int CodeOf(Code code) {
  switch (code) {
    case Code::kUnavailable:
      return training_begun ? kExitPeersLost : kExitUsage;
    case Code::kAborted:
    case Code::kDeadlineExceeded:
      return kExitPeersLost;
    case Code::kAlreadyExists:
    case Code::kUnimplemented:
    case Code::kUnauthenticated:
      return kExitUsage;
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
      return training_begun ? kExitMisfit : kExitUsage;
    case Code::kNotFound:
    case Code::kDataLoss:
    case Code::kOutOfRange:
      return kExitMisfit;
    default:
      return kExitOther;
  }
}

}  // namespace

void UseClusterExitCodes(bool use) { in_cluster = use; }
void ClusterTrainingBegins() { training_begun = true; }
void NoteExitCode(int code) { noted_exit_code = code; }

int ExitCodeOf(const Status& status, int otherwise) {
  if (Interrupted()) return ExitCodeOfSignal(InterruptSignal());
  if (!in_cluster) return otherwise;
  return noted_exit_code != 0 ? noted_exit_code.load() : CodeOf(status.code());
}

}  // namespace sextant
