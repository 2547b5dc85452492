#include "sextant/device/cpu/onednn.h"

// As OpenMP specifies it; <omp.h> is not there with every compiler.
extern "C" void omp_set_num_threads(int count);

namespace sextant::onednn {

const dnnl::engine& Engine() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

void SingleThreaded() {
  thread_local bool done = false;
  if (done) return;
  omp_set_num_threads(1);
  done = true;
}

dnnl::stream& Stream() {
  SingleThreaded();
  thread_local dnnl::stream stream(Engine());
  return stream;
}

}  // namespace sextant::onednn
