#include "sextant/device/cpu/onednn.h"

#include <omp.h>

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
