// oneDNN inside our thread team. This is the only place that knows which version it is: kernels say
// `onednn::Engine()`, `onednn::Stream()` and build primitives with the dnnl.hpp included here.
//
// Debian's oneDNN shares its work out with OpenMP. Here each thread of the team calls it for its
// own part of the work, so in those threads OpenMP must start no threads: Stream() sees to that.
#pragma once

#include <dnnl.hpp>

namespace sextant::onednn {

// The CPU engine of the process. Thread-safe.
const dnnl::engine& Engine();

// A stream of the calling thread, in which primitives run on that thread alone.
dnnl::stream& Stream();

// Makes oneDNN (all of OpenMP) single-threaded in the calling thread, for good. Stream() does so;
// only calls that take no stream, such as dnnl::sgemm and the creation of primitives, need it
// before.
void SingleThreaded();

}  // namespace sextant::onednn
