#include "sextant/device/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sextant/base/error.h"
#include "sextant/base/thread_team.h"
#include "sextant/device/run_wait.h"

namespace sextant {
namespace {

// Waking the team and waiting for it costs a few microseconds: a shard must be worth it.
constexpr double kMinShardNanoseconds = 5'000;

// The elements of "from" written over those of "to", which has as many of the same type.
void CopyElements(const Tensor& from, Tensor& to) {
  switch (from.dtype()) {
    case DType::kString:
      std::ranges::copy(from.flat<std::string>(), to.data<std::string>());
      break;
    case DType::kResource:
      std::ranges::copy(from.flat<ResourceHandle>(), to.data<ResourceHandle>());
      break;
    case DType::kVariant:
      std::ranges::copy(from.flat<Variant>(), to.data<Variant>());
      break;
    default:
      if (from.bytes() > 0 && from.raw_data() != to.raw_data()) {
        std::memcpy(to.raw_data(), from.raw_data(), from.bytes());
      }
  }
}

size_t OffsetInBuffer(const Tensor& t) {
  return static_cast<size_t>(static_cast<const char*>(t.raw_data()) -
                             static_cast<const char*>(t.buffer()->data()));
}

}  // namespace

Tensor& KernelContext::AllocateDynamic(int i, const Shape& shape) {
  Tensor& slot = slots_[io_->outputs[i]];
  const DType dtype = io_->output_types[i];
  if (io_->in_place[i] >= 0 && IsPlain(dtype)) {
    const Tensor& in = input(io_->in_place[i]);
    if (in.unique() && !in.buffer()->transient() && IsPlain(in.dtype()) &&
        in.bytes() == static_cast<size_t>(shape.num_elements()) * DTypeSize(dtype)) {
      return slot = Tensor(dtype, shape, in.buffer(), OffsetInBuffer(in));
    }
  }
  return slot = Tensor(dtype, shape, *run_.allocator);
}

void KernelContext::ForwardInput(int j, int i, const Shape& shape) {
  const Tensor& in = input(j);
  if (io_->alias[i] != j) return SetOutput(i, in.Reshaped(shape));
  provided_ |= Bit(i);
  Tensor& slot = slots_[io_->outputs[i]];
  if (io_->prepared[i]) {
    if (!(slot.shape() == shape)) ThrowShapeMismatch(i, shape);
    return CopyElements(in, slot);
  }
  slot = in.Reshaped(shape);
}

void KernelContext::SetOutput(int i, Tensor value) {
  Tensor& slot = slots_[io_->outputs[i]];
  if (value.dtype() != io_->output_types[i]) {
    throw Internal("output {} is declared {}, the kernel gave {}", i,
                   DTypeName(io_->output_types[i]), value.Describe());
  }
  provided_ |= Bit(i);
  if (io_->prepared[i]) {
    if (!(slot.shape() == value.shape())) ThrowShapeMismatch(i, value.shape());
    CopyElements(value, slot);
  } else if (value.buffer()->transient()) {
    slot = value.Clone(*run_.allocator);
  } else {
    slot = std::move(value);
  }
}

Tensor KernelContext::TakeInput(int i) {
  Tensor& slot = slots_[io_->inputs[i]];
  if (!io_->last_use[i] || slot.buffer()->transient() ||
      std::ranges::count(io_->inputs, io_->inputs[i]) > 1) {
    return slot;
  }
  return std::move(slot);
}

Tensor KernelContext::AllocateTemp(DType dtype, const Shape& shape) {
  return Tensor(dtype, shape, *run_.allocator);
}

void KernelContext::ParallelFor(int64_t total, double cost,
                                FunctionRef<void(int64_t, int64_t)> body) {
  if (total <= 0) return;
  if (static_cast<double>(total) * cost < 2 * kMinShardNanoseconds || threads() == 1) {
    return body(0, total);
  }
  const auto grain = static_cast<int64_t>(std::ceil(kMinShardNanoseconds / cost));
  if (run_.max_threads == 0) return run_.team->ParallelFor(total, grain, body);
  const ThreadTeam::Limit limit(run_.max_threads);
  run_.team->ParallelFor(total, grain, body);
}

int KernelContext::threads() const {
  if (run_.team == nullptr) return 1;
  return run_.max_threads > 0 ? std::min(run_.max_threads, run_.team->size()) : run_.team->size();
}

RunWait KernelContext::wait() { return RunWait(*run_.cancellation, run_.turn); }

void KernelContext::FindMissingOutput() const {
  for (int i = 0; i < num_outputs(); ++i) {
    const bool tracked = static_cast<size_t>(i) < kTrackedOutputs;
    if (tracked ? (provided_ & Bit(i)) == 0 : !slots_[io_->outputs[i]].valid()) {
      throw Internal("the kernel has not set output {} of {}", i, num_outputs());
    }
  }
}

void KernelContext::ThrowShapeMismatch(int i, const Shape& shape) const {
  throw Internal("output {} was planned as {}, the kernel makes {}", i,
                 slots_[io_->outputs[i]].shape().ToString(), shape.ToString());
}

}  // namespace sextant
