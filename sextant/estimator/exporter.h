// Exporters: what TrainAndEvaluate exports after evaluations.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sextant/base/export.h"
#include "sextant/estimator/estimator.h"

#pragma GCC visibility push(default)

namespace sextant {

class Ledger;

// The evaluation after which an exporter is called.
struct SEXTANT_API ExportRequest {
  Estimator& estimator;                 // whose model is exported
  std::string export_path;              // model_dir/export/NAME
  std::string checkpoint_path;          // that was evaluated
  const EvalResult& result;             // of the newest evaluation
  int64_t global_step;                  // of the checkpoint
  bool is_final;                        // the training is at its end
  Ledger& ledger;                       // what was exported before
  const InputFn* eval_input = nullptr;  // of the evaluation
};

class SEXTANT_API Exporter {
 public:
  virtual ~Exporter() = default;
  virtual const std::string& name() const = 0;  // folder under export/
  // The path of the export; "" when there was none. An export that the ledger knows of is not made
  // again.
  virtual std::string Export(const ExportRequest& request) = 0;
};
using ExporterRef = std::shared_ptr<Exporter>;

struct SEXTANT_API ExporterOptions {
  std::map<std::string, std::string> assets_extra = {};
  bool as_text = false;
  int exports_to_keep = 5;  // the newest (Best: the best); 0: all
  // Number of warm-up requests in the export, from rows of the evaluation's input; servers run them
  // before they use it: assets.extra/tf_serving_warmup_requests. TensorFlow Serving takes 1,000 at
  // most.
  int64_t warmup_requests = 0;
};
// After every evaluation.
ExporterRef LatestExporter(std::string name, ServingInputFn receiver,
                           const ExporterOptions& options = {});
// At the end of the training.
ExporterRef FinalExporter(std::string name, ServingInputFn receiver,
                          const ExporterOptions& options = {});
// Whether the first is better than the second. Default: its "loss" is smaller.
using BetterFn = std::function<bool(const EvalResult& current, const EvalResult& best)>;
BetterFn Smaller(std::string metric);
BetterFn Larger(std::string metric);
// Whether `better` prefers the first to the second, which may be null: there was none. A result is
// never preferred, and always gives way, when what `better` looks at is NaN in it.
bool IsBest(const BetterFn& better, const EvalResult& current, const EvalResult* best);
// When the evaluation was better than all before, those of earlier processes included.
ExporterRef BestExporter(std::string name, ServingInputFn receiver, BetterFn better = {},
                         const ExporterOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop
