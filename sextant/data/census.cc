#include "sextant/data/census.h"

#include "sextant/base/error.h"
#include "sextant/data/named_file.h"

namespace sextant::data {
namespace {

CsvColumn Number(const char* name) { return {name, DType::kInt32, Tensor(int32_t{0})}; }
CsvColumn Text(const char* name) { return {name, DType::kString, Tensor("")}; }

}  // namespace

const std::vector<CsvColumn>& CensusColumns() {
  static const std::vector<CsvColumn> columns = {Number("age"),
                                                 Text("workclass"),
                                                 Number("fnlwgt"),
                                                 Text("education"),
                                                 Number("education_num"),
                                                 Text("marital_status"),
                                                 Text("occupation"),
                                                 Text("relationship"),
                                                 Text("race"),
                                                 Text("gender"),
                                                 Number("capital_gain"),
                                                 Number("capital_loss"),
                                                 Number("hours_per_week"),
                                                 Text("native_country"),
                                                 Text("income_bracket")};
  return columns;
}

Dataset Census(const std::string& split, const std::string& folder) {
  if (split != "train" && split != "test") {
    throw InvalidArgument("the census data has \"train\" and \"test\", not \"{}\"", split);
  }
  const std::string file = split == "train" ? "adult.data.csv" : "adult.test.csv";
  return Csv({NamedFile("census", folder, file)}, {.columns = CensusColumns()});
}

}  // namespace sextant::data
