#include "sextant/serving/rest_path.h"

#include <gtest/gtest.h>

#include "sextant/testing/status_of.h"

namespace sextant::serving {
namespace {

Code CodeOf(std::string_view method, std::string_view target) {
  return StatusOf([&] { ParseRestPath(method, target); }).code();
}

TEST(RestPath, TakesThePathsOfTheContract) {
  EXPECT_EQ(ParseRestPath("GET", "/v1/models/m").call, RestPath::Call::kStatus);
  EXPECT_EQ(ParseRestPath("GET", "/v1/models/m/metadata").call, RestPath::Call::kMetadata);
  const RestPath predict = ParseRestPath("POST", "/V1/Models/a%20b%2Fc/Versions/12:Predict");
  EXPECT_EQ(predict.call, RestPath::Call::kPredict);
  EXPECT_EQ(predict.model, "a b/c");
  EXPECT_EQ(predict.version, 12);
  const RestPath classify = ParseRestPath("POST", "/v1/models/m/labels/stable:classify?a=b");
  EXPECT_EQ(classify.label, "stable");
  EXPECT_EQ(classify.query, "a=b");
  EXPECT_EQ(classify.call, RestPath::Call::kClassify);
  EXPECT_EQ(ParseRestPath("POST", "/v1/models/m:regress").call, RestPath::Call::kRegress);
  EXPECT_EQ(ParseRestPath("GET", "/v1/models/m/versions/3/metadata").version, 3);
}

TEST(RestPath, RefusesAllOthers) {
  EXPECT_EQ(CodeOf("GET", "/"), Code::kNotFound);
  EXPECT_EQ(CodeOf("GET", "/favicon.ico"), Code::kNotFound);
  for (const char* target :
       {"/v1/", "/v1/models", "/v1/models/", "/v1/models/m/", "/v1/models/m/x",
        "/v1/models/:predict", "/v1/models/m/versions/", "/v1/models/m/versions/x",
        "/v1/models/m/versions/-1", "/v1/models/m/versions/99999999999999999999",
        "/v1/models/m/labels/", "/v1/models/%zz", "/v1/models/m%2", "/v1/models/m/metadata/x",
        "/v1/models/m:predict"}) {
    EXPECT_EQ(CodeOf("GET", target), Code::kInvalidArgument) << target;
  }
  for (const char* target : {"/v1/models/m", "/v1/models/m:predictx", "/v1/models/m/metadata",
                             "/v1/models/m:", "/v1/models/m:predict/"}) {
    EXPECT_EQ(CodeOf("POST", target), Code::kInvalidArgument) << target;
  }
  EXPECT_EQ(CodeOf("DELETE", "/v1/models/m"), Code::kInvalidArgument);
}

TEST(RestPath, ReadsQueries) {
  EXPECT_EQ(QueryValue("a=1&signature_name=x%20y", "signature_name"), "x y");
  EXPECT_EQ(QueryValue("a", "a"), "");
  EXPECT_EQ(QueryValue("", "a"), "");
}

}  // namespace
}  // namespace sextant::serving
