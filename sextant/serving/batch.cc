#include "sextant/serving/batch.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "sextant/base/thread_team.h"

namespace sextant::serving {
namespace {

// Copies rows of one element type and, where sizes differ, pads with the first element of "from".
void CopyRows(const Tensor& from, int64_t row, Tensor* to) {
  const int64_t from_size = from.dim(0) == 0 ? 0 : from.num_elements() / from.dim(0);
  const int64_t to_size = to->dim(0) == 0 ? 0 : to->num_elements() / to->dim(0);
  const int64_t rows = std::min(from.dim(0), to->dim(0) - row);
  if (from_size != to_size) throw Internal("rows of {} and {} elements", from_size, to_size);
  if (rows <= 0 || to_size == 0) return;
  if (from.dtype() == DType::kString) {
    std::copy_n(from.data<std::string>(), rows * from_size,
                to->data<std::string>() + row * to_size);
    return;
  }
  const size_t width = DTypeSize(from.dtype());
  std::memcpy(static_cast<char*>(to->raw_data()) + row * to_size * width, from.raw_data(),
              rows * from_size * width);
}

// Whether all sizes but the first are the same.
bool SameRows(const Shape& a, const Shape& b) {
  return std::ranges::equal(a.dims().subspan(1), b.dims().subspan(1));
}

// "value" with the sizes of "shape" behind the first, new elements being copies of the first.
Tensor Enlarged(const Tensor& value, const Shape& shape) {
  Shape wanted = shape;
  wanted.set_dim(0, value.dim(0));
  if (wanted == value.shape()) return value;
  Tensor larger(value.dtype(), wanted);
  const int rank = value.rank();
  std::vector<int64_t> index(rank, 0);
  const auto fill = [&]<typename T>(const T* from, T* to) {
    const T filler = value.num_elements() > 0 ? from[0] : T();
    for (int64_t i = 0; i < larger.num_elements(); ++i) {
      int64_t at = 0;
      bool inside = true;
      for (int k = 0; k < rank; ++k) {
        inside = inside && index[k] < value.dim(k);
        at = at * value.dim(k) + index[k];
      }
      to[i] = inside ? from[at] : filler;
      for (int k = rank - 1; k >= 0 && ++index[k] == wanted.dim(k); --k) index[k] = 0;
    }
  };
  if (value.dtype() == DType::kString) {
    fill(value.data<std::string>(), larger.data<std::string>());
  } else {
    switch (DTypeSize(value.dtype())) {
      case 1:
        fill(static_cast<const uint8_t*>(value.raw_data()),
             static_cast<uint8_t*>(larger.raw_data()));
        break;
      case 2:
        fill(static_cast<const uint16_t*>(value.raw_data()),
             static_cast<uint16_t*>(larger.raw_data()));
        break;
      case 4:
        fill(static_cast<const uint32_t*>(value.raw_data()),
             static_cast<uint32_t*>(larger.raw_data()));
        break;
      case 8:
        fill(static_cast<const uint64_t*>(value.raw_data()),
             static_cast<uint64_t*>(larger.raw_data()));
        break;
      default:
        throw Unimplemented("padding of {}", DTypeName(value.dtype()));
    }
  }
  return larger;
}

Tensor JoinedInput(const std::vector<BatchTask>& tasks, size_t input, int64_t rows) {
  const Tensor& first = tasks[0].request.inputs[input];
  if (!first.valid()) return {};
  Shape shape = first.shape();
  for (const BatchTask& task : tasks) {
    const Shape& own = task.request.inputs[input].shape();
    for (int i = 1; i < shape.rank(); ++i) {
      if (own.dim(i) > shape.dim(i)) shape.set_dim(i, own.dim(i));
    }
  }
  shape.set_dim(0, rows);
  Tensor joined(first.dtype(), shape);
  int64_t row = 0;
  for (const BatchTask& task : tasks) {
    const Tensor& own = task.request.inputs[input];
    if (SameRows(own.shape(), shape)) {
      CopyRows(own, row, &joined);
    } else {
      CopyRows(Enlarged(own, shape), row, &joined);
    }
    row += task.rows;
  }
  if (row == rows) return joined;
  const Tensor filler = Enlarged(first, shape).Rows(0, 1);
  for (; row < rows; ++row) CopyRows(filler, row, &joined);
  return joined;
}

int64_t PaddedSize(int64_t rows, std::span<const int64_t> sizes) {
  const auto found = std::ranges::lower_bound(sizes, rows);
  return found == sizes.end() ? rows : *found;
}

// The deadline reaches into the run where the run may be long: a timer costs as much as a short
// one.
RunOptions OptionsOf(const InferenceRequest& request, int64_t rows) {
  RunOptions options;
  if (request.deadline == Clock::time_point::max()) return options;
  const auto expected = request.signature->RunTime(rows);
  if (expected.count() > 0 && expected < std::chrono::milliseconds(2)) return options;
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(request.deadline - Clock::now());
  options.deadline = std::max(left, std::chrono::milliseconds(1));
  return options;
}

std::vector<Tensor> Compute(const InferenceRequest& request, std::span<const Tensor> inputs,
                            int64_t rows, bool share, BatchReport* report) {
  const size_t count =
      request.wanted.empty() ? request.signature->outputs().size() : request.wanted.size();
  std::vector<Tensor> outputs(count);
  std::optional<ThreadTeam::Alone> alone;
  if (!share) alone.emplace();
  const auto begun = Clock::now();
  request.signature->signature().Call(inputs, request.wanted, outputs, OptionsOf(request, rows));
  const auto time = Clock::now() - begun;
  request.signature->RecordRun(rows, time, share);
  report->run += time;
  return outputs;
}

void RunOne(BatchTask& task, bool share, BatchReport* report, FunctionRef<void()> computed) {
  Status status;
  std::vector<Tensor> outputs;
  try {
    outputs = Compute(task.request, task.request.inputs, task.rows, share, report);
  } catch (...) {
    status = CurrentStatus();
  }
  computed();
  task.done(status, std::move(outputs));
}

}  // namespace

int64_t RowsOf(const InferenceRequest& request) {
  if (!request.signature->batchable()) return 1;
  int64_t rows = -1;
  for (size_t i = 0; i < request.inputs.size(); ++i) {
    const Tensor& input = request.inputs[i];
    if (!input.valid()) continue;
    if (input.rank() == 0) return 1;  // the signature says why it does not fit
    if (rows >= 0 && input.dim(0) != rows) {
      throw InvalidArgument("input '{}' has {} rows, others have {}",
                            request.signature->inputs()[i].name, input.dim(0), rows);
    }
    rows = input.dim(0);
  }
  return std::max<int64_t>(1, rows);
}

bool Joinable(const InferenceRequest& a, const InferenceRequest& b, bool pad) {
  if (a.servable != b.servable || a.signature != b.signature || a.wanted != b.wanted) return false;
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    const Tensor &x = a.inputs[i], &y = b.inputs[i];
    if (x.dtype() != y.dtype() || x.rank() != y.rank() || !x.valid()) return false;
    for (int k = 1; k < x.rank() && !pad; ++k) {
      if (x.dim(k) != y.dim(k)) return false;
    }
    if (x.rank() == 0) return false;
  }
  return true;
}

Tensor Concatenated(const std::vector<std::vector<Tensor>>& parts, size_t output) {
  const Tensor& first = parts[0][output];
  Shape shape = first.shape();
  int64_t rows = 0;
  for (const auto& part : parts) rows += part[output].dim(0);
  shape.set_dim(0, rows);
  Tensor whole(first.dtype(), shape);
  int64_t at = 0;
  for (const auto& part : parts) {
    const Tensor& piece = part[output];
    if (piece.dtype() == DType::kString) {
      std::ranges::copy(piece.flat<std::string>(), whole.data<std::string>() + at);
    } else {
      std::copy_n(static_cast<const char*>(piece.raw_data()), piece.bytes(),
                  static_cast<char*>(whole.raw_data()) + at * DTypeSize(piece.dtype()));
    }
    at += piece.num_elements();
  }
  return whole;
}

BatchReport RunBatch(std::vector<BatchTask>& tasks, std::span<const int64_t> sizes, bool share,
                     Clock::time_point now, FunctionRef<void()> computed) {
  const InferenceRequest& first = tasks[0].request;
  BatchReport report{.servable = first.servable.get(),
                     .signature = first.signature,
                     .requests = static_cast<int64_t>(tasks.size())};
  for (const BatchTask& task : tasks) {
    report.rows += task.rows;
    report.queued = std::max<std::chrono::nanoseconds>(report.queued, now - task.arrived);
  }
  const bool batchable = first.signature->batchable();
  const int64_t padded = batchable ? PaddedSize(report.rows, sizes) : report.rows;
  if (tasks.size() == 1 && padded == report.rows) {
    RunOne(tasks[0], share, &report, computed);
    return report;
  }
  const auto run_each = [&] {
    computed();
    for (BatchTask& task : tasks) RunOne(task, share, &report, [] {});
  };
  std::vector<Tensor> outputs;
  try {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < first.inputs.size(); ++i) {
      inputs.push_back(JoinedInput(tasks, i, padded));
    }
    outputs = Compute(first, inputs, padded, share, &report);
  } catch (...) {  // one request may be at fault: each is told its own error
    run_each();
    return report;
  }
  const bool fits = std::ranges::all_of(
      outputs, [&](const Tensor& output) { return output.rank() > 0 && output.dim(0) == padded; });
  if (!fits) {
    first.signature->ForbidBatches();
    run_each();
    return report;
  }
  computed();
  report.padding = padded - report.rows;
  int64_t row = 0;
  for (BatchTask& task : tasks) {
    std::vector<Tensor> own;
    for (const Tensor& output : outputs) own.push_back(output.Rows(row, row + task.rows));
    row += task.rows;
    task.done(Status(), std::move(own));
  }
  return report;
}

}  // namespace sextant::serving
