// Replicas: one model built several times in one graph, once for each device, by the same function.
//
//   BuildReplicas(2, [&](int i) { specs[i] = model_fn(batches[i]); });
//
// Replica 0 is built on the calling thread and is what a single model would be: same names, same
// scopes, same collections. The others are built on threads of their own inside the name scope
// "replica_i", one at a time, so that the graph is the same every time: each runs to its next merge
// point, then the next one does. They use the variables of replica 0: GetVariable finds them, and
// the k-th Variable "v" that a replica makes is the k-th "v" of replica 0. What they put into
// collections only they see, apart from variables and common_collections.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/graph/output.h"

namespace sextant {

class ReplicaGroup;

// What a batch's loss is of the losses of its rows: tells how replicas' losses and gradients become
// one.
enum class LossReduction { kMean, kSum };

struct ReplicaOptions {
  std::vector<std::string> devices = {};  // one for each replica; none: where the caller is
  // How gradients are summed up: "one_device" (on the first), "tree" or "ring".
  std::string reduction = "tree";
  std::set<std::string, std::less<>> common_collections = {
      "table_initializer", "queue_runners", "asset_filepaths", "regularization_losses"};
};

// Calls "build" for every replica. Throws what a build throws, and INVALID_ARGUMENT when replicas
// do not come to the same merge points, or options.reduction is unknown.
void BuildReplicas(int count, const std::function<void(int index)>& build,
                   const ReplicaOptions& options = {});

// The replica that this thread builds.
class Replica {
 public:
  // Null where no replicas are built, and while a merge is under way.
  static Replica* Current();

  int index() const { return index_; }
  int count() const;
  const ReplicaOptions& options() const;

  // The last one said counts; kMean when none was. The functions of nn/losses.h say it; a model
  // that sums the losses of its rows up by itself has to.
  void set_loss_reduction(LossReduction reduction) { loss_reduction_ = reduction; }
  LossReduction loss_reduction() const { return loss_reduction_; }

  // A merge point: waits until every replica has come to it, and gives all of them what "merge"
  // makes of their values, in the order of the replicas. It is called once, in the scopes of
  // replica 0 with the control dependencies of all. "what" names the point.
  template <typename Out, typename In>
  Out Merge(std::string_view what, const In& mine,
            const std::function<Out(const std::vector<In>& all)>& merge) {
    struct Place {
      const In* mine;
      Out result;
    } place{&mine, {}};
    Meet(what, &place, [&](const std::vector<void*>& places) {
      std::vector<In> all;
      for (void* other : places) all.push_back(*static_cast<Place*>(other)->mine);
      const Out result = merge(all);
      for (void* other : places) static_cast<Place*>(other)->result = result;
    });
    return place.result;
  }

 private:
  friend class ReplicaGroup;
  friend class Graph;
  friend class Variable;
  Replica(ReplicaGroup& group, int index) : group_(group), index_(index) {}
  void Meet(std::string_view what, void* place,
            const std::function<void(const std::vector<void*>& places)>& merge);

  // Graph's part. Whether the collection of the graph itself is meant.
  bool IsCommon(std::string_view collection, Output value) const;
  // Of the graph's entries those that this replica sees, with its own.
  std::vector<Output> Visible(std::string_view collection, std::vector<Output> entries) const;
  // Variable's part: replica 0 tells what it made, the others find it. Throws INVALID_ARGUMENT when
  // there is none.
  void NoteVariable(std::string_view name, Output handle);
  Output NextVariable(std::string_view name);

  ReplicaGroup& group_;
  const int index_;
  LossReduction loss_reduction_ = LossReduction::kMean;
  std::map<std::string, std::vector<Output>, std::less<>> collections_;  // its own entries
  std::map<std::string, size_t, std::less<>> variables_used_;
};

// While it lives the thread builds as if there were no replicas.
class OutsideReplicas {
 public:
  OutsideReplicas();
  ~OutsideReplicas();
  OutsideReplicas(const OutsideReplicas&) = delete;
  OutsideReplicas& operator=(const OutsideReplicas&) = delete;

 private:
  Replica* const previous_;
};

}  // namespace sextant
