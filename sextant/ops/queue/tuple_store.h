// TupleStore: what a queue holds and in which order it gives it. Not synchronised.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant {

using Tuple = std::vector<Tensor>;

class TupleStore {
 public:
  virtual ~TupleStore() = default;
  virtual void Push(Tuple tuple) = 0;
  // REQUIRES: size() > 0.
  virtual Tuple Pop() = 0;
  // Takes back what Pop gave last, in the order it gave it.
  virtual void PutBack(std::vector<Tuple> tuples) = 0;
  virtual int64_t size() const = 0;
};

// First in, first out.
std::unique_ptr<TupleStore> MakeFifoStore();
// A random one each time. As in TensorFlow, the next word of the seeds' stream modulo the size says
// which; the last one takes its place. Both seeds 0: another order every time.
std::unique_ptr<TupleStore> MakeShuffleStore(int64_t seed, int64_t seed2);
// The lowest first component, an int64 scalar, comes first; equal ones in the order they came.
std::unique_ptr<TupleStore> MakePriorityStore();

}  // namespace sextant
