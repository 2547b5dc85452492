#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/random/distributions.h"
#include "sextant/ops/random/stateless_seed.h"

namespace sextant {
namespace {

Tensor& AllocateShaped(KernelContext& ctx) {
  CheckVector(ctx.input(0), "shape");
  return ctx.AllocateOutput(0, ShapeFromTensor(ctx.input(0)));
}

Philox KeyedStream(KernelContext& ctx) {
  return StreamOfKey(ctx.input(1), ctx.input(2), ctx.input(3));
}

template <auto fill>
void Seeded(KernelContext& ctx) {
  const Philox stream = StreamOfSeed(ctx.input(1));
  fill(ctx, stream, AllocateShaped(ctx));
}

template <auto fill>
void Keyed(KernelContext& ctx) {
  const Philox stream = KeyedStream(ctx);
  fill(ctx, stream, AllocateShaped(ctx));
}

void SeededUniformInt(KernelContext& ctx) {
  const Philox stream = StreamOfSeed(ctx.input(1));
  FillUniformInt(ctx, stream, ctx.input(2), ctx.input(3), AllocateShaped(ctx));
}

void KeyedUniformInt(KernelContext& ctx) {
  const Philox stream = KeyedStream(ctx);
  FillUniformInt(ctx, stream, ctx.input(4), ctx.input(5), AllocateShaped(ctx));
}

void GetKeyCounter(KernelContext& ctx) {
  const Philox stream = StreamOfSeed(ctx.input(0));
  *ctx.AllocateOutput(0, {1}).data<uint64_t>() = stream.key();
  auto* counter = ctx.AllocateOutput(1, {2}).data<uint64_t>();
  counter[0] = stream.counter().low;
  counter[1] = stream.counter().high;
  if (ctx.num_outputs() == 3) *ctx.AllocateOutput(2, Shape()).data<int32_t>() = kPhiloxAlgorithm;
}

void GetAlgorithm(KernelContext& ctx) {
  *ctx.AllocateOutput(0, Shape()).data<int32_t>() = kPhiloxAlgorithm;
}

}  // namespace

void RegisterStatelessRandomCpu(KernelRegistry& registry) {
  const auto add = [&](const char* op, void (*function)(KernelContext&)) {
    registry.Add(KernelDef(op).Function(function));
  };
  add("StatelessRandomUniform", Seeded<FillUniform>);
  add("StatelessRandomUniformV2", Keyed<FillUniform>);
  add("StatelessRandomNormal", Seeded<FillNormal>);
  add("StatelessRandomNormalV2", Keyed<FillNormal>);
  add("StatelessTruncatedNormal", Seeded<FillTruncatedNormal>);
  add("StatelessTruncatedNormalV2", Keyed<FillTruncatedNormal>);
  add("StatelessRandomUniformInt", SeededUniformInt);
  add("StatelessRandomUniformIntV2", KeyedUniformInt);
  add("StatelessRandomUniformFullInt", Seeded<FillFullInt>);
  add("StatelessRandomUniformFullIntV2", Keyed<FillFullInt>);
  add("StatelessRandomGetKeyCounter", GetKeyCounter);
  add("StatelessRandomGetKeyCounterAlg", GetKeyCounter);
  add("StatelessRandomGetAlg", GetAlgorithm);
}

}  // namespace sextant
