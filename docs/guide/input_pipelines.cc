// Chapter 2: where batches come from.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

sx::data::Element Doubled(sx::data::Element element) {
  const float x = element["x"].scalar<float>();
  element.Set("x", sx::Tensor(2 * x));
  return element;
}

int main() {
  const std::string path = "people.csv";
  sx::FileSystem::ForPath(path).WriteFileAtomically(path, "Ada,36\nBlaise,39\nCarl,77\nEmmy,53\n");

  auto people = sx::data::Csv(
      {path}, {.columns = {{"name", sx::DType::kString}, {"age", sx::DType::kInt32}}});
  auto batches = people.Shuffle(4, {.seed = 1}).Repeat(2).Batch(3);
  auto it = batches.MakeIterator();
  sx::data::Element batch;
  it->Next(&batch);
  fmt::print("a batch: {}\n", batch.Describe());
  int64_t rows = batch["age"].num_elements();
  while (it->Next(&batch)) rows += batch["age"].num_elements();
  fmt::print("{} rows in two passes\n", rows);

  auto numbers = sx::data::FromTensorSlices({{"x", sx::Tensor::Of<float>({1, 2, 3, 4, 5})}})
                     .Map(Doubled)
                     .Filter([](const sx::data::Element& e) { return e["x"].scalar<float>() > 3; })
                     .Prefetch();
  for (auto walk = numbers.MakeIterator(); walk->Next(&batch);) {
    fmt::print("{} ", batch["x"].scalar<float>());
  }
  fmt::print("\n");

  // A position is bytes: another iterator, of another process too, goes on from there.
  auto first = people.MakeIterator();
  first->Next(&batch);
  first->Next(&batch);
  auto second = people.MakeIterator();
  second->RestoreState(first->SaveState());
  second->Next(&batch);
  fmt::print("the third is {}\n", batch["name"].scalar<std::string>());
}
