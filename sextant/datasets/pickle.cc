#include "sextant/datasets/pickle.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "sextant/base/error.h"
#include "sextant/datasets/pickle_machine.h"

namespace sextant::datasets {

using Kind = PickleValue::Kind;

Pickle::Pickle(std::string_view bytes, std::string name) : name_(std::move(name)) {
  root_ = PickleMachine(bytes, *this).Run();
}

const PickleValue& Pickle::Get(const PickleValue& dict, std::string_view key) const {
  if (dict.kind != Kind::kDict) throw DataLoss("{} holds no dictionary", name_);
  for (size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& candidate = *dict.items[i];
    if (candidate.kind == Kind::kText && candidate.text == key) return *dict.items[i + 1];
  }
  throw DataLoss("{} has no entry '{}'", name_, key);
}

std::vector<int64_t> Pickle::Ints(const PickleValue& list) const {
  std::vector<int64_t> result;
  const bool is_list = list.kind == Kind::kList || list.kind == Kind::kTuple;
  if (!is_list || std::any_of(list.items.begin(), list.items.end(),
                              [](const PickleValue* item) { return item->kind != Kind::kInt; })) {
    throw DataLoss("{}: a list of whole numbers is not one", name_);
  }
  result.reserve(list.items.size());
  for (const PickleValue* item : list.items) result.push_back(item->number);
  return result;
}

// numpy pickles an array as _reconstruct(ndarray, (0,), b"b") with the state (version, shape,
// dtype, is_fortran, bytes), where dtype is dtype("u1", ...).
ByteMatrix Pickle::Bytes(const PickleValue& array) const {
  const auto wrong = [&](std::string_view why) {
    return DataLoss("{}: the array is not a matrix of bytes by rows: {}", name_, why);
  };
  if (array.kind != Kind::kObject || array.items.size() != 3 ||
      !array.items[0]->text.ends_with("multiarray _reconstruct")) {
    throw wrong("it is no numpy array");
  }
  const PickleValue& state = *array.items[2];
  if (state.kind != Kind::kTuple || state.items.size() != 5) throw wrong("its state is unknown");
  const std::vector<int64_t> shape = Ints(*state.items[1]);
  const PickleValue& dtype = *state.items[2];
  const bool is_dtype = dtype.kind == Kind::kObject && dtype.items.size() >= 2 &&
                        dtype.items[0]->text == "numpy dtype" && !dtype.items[1]->items.empty();
  if (!is_dtype || dtype.items[1]->items[0]->text != "u1") throw wrong("its dtype is not uint8");
  if (state.items[3]->kind != Kind::kBool || state.items[3]->number != 0) {
    throw wrong("it is in Fortran's order");
  }
  const PickleValue& bytes = *state.items[4];
  ByteMatrix matrix;
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0) throw wrong("it has not two dimensions");
  matrix.rows = shape[0];
  matrix.columns = shape[1];
  matrix.bytes = bytes.text;
  const auto size = static_cast<__int128>(shape[0]) * shape[1];
  if (bytes.kind != Kind::kText || size != static_cast<__int128>(bytes.text.size())) {
    throw wrong(fmt::format("{} bytes for {} by {}", bytes.text.size(), shape[0], shape[1]));
  }
  return matrix;
}

}  // namespace sextant::datasets
