#include "sextant/data/pipelines_for_testing.h"

#include <random>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/tensor_sources.h"

namespace sextant::data {
namespace {

int64_t Value(const Element& e) { return e["value"].flat<int64_t>()[0]; }

Element Squared(Element e) {
  for (int64_t& v : e["value"].flat<int64_t>()) v *= v;
  return e;
}
Element Noisy(Element e, MapContext& context) {
  const auto block = context.random.Next();
  for (int64_t& v : e["value"].flat<int64_t>()) v = v * 1000 + block[0] % 1000;
  return e;
}
Element FailsAtSevens(Element e) {
  if (Value(e) % 7 == 0) throw InvalidArgument("{} is a multiple of 7", Value(e));
  return e;
}
// value % 5 numbers.
Element Ragged(Element e) {
  const int64_t n = Value(e);
  Tensor numbers(DType::kInt64, {n % 5});
  for (int64_t i = 0; i < n % 5; ++i) numbers.data<int64_t>()[i] = n * 10 + i;
  e.Set("numbers", numbers);
  e.Set("name", std::string(static_cast<size_t>(n % 30), 'x'));
  return e;
}
Dataset Countdown(const Element& e) {
  const int64_t n = Value(e);
  return Range(n * 100 + n % 4, n * 100, -1);
}
Dataset Shuffled(const Element& e) { return Countdown(e).Shuffle(3, {.seed = 4}); }
int64_t Length(const Element& e) { return e["numbers"].dim(0); }

Dataset Counting(int64_t count) {
  return FromGenerator([count] {
    return [count, i = int64_t{0}]() mutable -> std::optional<Element> {
      if (i == count) return std::nullopt;
      return Element{{"value", i++}};
    };
  });
}

}  // namespace

std::string Text(const Element& element) {
  std::string text;
  for (const auto& [name, tensor] : element.fields()) {
    text += fmt::format("{}:{}={} ", name, tensor.Describe(), tensor.ToString());
  }
  return text;
}

std::string NextText(Iterator& iterator) {
  Element element;
  try {
    return iterator.Next(&element) ? Text(element) : "end";
  } catch (const Error& error) {
    return std::string("error: ") + error.what();
  }
}

std::vector<std::string> Rest(Iterator& iterator, int limit) {
  std::vector<std::string> all;
  while (static_cast<int>(all.size()) < limit) {
    all.push_back(NextText(iterator));
    if (all.back() == "end") break;
  }
  return all;
}

std::vector<std::string> ElementTexts(const Dataset& dataset, int limit) {
  return Rest(*dataset.MakeIterator(), limit);
}

std::vector<int64_t> Values(const Dataset& dataset, const std::string& field) {
  std::vector<int64_t> values;
  const auto iterator = dataset.MakeIterator();
  for (Element e; iterator->Next(&e);) {
    const auto flat = e[field].flat<int64_t>();
    values.insert(values.end(), flat.begin(), flat.end());
  }
  return values;
}

namespace {

// What handles one element after another.
std::vector<Pipeline> ElementPipelines() {
  const MapOptions two{.parallel = 2}, tuned{.parallel = kAutotune, .seed = 5};
  const ShuffleOptions seeded{.seed = 7};
  const auto parts = [](bool ordered) {
    return InterleaveOptions{.cycle = 3, .block = 2, .parallel = 2, .ordered = ordered};
  };
  return {
      {"Range", [] { return Range(3, 20, 4); }},
      {"FromTensors",
       [] {
         return FromTensors({{"x", 1.5f}, {"s", "text"}});
       }},
      {"FromTensorSlices",
       [] {
         return FromTensorSlices({{"x", Tensor::Of<float>({2, 2}, {1, 2, 3, 4})}});
       }},
      {"FromGenerator", [] { return Counting(6); }},
      {"Map", [] { return Range(9).Map(Squared); }},
      {"MapRandom", [] { return Range(9).Map(Noisy, {.seed = 3}).Repeat(2); }},
      {"MapFailing", [] { return Range(20).Map(FailsAtSevens); }},
      {"ParallelMap", [=] { return Range(40).Map(Squared, two).Map(Noisy, tuned); }},
      {"ParallelMapFailing", [=] { return Range(40).Map(FailsAtSevens, two).Map(Squared, two); }},
      {"ParallelMapAnyOrder",
       [] { return Range(40).Map(Squared, {.parallel = 3, .ordered = false}); }, false},
      {"Filter",
       [] { return Range(20).Filter([](const Element& e) { return Value(e) % 3 == 1; }); }},
      {"FlatMap", [] { return Range(7).FlatMap(Countdown); }},
      {"Interleave", [] { return Range(9).Interleave(Countdown, {.cycle = 3, .block = 2}); }},
      {"InterleaveShuffled", [] { return Range(9).Interleave(Shuffled, {.cycle = 2}); }},
      {"InterleaveParallel", [=] { return Range(9).Interleave(Countdown, parts(true)); }},
      {"InterleaveFailing",
       [=] { return Range(9).Map(FailsAtSevens).Interleave(Countdown, parts(true)); }},
      {"InterleaveAnyOrder", [=] { return Range(9).Interleave(Countdown, parts(false)); }, false},
      {"Shuffle", [=] { return Range(20).Shuffle(6, seeded).Repeat(2); }},
      {"ShuffleUnseeded", [=] { return Range(10).Shuffle(6).Repeat(3); }},
      {"ShuffleMapped", [=] { return Range(20).Map(Squared).Shuffle(6, seeded); }},
      {"ShuffleRepeated", [=] { return Range(9).Repeat(2).Skip(1).Shuffle(6, seeded).Repeat(2); }},
      {"Repeat", [] { return Range(3).Repeat(3); }},
      {"RepeatNothing", [] { return Range(0).Repeat(); }},
  };
}

// What gathers several elements, or keeps them.
std::vector<Pipeline> GatheringPipelines(const std::string& folder) {
  const MapOptions two{.parallel = 2}, tuned{.parallel = kAutotune, .seed = 5};
  const ShuffleOptions seeded{.seed = 7};
  return {
      {"Batch", [] { return Range(20).Batch(6); }},
      {"BatchDrop", [] { return Range(20).Map(Squared).Batch(6, {.drop_remainder = true}); }},
      {"BatchFailing", [] { return Range(30).Map(FailsAtSevens).Batch(4); }},
      {"BatchRagged", [] { return Range(20).Map(Ragged).Batch(4); }},
      {"BatchParallel", [=] { return Range(40).Map(Noisy, tuned).Repeat(2).Batch(6); }},
      {"BatchParallelFailing", [=] { return Range(60).Map(FailsAtSevens, two).Batch(4); }},
      {"BatchParallelRagged", [=] { return Range(20).Map(Ragged, two).Batch(4); }},
      {"BatchParallelDrop",
       [=] { return Range(20).Map(Squared, two).Batch(6, {.drop_remainder = true}).Repeat(2); }},
      {"PaddedBatch", [] { return Range(14).Map(Ragged).PaddedBatch(4); }},
      {"BucketByLength",
       [] {
         return Range(30).Map(Ragged).BucketByLength(Length, {2, 4}, {2, 4, 3});
       }},
      {"Unbatch", [] { return Range(14).Batch(4).Unbatch(); }},
      {"Window", [] { return Range(12).Window(3, 2, 2); }},
      {"WindowGaps", [] { return Range(20).Window(2, 5); }},
      {"Prefetch", [] { return Range(20).Prefetch().Map(Squared).Prefetch(3); }},
      {"PrefetchBatch", [=] { return Range(60).Map(Noisy, tuned).Batch(7).Prefetch(); }},
      {"PrefetchFailing", [] { return Range(20).Map(FailsAtSevens).Prefetch(4); }},
      {"Cache", [=] { return Range(6).Shuffle(4, seeded).Cache().Repeat(3); }},
      {"CacheUnseeded", [=] { return Range(6).Shuffle(4).Cache().Shuffle(3).Repeat(3); }},
      {"CacheFailing", [=] { return Range(9).Map(FailsAtSevens).Cache().Repeat(2); }},
      {"CacheFile",
       [=] {
         const std::string path = JoinPath(folder, "cache");
         if (FileSystem::ForPath(path).Exists(path)) FileSystem::ForPath(path).Delete(path);
         return Range(6).Map(Squared).Cache(path).Repeat(3);
       }},
      {"Take", [] { return Range(10).Take(4).Repeat(2); }},
      {"Skip", [] { return Range(10).Skip(4); }},
      {"Shard", [] { return Range(10).Shard(3, 1); }},
      {"Zip",
       [=] {
         return Zip({Range(9), Range(5).Shuffle(3, seeded).Enumerate("n").Map([](Element e) {
                       e.Erase("value");
                       return e;
                     })});
       }},
      {"Concatenate", [=] { return Range(4).Concatenate(Range(9).Shuffle(3)).Repeat(2); }},
      {"Enumerate", [] { return Range(5).Enumerate("n", 10); }},
      {"IgnoreErrors", [] { return Range(30).Map(FailsAtSevens).IgnoreErrors({.budget = 3}); }},
  };
}

}  // namespace

std::vector<Pipeline> AllPipelines(const std::string& folder) {
  std::vector<Pipeline> all = ElementPipelines();
  for (Pipeline& pipeline : GatheringPipelines(folder)) all.push_back(std::move(pipeline));
  return all;
}

Pipeline RandomPipeline(int number) {
  return {fmt::format("random {}", number), [number] {
            std::minstd_rand random(static_cast<uint32_t>(number) + 1);
            const auto pick = [&](int n) { return static_cast<int>(random() / 7 % n); };
            Dataset d = pick(2) ? Range(5 + pick(25)) : Counting(5 + pick(25));
            for (int steps = 1 + pick(5); steps > 0; --steps) {
              switch (pick(17)) {
                case 0:
                  d = d.Map(Squared);
                  break;
                case 1:
                  d = d.Map(Noisy, {.parallel = 1 + pick(3), .seed = pick(9)});
                  break;
                case 2:
                  d = d.Map(FailsAtSevens, {.parallel = 1 + pick(2)});
                  break;
                case 3:
                  d = d.Filter([](const Element& e) { return Value(e) % 3 != 0; });
                  break;
                case 4:
                  d = d.Take(12).FlatMap(Countdown);
                  break;
                case 5:
                  d = d.Take(12).Interleave(
                      Shuffled,
                      {.cycle = 1 + pick(4), .block = 1 + pick(3), .parallel = 1 + pick(2)});
                  break;
                case 6:
                  d = d.Shuffle(1 + pick(12), {.seed = pick(5), .reshuffle = pick(2) == 0});
                  break;
                case 7:
                  d = d.Repeat(1 + pick(3)).Take(50);
                  break;
                case 8:
                  d = d.Batch(1 + pick(6), {.drop_remainder = pick(2) == 0});
                  break;
                case 9:
                  d = d.PaddedBatch(1 + pick(5));
                  break;
                case 10:
                  d = d.Batch(1 + pick(5)).Unbatch();
                  break;
                case 11:
                  d = d.Window(1 + pick(3), 1 + pick(4), 1 + pick(2)).Unbatch();
                  break;
                case 12:
                  d = d.Prefetch(1 + pick(5));
                  break;
                case 13:
                  d = d.Cache().Repeat(1 + pick(2)).Take(60);
                  break;
                case 14:
                  d = d.Skip(pick(4)).Shard(2, pick(2));
                  break;
                case 15:
                  d = d.Concatenate(d.Take(pick(5)));
                  break;
                case 16:
                  d = d.IgnoreErrors({.budget = pick(3)});
                  break;
              }
            }
            return d;
          }};
}

}  // namespace sextant::data
