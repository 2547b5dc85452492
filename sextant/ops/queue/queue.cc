#include "sextant/ops/queue/queue.h"

#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void HandleShapeOf(ShapeContext& c) {
  c.set_output(0, IsRef(c.node().output_type(0)) ? PartialShape{2} : PartialShape(Shape()));
}

// What the queue that input 0 comes from says of its tuples; an empty list when that is not known.
std::vector<PartialShape> TupleShapes(ShapeContext& c) {
  const Node& queue = *c.node().input(0).node();
  const Attr* shapes = queue.FindAttr("shapes");
  if (shapes == nullptr || queue.FindAttr("component_types") == nullptr) return {};
  auto result = shapes->Get<std::vector<PartialShape>>();
  if (queue.type().starts_with("PriorityQueue")) result.insert(result.begin(), Shape());
  if (static_cast<int>(result.size()) != c.num_outputs()) result.clear();
  return result;
}

void DequeueShape(ShapeContext& c) {
  const auto shapes = TupleShapes(c);
  for (size_t i = 0; i < shapes.size(); ++i) c.set_output(static_cast<int>(i), shapes[i]);
}

void BatchShape(ShapeContext& c, std::optional<int64_t> count) {
  c.InputOfRank(1, 0);
  const auto shapes = TupleShapes(c);
  for (size_t i = 0; i < shapes.size(); ++i) {
    PartialShape shape = shapes[i];
    if (!shape.rank_known()) continue;
    shape.Insert(0, count.value_or(PartialShape::kUnknown));
    c.set_output(static_cast<int>(i), shape);
  }
}

void DequeueManyShape(ShapeContext& c) {
  const auto count = c.InputInt(1);
  if (count && *count < 0) throw InvalidArgument("n must be >= 0, got {}", *count);
  BatchShape(c, count);
}

void DequeueUpToShape(ShapeContext& c) { BatchShape(c, std::nullopt); }

struct QueueOp {
  const char* name;
  const char* inputs;  // after the handle
  const char* outputs;
  const char* attrs;
  const char* doc;
  void (*shape)(ShapeContext&);
};

constexpr const char* kDequeueAttrs = "component_types:list(type)>=1; timeout_ms:int=-1";
constexpr const char* kEnqueueAttrs = "Tcomponents:list(type)>=1; timeout_ms:int=-1";

constexpr QueueOp kQueueOps[] = {
    {"QueueEnqueue", "components:Tcomponents", "", kEnqueueAttrs,
     "Adds a tuple to a queue, waiting while it is full.", shapes::NoOutputs},
    {"QueueEnqueueMany", "components:Tcomponents", "", kEnqueueAttrs,
     "Adds a tuple for each row of the components, waiting while the queue is full.",
     shapes::NoOutputs},
    {"QueueDequeue", "", "components:component_types", kDequeueAttrs,
     "Takes a tuple from a queue, waiting for one.", DequeueShape},
    {"QueueDequeueMany", "n:int32", "components:component_types", kDequeueAttrs,
     "Takes n tuples from a queue as one batch, waiting for all of them.", DequeueManyShape},
    {"QueueDequeueUpTo", "n:int32", "components:component_types", kDequeueAttrs,
     "Takes n tuples from a queue as one batch, or those that a closed queue still has.",
     DequeueUpToShape},
    {"QueueClose", "", "", "cancel_pending_enqueues:bool=False",
     "Closes a queue: nothing more is added, what it has can still be taken.", shapes::NoOutputs},
    {"QueueSize", "", "size:int32", "", "The number of tuples in a queue.", shapes::Scalar},
    {"QueueIsClosed", "", "is_closed:bool", "", "Whether a queue is closed.", shapes::Scalar},
};

// Handles were references once; a pass makes V2 ops of those of such graphs.
void AddQueueOp(OpRegistry& registry, const QueueOp& op, bool v2) {
  OpDef def(op.name + std::string(v2 ? "V2" : ""));
  std::string inputs = v2 ? "handle:resource" : "handle:ref(string)";
  if (*op.inputs != '\0') inputs += std::string(", ") + op.inputs;
  def.Inputs(inputs).Outputs(op.outputs).Attrs(op.attrs).Doc(op.doc).Shape(op.shape);
  def.NotDifferentiable("what passes through a queue belongs to another step");
  if (v2) {
    def.Stateful();
  } else {
    def.Structural();
  }
  registry.Add(std::move(def));
}

}  // namespace

void RegisterQueue(OpRegistry& registry) {
  const std::string types = "component_types:list(type)>=1; shapes:list(shape)=[]>=0; ";
  const std::string capacity = "capacity:int=-1; ";
  const std::string sharing = "container:string=''; shared_name:string=''";
  const auto queue = [&](const std::string& name, const std::string& attrs, const char* doc) {
    for (const bool v2 : {false, true}) {
      OpDef def(name + (v2 ? "V2" : ""));
      def.Outputs(v2 ? "handle:resource" : "handle:ref(string)").Attrs(attrs).Stateful().Doc(doc);
      def.Shape(HandleShapeOf).NotDifferentiable("it has no inputs");
      if (!v2) def.Structural();
      registry.Add(std::move(def));
    }
  };
  queue("FIFOQueue", types + capacity + sharing,
        "A queue of tuples of tensors: first in, first out.");
  queue("PaddingFIFOQueue", types + capacity + sharing,
        "A queue of tuples of tensors whose sizes may differ: batches are padded with zeros.");
  queue("RandomShuffleQueue",
        types + capacity + "min_after_dequeue:int=0; seed:int=0; seed2:int=0; " + sharing,
        "A queue that gives its tuples in random order.");
  queue("PriorityQueue",
        "component_types:list(type)=[]>=0; shapes:list(shape)>=0; " + capacity + sharing,
        "A queue whose tuples begin with a number: the lowest comes first.");
  for (const QueueOp& op : kQueueOps) {
    AddQueueOp(registry, op, false);
    AddQueueOp(registry, op, true);
  }
}

}  // namespace sextant
