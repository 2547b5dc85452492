// A shuffle buffer of columns.
//
// The algorithm is that of a buffer of elements: fill `size` places; give the element at a place
// drawn at random, put the last of the buffer there, and the next of the input at the end. Here an
// element is a slot number in order_; its values lie in columns_[c] at that slot, so that drawing
// moves four bytes, and values move twice: from the input's batch to the slot, from there to the
// batch asked for.
//
//   order_ = [2 0 1]    columns_[0] = [b c a]    free_ = [3]
//   draw place 0: slot 2 ("a") goes to the batch;  order_ = [1 0], free_ = [3 2]
//
// Rows pass in groups (Pass): for i in the group, row i of the input goes to a free slot and one
// slot is drawn, exactly as one by one. The slots of the group are known before a value is moved,
// so each column is done in one loop, with the addresses to come prefetched; a slot that is put and
// drawn in the same group is read after it was written, because both are done in the order of i.
//
// Invariants: every slot below slots_ is in order_ or in free_, never in both. A draw is a Philox
// number by its count (shuffle_draws.h), so the state is that count and the rows in order_, in
// their order, as ShuffleIterator saves them: either iterator continues the state of the other.
// Where the input is seekable, a row is saved as its origin, which is its position in the source.
#include "sextant/data/row_shuffle.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "sextant/base/error.h"
#include "sextant/data/cancellable_loop.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/shuffle_limit.h"
#include "sextant/data/state.h"

namespace sextant::data {
namespace {

constexpr int64_t kShuffledAtOnce = 128;

// Not in small steps.
void Reserve(std::vector<uint32_t>& slots, size_t size) {
  if (slots.capacity() < size) slots.reserve(std::max(size, 2 * slots.capacity()));
}

// One field of rows: row i of `in` to slot put[i], then slot drawn[i] to row i of `out`, for each
// i.
void MoveStrings(const std::vector<uint32_t>& put, const std::vector<uint32_t>& drawn, size_t width,
                 std::string* slots, std::string* in, std::string* out) {
  for (const uint32_t slot : drawn) __builtin_prefetch(slots + slot * width);
  for (size_t i = 0; i < drawn.size(); ++i) {
    for (size_t k = 0; k < width; ++k) {
      if (i < put.size()) slots[put[i] * width + k].swap(in[i * width + k]);
      std::string& drawn_string = slots[drawn[i] * width + k];
      __builtin_prefetch(drawn_string.data());
      out[i * width + k].swap(drawn_string);
    }
  }
}

template <size_t kWidth>
void MoveBytes(const std::vector<uint32_t>& put, const std::vector<uint32_t>& drawn, size_t width,
               char* slots, const char* in, char* out) {
  const size_t size = kWidth > 0 ? kWidth : width;
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (i < put.size()) std::memcpy(slots + put[i] * size, in + i * size, size);
    std::memcpy(out + i * size, slots + drawn[i] * size, size);
  }
}

}  // namespace

RowShuffle::RowShuffle(std::unique_ptr<NodeIterator> input, const RowFormat& format, int64_t size,
                       uint64_t seed)
    : input_(std::move(input)),
      format_(format),
      seekable_(format.origins && input_->seekable() != nullptr),
      size_(static_cast<size_t>(size)),
      draws_{.seed = seed} {
  for (const RowField& field : format.fields) {
    const auto count = static_cast<size_t>(field.shape.num_elements());
    const bool strings = field.dtype == DType::kString;
    columns_.push_back({strings, strings ? count : count * DTypeSize(field.dtype), {}, {}});
    slot_bytes_ += count * (strings ? sizeof(std::string) : DTypeSize(field.dtype));
  }
  if (format.origins) slot_bytes_ += sizeof(std::string);
  read_.Reset(kShuffledAtOnce, {});
  read_.set_keeps_origins(format.origins);
}

void RowShuffle::MakeRoom(int64_t rows) {
  const auto count = static_cast<size_t>(rows);
  Reserve(put_, count);
  Reserve(drawn_, count);
  Reserve(order_, order_.size() + count);
  if (free_.size() >= count) return;
  const size_t slots = slots_ + count - free_.size();
  CheckShuffleBytes(slots, slots * slot_bytes_ + text_bytes_);
  for (Column& column : columns_) {
    if (column.strings) {
      column.texts.resize(slots * column.width);
    } else {
      column.bytes.resize(slots * column.width);
    }
  }
  if (format_.origins) origins_.resize(slots);
  Reserve(free_, slots);
  while (slots_ < slots) free_.push_back(slots_++);
}

uint32_t RowShuffle::NewSlot() {
  if (free_.empty()) MakeRoom(1);
  const uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

uint32_t RowShuffle::DrawSlot() {
  uint32_t& drawn = order_[draws_.Below(order_.size())];
  const uint32_t slot = drawn;
  drawn = order_.back();
  order_.pop_back();
  free_.push_back(slot);
  return slot;
}

void RowShuffle::Read(int64_t count) {
  read_.Restart(count);
  input_->NextRows(read_);
  input_ended_ = !read_.full();
}

void RowShuffle::Fill() {
  const CancellableLoop loop;
  while (!input_ended_ && order_.size() + 1 < size_) {
    loop.Turn();
    const auto count =
        std::min<int64_t>(kShuffledAtOnce, static_cast<int64_t>(size_ - 1 - order_.size()));
    MakeRoom(count);
    std::exception_ptr failure;
    try {
      Read(count);
    } catch (...) {  // the rows before it are read
      failure = std::current_exception();
    }
    for (int64_t i = 0; i < read_.rows(); ++i) {
      const uint32_t slot = NewSlot();
      order_.push_back(slot);
      for (size_t c = 0; c < columns_.size(); ++c) {
        Column& column = columns_[c];
        void* const row = read_.raw_row(static_cast<int>(c), i);
        if (column.strings) {
          std::string* const texts = column.texts.data() + slot * column.width;
          std::swap_ranges(texts, texts + column.width, static_cast<std::string*>(row));
          for (size_t k = 0; k < column.width; ++k) text_bytes_ += HeapBytes(texts[k]);
        } else {
          std::memcpy(column.bytes.data() + slot * column.width, row, column.width);
        }
      }
      if (format_.origins) {
        origins_[slot].swap(read_.origin(i));
        text_bytes_ += HeapBytes(origins_[slot]);
      }
    }
    if (failure) std::rethrow_exception(failure);
  }
}

void RowShuffle::NextRows(RowBatch& batch) {
  if (batch.capacity() > RowBatch::kMostRowsAtOnce || !batch.Prepare(format_.fields)) {
    return NodeIterator::NextRows(batch);
  }
  while (!batch.full()) {
    Fill();
    const int64_t wanted = std::min(kShuffledAtOnce, batch.capacity() - batch.rows());
    MakeRoom(wanted);
    if (format_.origins) batch.origin(batch.rows() + wanted - 1);
    std::exception_ptr failure;
    read_.Restart(0);
    try {
      if (!input_ended_) Read(wanted);
    } catch (...) {  // the rows before it are passed on
      failure = std::current_exception();
    }
    Pass(input_ended_ ? wanted - read_.rows() : 0, batch);
    if (failure) std::rethrow_exception(failure);
    if (input_ended_ && order_.empty()) return;
  }
}

void RowShuffle::Pass(int64_t more, RowBatch& batch) {
  put_.clear();
  drawn_.clear();
  for (int64_t i = read_.rows(); i > 0; --i) {
    put_.push_back(NewSlot());
    order_.push_back(put_.back());
    drawn_.push_back(DrawSlot());
  }
  for (; more > 0 && !order_.empty(); --more) drawn_.push_back(DrawSlot());
  if (drawn_.empty()) return;
  const int64_t first = batch.rows();
  for (size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    const int field = static_cast<int>(c);
    void* const in = put_.empty() ? nullptr : read_.raw_row(field, 0);
    void* const out = batch.raw_row(field, first);
    if (column.strings) {
      MoveStrings(put_, drawn_, column.width, column.texts.data(), static_cast<std::string*>(in),
                  static_cast<std::string*>(out));
      continue;
    }
    const auto move = column.width == 4   ? MoveBytes<4>
                      : column.width == 8 ? MoveBytes<8>
                                          : MoveBytes<0>;
    move(put_, drawn_, column.width, column.bytes.data(), static_cast<char*>(in),
         static_cast<char*>(out));
  }
  if (format_.origins) {
    MoveStrings(put_, drawn_, 1, origins_.data(), &read_.origin(0), &batch.origin(first));
  }
  batch.AddRows(static_cast<int64_t>(drawn_.size()));
}

bool RowShuffle::DrawOne(uint32_t* slot) {
  Fill();
  if (!input_ended_) {
    if (input_->NextPending(&pending_)) {
      const uint32_t put = NewSlot();
      PutElement(put, &pending_.element);
      if (format_.origins) origins_[put] = pending_.origin;
      order_.push_back(put);
    } else {
      input_ended_ = true;
    }
  }
  if (order_.empty()) return false;
  *slot = DrawSlot();
  return true;
}

bool RowShuffle::Next(Element* element) {
  uint32_t slot;
  if (!DrawOne(&slot)) return false;
  TakeElement(slot, element);
  return true;
}

bool RowShuffle::NextPending(PendingElement* pending) {
  pending->positions.clear();
  pending->finished = 0;
  uint32_t slot;
  if (!DrawOne(&slot)) return false;
  TakeElement(slot, &pending->element);
  if (format_.origins) {
    pending->origin = origins_[slot];
  } else {
    pending->origin.clear();
  }
  return true;
}

void RowShuffle::PutElement(uint32_t slot, Element* element) {
  auto& fields = element->fields();
  const bool same = std::ranges::equal(
      format_.fields, fields, [](const RowField& field, const Element::Field& other) {
        return field.name == other.first && field.dtype == other.second.dtype() &&
               field.shape == other.second.shape();
      });
  if (!same) throw DataLoss("a row to be shuffled is unlike the others: {}", element->Describe());
  for (size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    Tensor& tensor = fields[c].second;
    if (!column.strings) {
      std::memcpy(column.bytes.data() + slot * column.width, tensor.raw_data(), column.width);
      continue;
    }
    std::string* const row = column.texts.data() + slot * column.width;
    std::string* const from = tensor.data<std::string>();
    if (tensor.unique()) {
      std::swap_ranges(row, row + column.width, from);
    } else {
      std::copy_n(from, column.width, row);
    }
  }
}

void RowShuffle::TakeElement(uint32_t slot, Element* element) {
  element->fields().resize(columns_.size());
  for (size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    const RowField& field = format_.fields[c];
    auto& [name, tensor] = element->fields()[c];
    name = field.name;
    MakeOwn(&tensor, field.dtype, field.shape);
    if (column.strings) {
      std::string* const row = column.texts.data() + slot * column.width;
      std::swap_ranges(row, row + column.width, tensor.data<std::string>());
    } else {
      std::memcpy(tensor.raw_data(), column.bytes.data() + slot * column.width, column.width);
    }
  }
}

void RowShuffle::Save(StateWriter& writer) {
  writer.PutInt("draws", static_cast<int64_t>(draws_.count));
  writer.PutInt("input_ended", input_ended_);
  writer.PutInt("shuffle", static_cast<int64_t>(order_.size()));
  for (const uint32_t slot : order_) {
    if (seekable_) {
      writer.PutBytes("at", origins_[slot]);
    } else {
      Element element;
      TakeElement(slot, &element);
      writer.PutElement("element", element);
      PutElement(slot, &element);
    }
  }
  input_->Save(writer);
}

void RowShuffle::Restore(StateReader& reader) {
  draws_.count = static_cast<uint64_t>(reader.GetInt("draws"));
  input_ended_ = reader.GetInt("input_ended") != 0;
  for (int64_t i = reader.GetInt("shuffle"); i > 0; --i) {
    const uint32_t slot = NewSlot();
    if (seekable_) {
      origins_[slot] = reader.GetBytes("at");
    } else {
      Element element = reader.GetElement("element");
      PutElement(slot, &element);
    }
    if (reader.NextIs("positions") && reader.GetInt("positions") != 0) {
      throw DataLoss("a row in the saved buffer of a Shuffle has positions of its own");
    }
    order_.push_back(slot);
  }
  input_->Restore(reader);
  if (!seekable_) return;
  const CancellableLoop loop;
  for (const uint32_t slot : order_) {
    loop.Turn();
    Element element = input_->seekable()->ElementAt(origins_[slot]);
    PutElement(slot, &element);
  }
}

}  // namespace sextant::data
