// The inputs of a call that earlier fragments of its Run have kept, on this task or on others: one
// frame from each task, all tasks at once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/device/remote_task.h"
#include "sextant/dist/peer.h"
#include "sextant/proto/cluster.pb.h"
#include "sextant/runtime/fragment_host.h"

namespace sextant::dist {

// In the order of the fragment's kept inputs. "header" is that of the call, "host" has what this
// task keeps. Throws what the first task that failed gave, naming it; the others are not waited
// for.
std::vector<Tensor> FetchKeptInputs(const Fragment& fragment, const CallHeader& header,
                                    const FragmentHost& host,
                                    const std::function<Peer&(const std::string& task)>& find_peer,
                                    CancellationToken& cancellation);

}  // namespace sextant::dist
