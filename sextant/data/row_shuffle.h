// RowShuffle: the iterator of a Shuffle whose input has a row_format(). Its buffer is columns of
// values, and rows go through it in groups, from the input to a batch, without elements.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sextant/data/dataset_node.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/shuffle_draws.h"

namespace sextant::data {

// Gives the elements, and saves the state, of a ShuffleIterator.
class RowShuffle final : public NodeIterator {
 public:
  // The largest buffer: slots are numbered by uint32.
  static constexpr int64_t kMaxSize = UINT32_MAX;

  RowShuffle(std::unique_ptr<NodeIterator> input, const RowFormat& format, int64_t size,
             uint64_t seed);

  bool Next(Element* element) override;
  bool NextPending(PendingElement* pending) override;
  void NextRows(RowBatch& batch) override;
  void Save(StateWriter& writer) override;
  void Restore(StateReader& reader) override;

 private:
  // The values of one field, by slot.
  struct Column {
    bool strings;
    size_t width;  // of a row: its strings, or its bytes
    std::vector<std::string> texts;
    std::vector<char> bytes;
  };

  // Reads until one slot is free, or to the end.
  void Fill();
  // Reads up to `count` rows to read_, and notes the end of the input.
  void Read(int64_t count);
  // Puts the rows of read_ in the buffer and draws one after each, then `more`; drawn rows go to
  // the end of the batch.
  void Pass(int64_t more, RowBatch& batch);
  // Allocates what buffering and passing on this many rows needs, before they are read: no row is
  // lost when memory is exhausted.
  void MakeRoom(int64_t rows);
  // A free slot.
  uint32_t NewSlot();
  // Draws the slot of a buffered row, and frees it. REQUIRES: the buffer is not empty.
  uint32_t DrawSlot();
  bool DrawOne(uint32_t* slot);
  void PutElement(uint32_t slot, Element* element);
  void TakeElement(uint32_t slot, Element* element);

  const std::unique_ptr<NodeIterator> input_;
  const RowFormat& format_;
  const bool seekable_;  // origins are then positions
  const size_t size_;
  ShuffleDraws draws_;
  bool input_ended_ = false;
  std::vector<Column> columns_;
  std::vector<std::string> origins_;
  std::vector<uint32_t> order_;  // slots of the rows in the buffer
  std::vector<uint32_t> free_;
  uint32_t slots_ = 0;
  uint64_t slot_bytes_ = 2 * sizeof(uint32_t);  // of one slot, but for what strings hold
  uint64_t text_bytes_ = 0;                     // what they held when Fill read them
  RowBatch read_;
  std::vector<uint32_t> put_, drawn_;  // slots of the rows that Pass moves
  PendingElement pending_;
};

}  // namespace sextant::data
