#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "sextant/base/interrupt.h"
#include "sextant/datasets/random_draw.h"
#include "sextant/datasets/synthetic.h"

namespace sextant::datasets {
namespace {

// A value and how often it comes, in parts of the sum.
struct Choice {
  std::string_view value;
  double weight;
};

constexpr Choice kWorkclasses[] = {{"Private", 70},   {"Self-emp-not-inc", 8}, {"Local-gov", 6},
                                   {"?", 6},          {"State-gov", 4},        {"Self-emp-inc", 3},
                                   {"Federal-gov", 3}};
// In the order of education_num, from 1.
constexpr Choice kEducations[] = {
    {"Preschool", 0.2},  {"1st-4th", 0.5},     {"5th-6th", 1},       {"7th-8th", 2},
    {"9th", 1.6},        {"10th", 3},          {"11th", 3.6},        {"12th", 1.3},
    {"HS-grad", 32},     {"Some-college", 22}, {"Assoc-voc", 4},     {"Assoc-acdm", 3.3},
    {"Bachelors", 16.5}, {"Masters", 5.3},     {"Prof-school", 1.8}, {"Doctorate", 1.3}};
constexpr Choice kOccupations[] = {{"Prof-specialty", 13},
                                   {"Craft-repair", 13},
                                   {"Exec-managerial", 12},
                                   {"Adm-clerical", 12},
                                   {"Sales", 11},
                                   {"Other-service", 10},
                                   {"Machine-op-inspct", 6},
                                   {"?", 6},
                                   {"Transport-moving", 5},
                                   {"Handlers-cleaners", 4},
                                   {"Farming-fishing", 3},
                                   {"Tech-support", 3}};
constexpr Choice kRaces[] = {{"White", 85},
                             {"Black", 10},
                             {"Asian-Pac-Islander", 3},
                             {"Amer-Indian-Eskimo", 1},
                             {"Other", 1}};
constexpr Choice kSingles[] = {
    {"Never-married", 62}, {"Divorced", 26}, {"Widowed", 6}, {"Separated", 6}};
constexpr Choice kSingleHomes[] = {
    {"Not-in-family", 48}, {"Own-child", 30}, {"Unmarried", 19}, {"Other-relative", 3}};
constexpr Choice kCountries[] = {{"United-States", 91}, {"Mexico", 3},  {"?", 2},
                                 {"Philippines", 1},    {"Germany", 1}, {"Canada", 1},
                                 {"India", 1}};

size_t Pick(std::span<const Choice> choices, RandomDraw& random) {
  double sum = 0;
  for (const Choice& choice : choices) sum += choice.weight;
  double left = random.Uniform() * sum;
  for (size_t i = 0; i + 1 < choices.size(); ++i) {
    left -= choices[i].weight;
    if (left < 0) return i;
  }
  return choices.size() - 1;
}

std::string_view PickValue(std::span<const Choice> choices, RandomDraw& random) {
  return choices[Pick(choices, random)].value;
}

std::string Row(RandomDraw& random) {
  const int age = std::clamp(static_cast<int>(38.6 + 13.6 * random.Normal()), 17, 90);
  const auto education = static_cast<int>(Pick(kEducations, random));
  const bool male = random.Chance(0.67);
  const bool married = random.Chance(age < 25 ? 0.1 : 0.54);
  const int hours =
      random.Chance(0.47) ? 40 : std::clamp(static_cast<int>(41 + 14 * random.Normal()), 1, 99);
  const int gain = random.Chance(0.08) ? 1000 + random.Int(14000) : 0;
  const int loss = gain == 0 && random.Chance(0.05) ? 1000 + random.Int(1500) : 0;
  const double logit = -4.6 + 0.34 * (education + 1 - 10) + 0.028 * (age - 38) -
                       0.0011 * (age - 45) * (age - 45) + 2.6 * married + 0.03 * (hours - 40) +
                       3e-4 * gain + 4e-4 * loss + 1.5;
  const bool rich = random.Chance(1 / (1 + std::exp(-logit)));
  // One after another: the order in which a call's arguments are evaluated is the compiler's.
  const std::string_view workclass = PickValue(kWorkclasses, random);
  const int weight = 20000 + random.Int(400000);
  const std::string_view marriage = married ? "Married-civ-spouse" : PickValue(kSingles, random);
  const std::string_view occupation = PickValue(kOccupations, random);
  const std::string_view home =
      married ? (male ? "Husband" : "Wife") : PickValue(kSingleHomes, random);
  const std::string_view race = PickValue(kRaces, random);
  const std::string_view country = PickValue(kCountries, random);
  return fmt::format("{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}\n", age, workclass,
                     weight, kEducations[education].value, education + 1, marriage, occupation,
                     home, race, male ? "Male" : "Female", gain, loss, hours, country,
                     rich ? ">50K" : "<=50K");
}

}  // namespace

std::string SyntheticCensus(int64_t count, int64_t seed, int split) {
  RandomDraw random(seed, split);
  std::string rows;
  for (int64_t i = 0; i < count; ++i) {
    if (i % 1024 == 0) ThrowIfInterrupted();
    rows += Row(random);
  }
  return rows;
}

}  // namespace sextant::datasets
