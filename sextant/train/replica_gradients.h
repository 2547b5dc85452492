// All-reduce of the gradients of replicas (graph/replica.h): their mean, or their sum where the
// loss is a sum over the rows. Dense gradients are summed up as ReplicaOptions::reduction says:
//   one_device  on the first replica's device,
//   tree        in pairs: on the first of each two devices, then of each four, …,
//   ring        in as many pieces as there are replicas, each on its way around the devices;
// rows (IndexedSlices) are put together on the first device.
#pragma once

#include <vector>

#include "sextant/graph/replica.h"
#include "sextant/train/optimizer.h"

namespace sextant::train {

// A merge point of replicas; outside of them the gradients as they are.
std::vector<GradientAndVariable> MergeGradients(const std::vector<GradientAndVariable>& mine);

// The same while merging, from the gradients of all replicas: for the variables of replica 0.
// Gradients made from merged ones, e.g. by clipping, are not merged again.
std::vector<GradientAndVariable> CombineGradients(
    const std::vector<std::vector<GradientAndVariable>>& all, LossReduction loss,
    const ReplicaOptions& options);

// The sum of a tensor of each replica.
Output SumOverReplicas(const std::vector<Output>& values, const ReplicaOptions& options);

}  // namespace sextant::train
