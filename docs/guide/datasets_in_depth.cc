// Chapter 9: what the order of transformations does, and what it costs.
#include <fmt/core.h>

#include <atomic>
#include <ctime>
#include <string_view>

#include "sextant/sextant.h"

namespace sx = sextant;

// The numbers of a dataset, or of its batches, in the order in which they come.
std::string Order(const sx::data::Dataset& dataset) {
  std::string text;
  auto it = dataset.MakeIterator();
  for (sx::data::Element element; it->Next(&element);) {
    const sx::Tensor& values = element["value"];
    if (values.shape().rank() == 0) {
      text += fmt::format(" {}", values.scalar<int64_t>());
      continue;
    }
    text += " [";
    for (const int64_t value : values.flat<int64_t>()) {
      text += fmt::format("{}{}", text.ends_with('[') ? "" : " ", value);
    }
    text += "]";
  }
  return text;
}

void ShowOrders() {
  const auto six = sx::data::Range(6);
  fmt::print("shuffle, repeat:{}\n", Order(six.Shuffle(6, {.seed = 1}).Repeat(2)));
  fmt::print("repeat, shuffle:{}\n", Order(six.Repeat(2).Shuffle(6, {.seed = 1})));
  fmt::print("small buffer:{}\n", Order(sx::data::Range(12).Shuffle(3, {.seed = 1})));
  const auto five = sx::data::Range(5);
  fmt::print("batch, repeat:{}\n", Order(five.Batch(2).Repeat(2)));
  fmt::print("repeat, batch:{}\n", Order(five.Repeat(2).Batch(2)));
  fmt::print("drop remainder:{}\n", Order(five.Batch(2, {.drop_remainder = true})));
}

void ShowCombinations() {
  const auto small = sx::data::Range(3), large = sx::data::Range(10, 16);
  fmt::print("concatenate:{}\n", Order(small.Concatenate(large)));
  fmt::print("interleave:{}\n", Order(sx::data::Range(0, 40, 10).Interleave(
                                    [](const sx::data::Element& e) {
                                      const auto start = e["value"].scalar<int64_t>();
                                      return sx::data::Range(start, start + 3);
                                    },
                                    {.cycle = 2, .block = 2})));
  fmt::print("shard 1 of 3:{}\n", Order(large.Shard(3, 1)));
  fmt::print("skip, take:{}\n", Order(large.Skip(1).Take(2)));
  fmt::print("window:{}\n", Order(large.Window(3, 2)));
}

// A map is called for every element of every pass, unless a Cache behind it keeps what it gave.
void ShowCache() {
  std::atomic<int> calls = 0;
  const auto counted = sx::data::Range(6).Map([&calls](sx::data::Element element) {
    ++calls;
    return element;
  });
  Order(counted.Repeat(3));
  fmt::print("map, repeat: {} calls\n", calls.exchange(0));
  Order(counted.Cache().Repeat(3));
  fmt::print("map, cache, repeat: {} calls\n", calls.exchange(0));
}

void ShowParallelMap() {
  const auto squares = [](int parallel) {
    return sx::data::Range(100).Map(
        [](const sx::data::Element& element) {
          const auto x = element["value"].scalar<int64_t>();
          return sx::data::Element{{"value", sx::Tensor(x * x)}};
        },
        {.parallel = parallel});
  };
  fmt::print("four threads give the order of one: {}\n", Order(squares(4)) == Order(squares(1)));
}

void ShowResuming() {
  const auto dataset = sx::data::Range(6).Shuffle(6, {.seed = 1}).Repeat();
  auto first = dataset.MakeIterator();
  sx::data::Element element;
  std::string rest, again;
  for (int i = 0; i < 4; ++i) first->Next(&element);
  const std::string position = first->SaveState();
  auto second = dataset.MakeIterator();
  second->RestoreState(position);
  for (int i = 0; i < 5; ++i) {
    first->Next(&element);
    rest += fmt::format(" {}", element["value"].scalar<int64_t>());
    second->Next(&element);
    again += fmt::format(" {}", element["value"].scalar<int64_t>());
  }
  fmt::print("goes on with:{}; restored:{}\n", rest, again);
}

// Processor time that a pipeline takes for a batch, in microseconds: it does not depend on what
// else runs on the machine.
void Measure(std::string_view name, const sx::data::Dataset& dataset) {
  auto it = dataset.MakeIterator();
  const std::clock_t start = std::clock();
  int batches = 0;
  for (sx::data::Element batch; it->Next(&batch);) ++batches;
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  fmt::print("{:40} {:6.0f}\n", name, 1e6 * seconds / batches);
}

void MeasureOrders() {
  const std::string path = "images.tfrecords";
  sx::TFRecordWriter writer(path);
  for (int i = 0; i < 20000; ++i) {
    writer.Write(
        sx::ExampleBuilder().Bytes("image", std::string(3072, 'x')).Int64("label", i).Serialize());
  }
  writer.Close();
  const sx::data::ExampleSpec spec = {{.name = "image",
                                       .dtype = sx::DType::kString,
                                       .shape = {3, 32, 32},
                                       .decode_raw = sx::DType::kUInt8},
                                      {.name = "label", .dtype = sx::DType::kInt64}};
  const auto floats = [](const sx::data::Element& e) {
    return sx::data::Element{{"image", sx::data::HwcFloats(e["image"])}, {"label", e["label"]}};
  };
  const auto records = sx::data::TFRecordFiles({path});
  const sx::data::ShuffleOptions seed{.seed = 1};
  const auto parsed = records.ParseExamples(spec);
  Measure("batch", records.Batch(128));
  Measure("parse, batch", parsed.Batch(128));
  Measure("shuffle, parse, batch", records.Shuffle(10000, seed).ParseExamples(spec).Batch(128));
  Measure("parse, shuffle, batch", parsed.Shuffle(10000, seed).Batch(128));
  Measure("parse, map, batch", parsed.Map(floats).Batch(128));
  Measure("parse, map on 2 threads, batch", parsed.Map(floats, {.parallel = 2}).Batch(128));
  Measure("parse, batch, map", parsed.Batch(128).Map(floats));
  Measure("parse, map, repeat 4, batch", parsed.Map(floats).Repeat(4).Batch(128));
  Measure("parse, map, cache, repeat 4, batch", parsed.Map(floats).Cache().Repeat(4).Batch(128));
}

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--measure") {
    MeasureOrders();
    return 0;
  }
  ShowOrders();
  ShowCombinations();
  ShowCache();
  ShowParallelMap();
  ShowResuming();
}
