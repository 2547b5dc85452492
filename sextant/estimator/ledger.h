// Ledger: metadata of a model_dir beside its checkpoints: evaluation history, best metrics, exports
// and whether the training is done. Small JSON files, each of one writer and replaced atomically by
// its changes: model_dir/sextant_ledger.json of the process that trains, sextant_ledger.WRITER.json
// of others, e.g. evaluators. Readers see the entries of all.
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
    double time = 0;  // seconds since the epoch, when the checkpoint was read
    std::map<std::string, double> metrics;
    // How many returns to earlier checkpoints the writer had read of; filled in when it is added.
    int64_t returns = -1;
  };
  struct Export {
    std::string exporter;
    int64_t step = 0;
    std::string path;      // relative to model_dir
    double time = 0;       // seconds since the epoch; 0: now, when it is added
    int64_t returns = -1;  // as of an evaluation
  };

  // The file of a writer, "" being the process that trains.
  static std::string PathIn(const std::string& model_dir, const std::string& writer = "");
  // How often this process has changed a ledger.
  static int64_t changes();
  // Names and times of all files: another text when another process may have written one of them.
  static std::string FilesText(const std::string& model_dir);

  // Reads the files that are there; changes go to that of the writer. Throws DATA_LOSS, naming it,
  // when one cannot be read.
  explicit Ledger(std::string model_dir, std::string writer = "");
  // Reads the files of other writers again.
  void Refresh();

  // Of all writers, in order of their steps; of the same name and step that of this one.
  const std::vector<Evaluation>& evaluations() const { return evaluations_; }
  const Evaluation* FindEvaluation(const std::string& name, int64_t step) const;
  // Of this writer alone, oldest first.
  const std::vector<Evaluation>& own_evaluations() const { return own_.evaluations; }
  // Replaces one of the same name and step and removes those of later steps (the training was
  // resumed from an earlier checkpoint).
  void AddEvaluation(Evaluation evaluation);

  const std::vector<Export>& exports() const { return exports_; }
  const Export* FindExport(const std::string& exporter, int64_t step) const;
  // Noted before the export is put in its place, so that it is made once.
  void AddExport(Export entry);
  void RemoveExport(const std::string& path);

  // Forgets evaluations and exports of later steps: the training goes on from this one. Only the
  // process that trains says so; evaluators then evaluate these steps again.
  void ForgetAfter(int64_t step);

  // State of hooks and exporters, by key: what this writer noted, else another one.
  std::optional<std::string> Note(const std::string& key) const;
  // By writer.
  std::map<std::string, std::string> Notes(const std::string& key) const;
  void SetNote(const std::string& key, std::string value);

  std::optional<int64_t> done() const;  // the step at which the training ended
  void SetDone(std::optional<int64_t> step);

 private:
  // A return to a checkpoint of this step.
  struct Forgotten {
    int64_t step = 0;
    double time = 0;     // seconds since the epoch
    int64_t number = 0;  // from 1 on; 0: not known, written by an earlier version
    // Whether an entry of a later step was made before it. By number: clocks are set back.
    template <typename Entry>
    bool Covers(const Entry& entry) const {
      if (entry.step <= step) return false;
      return number > 0 && entry.returns >= 0 ? entry.returns < number : entry.time < time;
    }
  };
  struct Contents {
    std::vector<Evaluation> evaluations;
    std::vector<Export> exports;
    std::map<std::string, std::string> notes;
    std::optional<int64_t> done;
    std::vector<Forgotten> forgotten;  // of steps that other writers may have entries of
    int64_t Returns() const;
  };
  static Contents Read(const std::string& path);
  // That of the process that trains, if there is one.
  const Contents* Trainer() const;
  int64_t KnownReturns() const;
  void Join();
  void Write();

  const std::string model_dir_, writer_;
  Contents own_;
  std::map<std::string, Contents> others_;  // by writer
  std::vector<Evaluation> evaluations_;     // of all
  std::vector<Export> exports_;             // of all
};

}  // namespace sextant
