#include "sextant/device/cpu/onednn_units.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/device/cpu/thread_scratch.h"

namespace sextant::onednn {
namespace {

struct Scratchpad;

// Long enough to hide oneDNN's own cost of a call, short enough that a thread which another process
// holds up leaves most units to the others.
constexpr double kUnitNanoseconds = 400e3;

}  // namespace

UnitSplit UnitSplit::For(int64_t batch, double image_cost, int threads) {
  UnitSplit split{.batch = batch};
  const auto by_cost = static_cast<int64_t>(kUnitNanoseconds / std::max(1.0, image_cost));
  const int64_t by_threads = (batch + threads - 1) / std::max(1, threads);
  split.size = std::clamp<int64_t>(by_cost, 1, std::max<int64_t>(1, by_threads));
  return split;
}

UnitPrimitive::UnitPrimitive(dnnl::primitive primitive, const Args& args,
                             const dnnl::memory::desc& scratchpad, int threads)
    : primitive_(std::move(primitive)),
      scratchpad_bytes_(scratchpad.get_size()),
      threads_(threads) {
  for (PerThread& thread : threads_) {
    for (const auto& [arg, desc] : args) {
      thread.memories.push_back(dnnl::memory(desc, Engine(), DNNL_MEMORY_NONE));
      thread.args.push_back({arg, thread.memories.back().get()});
    }
    if (scratchpad_bytes_ == 0) continue;
    thread.memories.push_back(dnnl::memory(scratchpad, Engine(), DNNL_MEMORY_NONE));
    thread.args.push_back({DNNL_ARG_SCRATCHPAD, thread.memories.back().get()});
  }
}

void UnitPrimitive::Execute(int thread, std::initializer_list<const void*> data) {
  PerThread& own = threads_[thread];
  auto memory = own.memories.begin();
  for (const void* pointer : data) {
    dnnl_memory_set_data_handle((memory++)->get(), const_cast<void*>(pointer));
  }
  if (scratchpad_bytes_ != 0) {
    dnnl_memory_set_data_handle(
        memory->get(), ThreadScratch<Scratchpad, char>(static_cast<int64_t>(scratchpad_bytes_)));
  }
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive_.get(), Stream().get(), static_cast<int>(own.args.size()), own.args.data());
  if (status != dnnl_success)
    throw Internal("oneDNN failed with status {}", static_cast<int>(status));
}

dnnl::primitive_attr UserScratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

}  // namespace sextant::onednn
