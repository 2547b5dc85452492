// Ledger: metadata of a model_dir beside its checkpoints: evaluation history, best metrics, exports
// and whether the training is done. One small JSON file, model_dir/sextant_ledger.json, replaced
// atomically by every change.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// Metrics as a JSON object that ParseMetrics reads back: what JSON has no numbers for is "NaN",
// "Infinity" or "-Infinity". ParseMetrics takes null, as earlier versions wrote, for NaN, and
// throws DATA_LOSS for other texts.
std::string MetricsText(const std::map<std::string, double>& metrics);
std::map<std::string, double> ParseMetrics(const std::string& text);

class Ledger {
 public:
  struct Evaluation {
    std::string name;  // of the EvalSpec
    int64_t step = 0;
    double time = 0;  // seconds since the epoch
    std::map<std::string, double> metrics;
  };
  struct Export {
    std::string exporter;
    int64_t step = 0;
    std::string path;  // relative to model_dir
  };

  static std::string PathIn(const std::string& model_dir);
  // How often this process has changed a ledger.
  static int64_t changes();

  // Reads the file if it is there. Throws DATA_LOSS, naming it, when it cannot be read.
  explicit Ledger(std::string model_dir);

  // Oldest first.
  const std::vector<Evaluation>& evaluations() const { return evaluations_; }
  const Evaluation* FindEvaluation(const std::string& name, int64_t step) const;
  // Replaces one of the same name and step and removes those of later steps (the training was
  // resumed from an earlier checkpoint).
  void AddEvaluation(Evaluation evaluation);

  const std::vector<Export>& exports() const { return exports_; }
  const Export* FindExport(const std::string& exporter, int64_t step) const;
  // Noted before the export is put in its place, so that it is made once.
  void AddExport(Export entry);
  void RemoveExport(const std::string& path);

  // Forgets evaluations and exports of later steps: the training goes on from this one.
  void ForgetAfter(int64_t step);

  // State of hooks and exporters, by key.
  std::optional<std::string> Note(const std::string& key) const;
  void SetNote(const std::string& key, std::string value);

  std::optional<int64_t> done() const { return done_; }  // the step at which the training ended
  void SetDone(std::optional<int64_t> step);

 private:
  void Write() const;

  const std::string model_dir_;
  std::vector<Evaluation> evaluations_;
  std::vector<Export> exports_;
  std::map<std::string, std::string> notes_;
  std::optional<int64_t> done_;
};

}  // namespace sextant
