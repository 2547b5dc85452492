// Chapter 5: from raw columns to a wide and deep model.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;
namespace columns = sx::columns;

// Who buys: young people buy toys, old ones books. Most of the time.
sx::data::Dataset Sales() {
  auto make = [] {
    return [i = int64_t{0}]() mutable -> std::optional<sx::data::Element> {
      if (i == 2000) return std::nullopt;
      const int64_t k = i++;
      const auto age = static_cast<float>(10 + 7 * k % 60);
      const std::string thing = k % 3 == 0 ? "book" : k % 3 == 1 ? "toy" : "chair";
      const bool buys = (thing == "toy" && age < 25) || (thing == "book" && age > 40);
      return sx::data::Element{
          {"age", age}, {"thing", thing}, {"label", int64_t{buys && k % 20 != 0}}};
    };
  };
  return sx::data::FromGenerator(make, "sales");
}

int main() {
  auto age = columns::Numeric("age");
  auto ages = columns::Bucketized(age, {18, 25, 30, 40, 50, 60});
  auto thing = columns::VocabularyList("thing", {"book", "toy", "chair"});
  auto both = columns::Crossed({ages, "thing"}, 100);

  auto estimator = sx::DNNLinearCombinedClassifier(
      {.linear_feature_columns = {ages, thing, both},
       .linear_optimizer = sx::train::Ftrl({.learning_rate = 0.1}),
       .dnn_feature_columns = {age, columns::Embedding(thing, {.dimension = 2})},
       .dnn_hidden_units = {16, 8}},
      {.model_dir = "runs/sales", .random_seed = 1});

  estimator.Train([] { return Sales().Repeat().Batch(50); }, {.max_steps = 400});
  auto metrics = estimator.Evaluate([] { return Sales().Batch(100); });
  fmt::print("baseline {:.2f}, with columns better than 0.9: {}\n", metrics["accuracy_baseline"],
             metrics["accuracy"] > 0.9);
  for (const auto& feature : columns::MakeParseExampleSpec({ages, thing, both})) {
    fmt::print("parses '{}'\n", feature.key);
  }
}
