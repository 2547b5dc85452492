// Files in and out: what peers/input_tf.py measures of tf.data.
#include <fmt/format.h>

#include "benchmarks/input_pipelines.h"
#include "benchmarks/random_records.h"
#include "benchmarks/report.h"
#include "benchmarks/timing.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/data/sources.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::bench {
namespace {

void MeasureRecords(const Options& options, const InputOptions& input, const std::string& path) {
  const std::vector<std::string> pool = RandomCifarRecords(1000);
  const size_t count = static_cast<size_t>(input.megabytes) * 1000000 / (pool[0].size() + 16);
  std::vector<double> rates;
  for (int i = 0; i < options.repeats; ++i) {
    const double seconds = Seconds([&] {
      TFRecordWriter writer(path);
      for (size_t r = 0; r < count; ++r) writer.Write(pool[r % pool.size()]);
      writer.Close();
    });
    rates.push_back(static_cast<double>(FileSystem::ForPath(path).Stat(path).size) / 1e6 / seconds);
  }
  Emit("input", "MB/s", rates, false,
       {{"mode", Quote("TFRecord write, records already serialised")},
        {"megabytes", std::to_string(input.megabytes)}});
  rates.clear();
  for (int i = 0; i < options.repeats; ++i) {
    rates.push_back(static_cast<double>(count) / Seconds([&] {
                      const auto iterator = data::TFRecordFiles({path}).Batch(1000).MakeIterator();
                      for (data::Element batch; iterator->Next(&batch);) {
                      }
                    }));
  }
  Emit("input", "records/s", rates, false,
       {{"mode", Quote("TFRecord read, one pass, batches of 1000")},
        {"threads", std::to_string(options.threads)}});
}

}  // namespace

void MeasureInput(const Options& options, const InputOptions& input) {
  const TemporaryDirectory work;
  const std::string records = JoinPath(work.path(), "records");
  for (const int64_t batch : options.batches) {
    if (!input.csv_only) {
      MeasureRecords(options, input, records);
      MeasureRecordPipelines(options, records, batch);
    }
    if (!input.data.empty()) MeasureCsv(options, input.data, work.path(), input.copies, batch);
  }
}

}  // namespace sextant::bench
