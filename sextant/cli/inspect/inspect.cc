#include "sextant/cli/inspect/inspect.h"

#include <iostream>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/cli/inspect/contact_sheet.h"
#include "sextant/cli/inspect/inspect_checkpoint.h"
#include "sextant/cli/inspect/inspect_events.h"
#include "sextant/cli/inspect/inspect_graph.h"
#include "sextant/cli/inspect/inspect_model_dir.h"
#include "sextant/cli/inspect/inspect_records.h"
#include "sextant/cli/inspect/path_kind.h"
#include "sextant/cli/interruptible.h"
#include "sextant/formats/checkpoint_state.h"

namespace sextant::cli {
namespace {

// --tensor also takes the newest checkpoint of a model folder.
std::string CheckpointOf(const KnownPath& known) {
  if (known.kind == PathKind::kCheckpoint) return known.path;
  if (known.kind == PathKind::kModelDir) {
    if (const auto latest = LatestCheckpoint(known.path)) return *latest;
  }
  throw InvalidArgument("--tensor wants a checkpoint, and {} is none", known.path);
}

}  // namespace

bool Inspect(const InspectOptions& options, std::ostream& out) {
  const KnownPath known = Recognise(options.path);
  if (!options.tensor.empty()) {
    InspectCheckpoint(CheckpointOf(known), options, out);
    return true;
  }
  if (!options.images.empty()) {
    if (known.kind != PathKind::kRecords) {
      throw InvalidArgument("--images wants a TFRecord file, and {} is none", known.path);
    }
    WriteContactSheet(known.path, options.images, options.limit, out);
    return true;
  }
  if (!options.graph.empty()) {
    DrawGraph(known, options.graph, out);
    return true;
  }
  switch (known.kind) {
    case PathKind::kRecords:
      return InspectRecords(known.path, options, out);
    case PathKind::kEvents:
      return InspectEvents(known.path, options, out);
    case PathKind::kCheckpoint:
      InspectCheckpoint(known.path, options, out);
      break;
    case PathKind::kSavedModel:
      InspectSavedModel(known.path, options, out);
      break;
    case PathKind::kModelDir:
      InspectModelDir(known.path, options, out);
      break;
    case PathKind::kGraph:
    case PathKind::kMetaGraph:
      InspectGraph(known, options, out);
      break;
    case PathKind::kNpy:
      InspectNpy(known.path, options, out);
      break;
  }
  return true;
}

void AddInspectCommand(Command& program) {
  auto options = std::make_shared<InspectOptions>();
  Command& command = program.AddCommand(
      "inspect", "Describes a file or directory: records, events, checkpoints, graphs, models.",
      "sextant inspect data/cifar10/train.tfrecords\n"
      "sextant inspect data/cifar10/train.tfrecords --images sheet.png\n"
      "sextant inspect runs/mnist/model.ckpt-600 --tensor global_step\n"
      "sextant inspect export/1700000000 --graph graph.html");
  command.AddArgument(
      "PATH", &options->path,
      "TFRecord or event file, checkpoint (prefix or any of its files), SavedModel, "
      "model_dir, GraphDef (.pb, .pbtxt), meta graph (.meta) or .npy");
  command.AddFlag("--json", &options->json, "for scripts; docs/inspect_json.md describes the form");
  command.AddOption("--limit N", &options->limit,
                    "how many records or events to show in JSON, images on the sheet", 0);
  command.AddOption("--tensor NAME", &options->tensor, "print this tensor of a checkpoint");
  command.AddOption("--images PNG", &options->images,
                    "write a sheet with the images of the records");
  command.AddOption("--graph HTML", &options->graph,
                    "write a page that draws the graph, to be opened in a browser");
  command.OnRun([options] {
    const Interruptible interruptible;
    return Inspect(*options, std::cout) ? 0 : kExitError;
  });
}

}  // namespace sextant::cli
