// Multiply-add peak of the machine and the speed of memory copies: what the other workloads are
// measured against.
#include <immintrin.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "benchmarks/report.h"

namespace sextant::bench {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

volatile float sink;

// Independent multiply-adds in enough registers to hide their latency.
__attribute__((target("avx2,fma"))) double MultiplyAdd256() {
  constexpr int kRegisters = 12;
  __m256 a[kRegisters];
  for (int i = 0; i < kRegisters; ++i) a[i] = _mm256_set1_ps(static_cast<float>(i) * 0.1f);
  const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-3f);
  const double start = Now();
  double rounds = 0;
  while (Now() - start < 0.5) {
    for (int k = 0; k < 20000; ++k) {
#pragma GCC unroll 12
      for (int i = 0; i < kRegisters; ++i) a[i] = _mm256_fmadd_ps(a[i], x, y);
    }
    rounds += 20000;
  }
  const double seconds = Now() - start;
  for (const __m256& v : a) sink = sink + _mm256_cvtss_f32(v);
  return rounds * kRegisters * 16 / seconds / 1e9;
}

__attribute__((target("avx512f"))) double MultiplyAdd512() {
  constexpr int kRegisters = 24;
  __m512 a[kRegisters];
  for (int i = 0; i < kRegisters; ++i) a[i] = _mm512_set1_ps(static_cast<float>(i) * 0.1f);
  const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-3f);
  const double start = Now();
  double rounds = 0;
  while (Now() - start < 0.5) {
    for (int k = 0; k < 10000; ++k) {
#pragma GCC unroll 24
      for (int i = 0; i < kRegisters; ++i) a[i] = _mm512_fmadd_ps(a[i], x, y);
    }
    rounds += 10000;
  }
  const double seconds = Now() - start;
  for (const __m512& v : a) sink = sink + _mm512_cvtss_f32(v);
  return rounds * kRegisters * 32 / seconds / 1e9;
}

// Bytes read plus bytes written per second, in GB/s.
double Copy(size_t bytes) {
  std::vector<char> a(bytes, 1), b(bytes, 2);
  const double start = Now();
  double moved = 0;
  while (Now() - start < 0.3) {
    std::memcpy(b.data(), a.data(), bytes);
    std::memcpy(a.data(), b.data(), bytes);
    moved += 4.0 * static_cast<double>(bytes);
  }
  sink = a[bytes / 2];
  return moved / (Now() - start) / 1e9;
}

double OnThreads(int threads, const std::function<double()>& f) {
  std::vector<double> results(threads);
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back([&, i] { results[i] = f(); });
  for (std::thread& worker : workers) worker.join();
  double sum = 0;
  for (const double r : results) sum += r;
  return sum;
}

void Report(const Options& options, const char* metric, const char* mode, int threads,
            const std::function<double()>& f) {
  std::vector<double> values;
  for (int i = 0; i < options.repeats; ++i) values.push_back(OnThreads(threads, f));
  Emit("peak", metric, values, false,
       {{"mode", Quote(mode)}, {"threads", std::to_string(threads)}});
}

}  // namespace

void Peak(const Options& options) {
  const int all =
      options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  for (int threads = 1; threads <= all; threads = threads == 1 && all > 1 ? all : all + 1) {
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      Report(options, "GFLOP/s", "multiply-add, 256 bit", threads, MultiplyAdd256);
    }
    if (__builtin_cpu_supports("avx512f")) {
      Report(options, "GFLOP/s", "multiply-add, 512 bit", threads, MultiplyAdd512);
    }
    Report(options, "GB/s", "copy of 256 KB blocks, read + write", threads,
           [] { return Copy(256 << 10); });
    Report(options, "GB/s", "copy of 8 MB blocks, read + write", threads,
           [] { return Copy(8 << 20); });
    Report(options, "GB/s", "copy of 256 MB blocks, read + write", threads,
           [] { return Copy(256 << 20); });
  }
}

}  // namespace sextant::bench
