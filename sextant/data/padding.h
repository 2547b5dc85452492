// Padder: pads elements of unequal shapes to one batch.
#pragma once

#include <span>
#include <string>

#include "sextant/data/dataset.h"

namespace sextant::data {

class Padder {
 public:
  // `what` names the transformation in errors.
  Padder(std::string what, PaddedBatchOptions options)
      : what_(std::move(what)), options_(std::move(options)) {}

  // Puts the elements in *batch, whose buffers are used again. Every field is padded at the ends of
  // its dimensions to the longest of the elements or the shape asked for. Throws INVALID_ARGUMENT
  // when elements differ in names, types or ranks, or are longer than asked for.
  void Batch(std::span<Element> rows, Element* batch) const;
  // Of a batch of `size` (-1: unknown) elements like these.
  ElementSpec BatchSpec(const ElementSpec& rows, int64_t size) const;
  // ",x=[3,-1]" of the shapes and values asked for.
  std::string Describe() const;

 private:
  const std::vector<int64_t>* WantedShape(const std::string& field) const;
  Shape PaddedShape(std::span<Element> rows, int field) const;
  void Fill(const std::string& field, Tensor* tensor) const;

  const std::string what_;
  const PaddedBatchOptions options_;
};

}  // namespace sextant::data
