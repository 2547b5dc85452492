// Exit codes of a process that is a task of a cluster. Platforms decide by them whether to start it
// again: Kubeflow's ExitCode policy does for 128 and more.
//
//   0 done · 1 another error · 2 TF_CONFIG or flags · 3 data or model do not fit · 4 the loss is no
//   number · 5 started again five times without a new checkpoint · 138 other tasks are lost: start
//   it again · 130, 143 after a signal
//
// Once a process is known to be such a task (UseClusterExitCodes), an Error that ends the program
// does so by its code: caught by the `main` of a command or of Flags, or by nobody.
#pragma once

#include "sextant/base/error.h"

namespace sextant {

inline constexpr int kExitOther = 1, kExitUsage = 2, kExitMisfit = 3, kExitDiverged = 4,
                     kExitNoProgress = 5, kExitPeersLost = 138;

// False: it trains alone after all.
void UseClusterExitCodes(bool use = true);
// From now on the roles run: what does not fit then is data or model, not TF_CONFIG.
void ClusterTrainingBegins();
// What ends the program is this, whatever the Error.
void NoteExitCode(int code);

// `otherwise` for a process that is no task of a cluster.
int ExitCodeOf(const Status& status, int otherwise);

}  // namespace sextant
