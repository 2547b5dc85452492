#include "sextant/models/census_columns.h"

namespace sextant::models {
namespace {

using columns::FeatureColumn;

// Words are as in the files, where a space follows every comma. Their order is that of the ids.
FeatureColumn Words(const char* key, std::vector<std::string> words) {
  for (std::string& word : words) word.insert(0, " ");
  return columns::VocabularyList(key, std::move(words));
}

}  // namespace

CensusFeatureColumns CensusFeatures(int64_t embedding_size) {
  const FeatureColumn gender = Words("gender", {"Female", "Male"});
  const FeatureColumn race =
      Words("race", {"Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"});
  const FeatureColumn education =
      Words("education", {"Bachelors", "HS-grad", "11th", "Masters", "9th", "Some-college",
                          "Assoc-acdm", "Assoc-voc", "7th-8th", "Doctorate", "Prof-school",
                          "5th-6th", "10th", "1st-4th", "Preschool", "12th"});
  const FeatureColumn marital_status =
      Words("marital_status", {"Married-civ-spouse", "Divorced", "Married-spouse-absent",
                               "Never-married", "Separated", "Married-AF-spouse", "Widowed"});
  const FeatureColumn relationship =
      Words("relationship",
            {"Husband", "Not-in-family", "Wife", "Own-child", "Unmarried", "Other-relative"});
  const FeatureColumn workclass =
      Words("workclass", {"Self-emp-not-inc", "Private", "State-gov", "Federal-gov", "Local-gov",
                          "?", "Self-emp-inc", "Without-pay", "Never-worked"});
  const FeatureColumn occupation = columns::HashBucket("occupation", 100);
  const FeatureColumn native_country = columns::HashBucket("native_country", 100);
  const FeatureColumn age = columns::Numeric("age");
  const FeatureColumn age_buckets =
      columns::Bucketized(age, {18, 25, 30, 35, 40, 45, 50, 55, 60, 65});

  return {
      .wide = {columns::Crossed({"education", "occupation"}, 10000),
               columns::Crossed({age_buckets, "race", "occupation"}, 1000000),
               columns::Crossed({"native_country", "occupation"}, 10000), gender, native_country,
               education, occupation, workclass, marital_status, relationship, age_buckets},
      .deep = {columns::Indicator(workclass), columns::Indicator(education),
               columns::Indicator(marital_status), columns::Indicator(gender),
               columns::Indicator(relationship), columns::Indicator(race),
               columns::Embedding(native_country, {.dimension = embedding_size}),
               columns::Embedding(occupation, {.dimension = embedding_size}), age,
               columns::Numeric("education_num"), columns::Numeric("capital_gain"),
               columns::Numeric("capital_loss"), columns::Numeric("hours_per_week")}};
}

std::vector<data::CsvColumn> CensusRequestColumns() {
  std::vector<data::CsvColumn> columns;
  for (const char* name : {"gender", "race", "education", "marital_status", "relationship",
                           "workclass", "occupation", "native_country"}) {
    columns.push_back({.name = name, .dtype = DType::kString});
  }
  for (const char* name :
       {"age", "education_num", "capital_gain", "capital_loss", "hours_per_week"}) {
    columns.push_back({.name = name, .dtype = DType::kFloat});
  }
  return columns;
}

const std::vector<std::string>& CensusClasses() {
  static const std::vector<std::string> classes = {" <=50K", " >50K"};
  return classes;
}

}  // namespace sextant::models
