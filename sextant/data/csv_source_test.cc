#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "sextant/data/csv_row_cutter.h"
#include "sextant/data/csv_separators.h"
#include "sextant/data/source_test_helpers.h"
#include "sextant/data/sources.h"

namespace sextant::data {
namespace {

CsvFileOptions ThreeColumns() {
  return {.columns = {{"n", DType::kInt32, Tensor(int32_t{-1})},
                      {"x", DType::kFloat},
                      {"s", DType::kString, Tensor("none")}}};
}

TEST(CsvSeparatorsTest, FindsWhatALoopFinds) {
  std::mt19937 random(1);
  for (size_t size = 0; size < 300; ++size) {
    std::string text(size, ' ');
    for (char& c : text) c = "ab;\n,\xbb"[random() % 6];
    if (size % 3 == 0 && size > 0) text[random() % size] = '"';
    std::vector<uint32_t> expected, found(size + 1);
    for (uint32_t i = 0; i < size; ++i) {
      if (text[i] == ';' || text[i] == '\n') expected.push_back(i);
    }
    CsvMarks marks;
    found.resize(FindSeparators(text, ';', found.data(), &marks));
    ASSERT_EQ(found, expected) << size;
    EXPECT_EQ(marks.lines, static_cast<size_t>(std::ranges::count(text, '\n'))) << size;
    EXPECT_EQ(marks.quotes, text.find('"') != std::string::npos) << size;
  }
}

TEST(CsvRowCutterTest, CutsAtLineEndsOutsideQuotes) {
  const std::string text = "a,b\n\"x\ny\",z\n\n\"\"\"\n\",q\nrest";
  const CutRows one = CutCsvRows(text, 1, ',', true, false);
  EXPECT_EQ(one.rows, 1);
  EXPECT_EQ(one.bytes, 4u);
  const CutRows three = CutCsvRows(text, 9, ',', true, false);
  EXPECT_EQ(three.rows, 3);
  EXPECT_EQ(three.bytes, text.size() - 4);
  EXPECT_EQ(three.lines, 6);
  EXPECT_EQ(CutCsvRows(text, 9, ',', true, true).rows, 4);
  EXPECT_EQ(CutCsvRows("a,\"open\nb\nc", 9, ',', true, false).rows, 0);
  EXPECT_EQ(CutCsvRows("a,\"open\nb\nc", 9, ',', false, true).rows, 3);
}

TEST(CsvTest, TypesColumnsAndFillsInDefaults) {
  const std::string path = WriteMemoryFile(
      "typed.csv", "1,2.5,abc\n -7 ,1e3,\"a \"\"b\"\", c\"\r\n\n,0.125,\n3000000000,1,x\n");
  auto iterator = Csv({path}, ThreeColumns()).MakeIterator();
  Element row;
  ASSERT_TRUE(iterator->Next(&row));
  EXPECT_EQ(row.Describe(), "n: int32[], x: float[], s: string[]");
  EXPECT_EQ(row["n"].scalar<int32_t>(), 1);
  EXPECT_EQ(row["x"].scalar<float>(), 2.5f);
  EXPECT_EQ(row["s"].scalar<std::string>(), "abc");
  ASSERT_TRUE(iterator->Next(&row));
  EXPECT_EQ(row["n"].scalar<int32_t>(), -7);
  EXPECT_EQ(row["x"].scalar<float>(), 1000.0f);
  EXPECT_EQ(row["s"].scalar<std::string>(), "a \"b\", c");
  ASSERT_TRUE(iterator->Next(&row));
  EXPECT_EQ(row["n"].scalar<int32_t>(), -1);
  EXPECT_EQ(row["x"].scalar<float>(), 0.125f);
  EXPECT_EQ(row["s"].scalar<std::string>(), "none");
  EXPECT_EQ(ErrorOf([&] { iterator->Next(&row); }),
            "INVALID_ARGUMENT: memory://typed.csv: line 5, column 'n': expected int32, found "
            "\"3000000000\"");
  EXPECT_FALSE(iterator->Next(&row));
}

TEST(CsvTest, ParsesAllTypes) {
  const std::string path = WriteMemoryFile("types.csv", "-9000000000|0.1|\"q\n3|.5|\"\n");
  const Dataset rows =
      Csv({path}, {.columns = {{"a", DType::kInt64}, {"b", DType::kDouble}, {"c", DType::kString}},
                   .delimiter = '|',
                   .quotes = false});
  Element batch;
  ASSERT_TRUE(rows.Batch(5).MakeIterator()->Next(&batch));
  EXPECT_TRUE(batch["a"].Identical(Tensor::Of<int64_t>({-9000000000, 3})));
  EXPECT_TRUE(batch["b"].Identical(Tensor::Of<double>({0.1, 0.5})));
  EXPECT_TRUE(batch["c"].Identical(Tensor::Of<std::string>({"\"q", "\""})));
}

TEST(CsvTest, NamesLineColumnAndWhatWasFound) {
  std::string text;
  for (int i = 1; i <= 6; ++i) text += "1,2,x\n";
  text += "1,oops,x\n1,2\n1,,x\n8,9,y\n";
  const std::string path = WriteMemoryFile("bad.csv", text);
  for (const bool batched : {false, true}) {
    const Dataset rows = Csv({path}, ThreeColumns());
    auto iterator = batched ? rows.Batch(4).MakeIterator() : rows.MakeIterator();
    std::vector<std::string> errors;
    int64_t good = 0;
    for (Element element;;) {
      try {
        if (!iterator->Next(&element)) break;
        good += element["n"].num_elements();
      } catch (const Error& e) {
        errors.push_back(e.message());
      }
    }
    EXPECT_EQ(good, 7);
    ASSERT_EQ(errors.size(), 3u);
    EXPECT_EQ(errors[0], "memory://bad.csv: line 7, column 'x': expected float, found \"oops\"");
    EXPECT_EQ(errors[1], "memory://bad.csv: line 8: expected 3 fields, found 2: \"1,2\"");
    EXPECT_EQ(errors[2],
              "memory://bad.csv: line 9, column 'x': expected float, found an empty field and no "
              "default");
  }
}

TEST(CsvTest, CountsLinesInQuotesAndReportsOpenOnes) {
  const std::string path = WriteMemoryFile("quotes.csv", "1,1,\"a\n\n\"\n2,b,c\n3,3,\"open\n");
  auto iterator = Csv({path}, ThreeColumns()).MakeIterator();
  Element row;
  ASSERT_TRUE(iterator->Next(&row));
  EXPECT_EQ(row["s"].scalar<std::string>(), "a\n\n");
  EXPECT_EQ(ErrorOf([&] { iterator->Next(&row); }),
            "INVALID_ARGUMENT: memory://quotes.csv: line 4, column 'x': expected float, found "
            "\"b\"");
  EXPECT_EQ(ErrorOf([&] { iterator->Next(&row); }),
            "INVALID_ARGUMENT: memory://quotes.csv: line 5: the quote at byte 4 is not closed");
  EXPECT_FALSE(iterator->Next(&row));
}

TEST(CsvTest, FindsColumnsByTheHeader) {
  const std::string a = WriteMemoryFile("head_a.csv", "x,skipped,n\n0.5,?,1\n");
  const std::string b = WriteMemoryFile("head_b.csv", "n,x\r\nNA,0.25\r\n");
  CsvFileOptions options = {
      .columns = {{"n", DType::kInt32, Tensor(int32_t{7})}, {"x", DType::kFloat}},
      .header = true,
      .na_value = "NA"};
  const Dataset rows = Csv({a, b}, options);
  Element batch;
  ASSERT_TRUE(rows.Batch(2).MakeIterator()->Next(&batch));
  EXPECT_TRUE(batch["n"].Identical(Tensor::Of<int32_t>({1, 7})));
  EXPECT_TRUE(batch["x"].Identical(Tensor::Of<float>({0.5f, 0.25f})));
  ExpectResumes(rows);
  options.columns[1].name = "y";
  EXPECT_EQ(ErrorOf([&] { AllOf(Csv({a}, options)); }),
            "INVALID_ARGUMENT: memory://head_a.csv: the header has no column 'y': "
            "\"x,skipped,n\"");
}

TEST(CsvTest, SkipsAByteOrderMark) {
  const std::vector<CsvColumn> columns = {{"n", DType::kInt32}, {"s", DType::kString}};
  const std::string rows = WriteMemoryFile("mark.csv",
                                           "\xef\xbb\xbf"
                                           "1,a\n2,b\n");
  EXPECT_EQ(AllOf(Csv({rows, rows}, {.columns = columns}))[2]["n"].scalar<int32_t>(), 1);
  ExpectResumes(Csv({rows, rows}, {.columns = columns}));
  const Dataset parsed = ParseCsv(TextLines({rows}), {.columns = columns});
  EXPECT_EQ(AllOf(parsed)[0]["n"].scalar<int32_t>(), 1);
  EXPECT_EQ(AllOf(parsed.Batch(2))[0]["n"].flat<int32_t>()[0], 1);
  const std::string blank = WriteMemoryFile("marked_blank.csv", "\xef\xbb\xbf\n3,c\n");
  const auto is_row = [](const Element& e) { return !e["line"].scalar<std::string>().empty(); };
  const Dataset third = ParseCsv(TextLines({blank}).Filter(is_row), {.columns = columns});
  EXPECT_EQ(StringsOf(third, "s"), std::vector<std::string>{"c"});
  EXPECT_EQ(StringsOf(third.Batch(3), "s"), std::vector<std::string>{"c"});
  const std::string named = WriteMemoryFile("marked_header.csv", "\xef\xbb\xbf\"s\",n\nb,2\n");
  EXPECT_EQ(StringsOf(Csv({named}, {.columns = columns, .header = true}), "s"),
            std::vector<std::string>{"b"});
}

TEST(CsvTest, SelectsColumns) {
  const std::string path = WriteMemoryFile("select.csv", "1,2,a\n3,4,b\n");
  CsvFileOptions options = ThreeColumns();
  options.select = {"s", "n"};
  Element row;
  ASSERT_TRUE(Csv({path}, options).MakeIterator()->Next(&row));
  EXPECT_EQ(row.Describe(), "s: string[], n: int32[]");
  options.select = {"t"};
  EXPECT_EQ(ErrorOf([&] { Csv({path}, options); }),
            "INVALID_ARGUMENT: Csv: column 't' is selected, but is not one of the columns");
}

// Random files with quotes, blank lines and both line ends: a batch has what its rows have, and a
// iterator resumes anywhere.
TEST(CsvTest, BatchesHoldTheirRows) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    std::string text;
    const int rows = static_cast<int>(random() % 600);
    for (int i = 0; i < rows; ++i) {
      const char* const strings[] = {"plain", "", "\"quoted, field\"", " Married-civ-spouse-absent",
                                     "\"two\nlines\""};
      const bool quotes = round % 2 == 0;
      text += fmt::format("{},{},{}{}", random() % 3 ? std::to_string(i - 50) : "",
                          static_cast<double>(random() % 100000) / 100,
                          strings[random() % (quotes ? 5 : 2)], random() % 4 ? "\n" : "\r\n");
      if (random() % 50 == 0) text += "\n";
    }
    const std::string path = WriteMemoryFile("random.csv", text);
    const Dataset dataset = Csv({path, path}, ThreeColumns());
    const std::vector<Element> elements = AllOf(dataset);
    ASSERT_EQ(elements.size(), static_cast<size_t>(2 * rows));
    ExpectSame(AllOf(dataset.Batch(128).Unbatch()), elements);
    if (rows < 40) ExpectResumes(dataset);
    if (rows < 400) ExpectResumes(dataset.Batch(37));
  }
}

TEST(CsvTest, ReusesBuffersThatNobodyHolds) {
  std::string text;
  for (int i = 0; i < 40; ++i) text += "1,2,a string that does not fit in itself\n";
  auto iterator =
      Csv({WriteMemoryFile("reuse.csv", text)}, ThreeColumns()).Batch(10).MakeIterator();
  Element batch;
  iterator->Next(&batch);
  const void* const column = batch["s"].raw_data();
  const void* const string = batch["s"].data<std::string>()[3].data();
  iterator->Next(&batch);
  EXPECT_EQ(batch["s"].raw_data(), column);
  EXPECT_EQ(batch["s"].data<std::string>()[3].data(), string);
  const Element kept = batch;
  iterator->Next(&batch);
  EXPECT_NE(batch["s"].raw_data(), column);
}

TEST(ParseCsvTest, ParsesLinesAndBatchesOfThem) {
  const std::string path = WriteMemoryFile("lines.csv", "1,2.5,a\n2,3.5,\"b,c\"\n");
  const Dataset lines = TextLines({path});
  const std::vector<Element> elements = AllOf(Csv({path}, ThreeColumns()));
  ExpectSame(AllOf(ParseCsv(lines, ThreeColumns())), elements);
  ExpectSame(AllOf(ParseCsv(lines.Batch(5), ThreeColumns()).Unbatch()), elements);
  WriteMemoryFile("bad_lines.csv", "1,2,abc\n1,x,y\n");
  const Dataset bad = ParseCsv(TextLines({"memory://bad_lines.csv"}), ThreeColumns());
  const std::string error =
      "INVALID_ARGUMENT: memory://bad_lines.csv, line at offset 8: row, column 'x': expected "
      "float, "
      "found \"x\"";
  EXPECT_EQ(ErrorOf([&] { AllOf(bad); }), error);
  EXPECT_EQ(ErrorOf([&] { AllOf(bad.Batch(4)); }), error);
}

// Of every call of Next: the elements given, or the error.
std::vector<std::string> Steps(const Dataset& dataset) {
  std::vector<std::string> steps;
  const auto iterator = dataset.MakeIterator();
  for (Element element;;) {
    try {
      if (!iterator->Next(&element)) return steps;
      steps.emplace_back();
      for (const auto& [name, tensor] : element.fields()) steps.back() += tensor.ToString();
    } catch (const Error& e) {
      steps.push_back(e.message());
    }
  }
}

// A Shuffle of rows gives what one of elements gives, which a Map in front of it makes it.
TEST(CsvTest, ShufflesRowsAsElements) {
  std::string text;
  for (int i = 0; i < 700; ++i) {
    text += i % 150 == 77 ? "bad,1,x\n" : fmt::format("{},{}.5,a string of its own {}\n", i, i, i);
  }
  const std::string path = WriteMemoryFile("shuffled.csv", text);
  const auto same = [](Element e) { return e; };
  for (const int64_t size : {1, 2, 130, 300, 5000}) {
    const ShuffleOptions seed{.seed = size};
    const Dataset rows = Csv({path}, ThreeColumns()), lines = TextLines({path});
    EXPECT_EQ(Steps(rows.Shuffle(size, seed)), Steps(rows.Map(same).Shuffle(size, seed)));
    EXPECT_EQ(Steps(rows.Shuffle(size, seed).Repeat(2).Batch(90)),
              Steps(rows.Map(same).Shuffle(size, seed).Repeat(2).Batch(90)));
    EXPECT_EQ(Steps(lines.Shuffle(size, seed).Batch(90)),
              Steps(lines.Map(same).Shuffle(size, seed).Batch(90)));
    EXPECT_EQ(
        Steps(ParseCsv(lines.Shuffle(size, seed).Repeat(2), ThreeColumns()).Batch(90)),
        Steps(ParseCsv(lines.Map(same).Shuffle(size, seed).Repeat(2), ThreeColumns()).Batch(90)));
  }
}

TEST(CsvTest, ResumesShuffledRows) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{}.5,{}\n", i, i, i % 7 ? "x" : "");
  const std::string path = WriteMemoryFile("resumed.csv", text);
  const Dataset rows = Csv({path}, ThreeColumns()), lines = TextLines({path});
  const ShuffleOptions seed{.seed = 3};
  ExpectResumes(rows.Shuffle(20, seed).Repeat(2));
  ExpectResumes(rows.Shuffle(20, seed).Batch(7));
  ExpectResumes(lines.Shuffle(20, seed));
  ExpectResumes(ParseCsv(lines.Skip(2).Shuffle(20, seed), ThreeColumns()).Batch(7));
  ExpectResumes(ParseCsv(lines, ThreeColumns()).Shuffle(20, seed).Batch(7));
}

TEST(CsvTest, RefusesOptionsThatContradict) {
  EXPECT_NE(ErrorOf([] { Csv({"f"}, {}); }).find("no columns"), std::string::npos);
  EXPECT_NE(ErrorOf([] {
              Csv({"f"}, {.columns = {{"a", DType::kBool}}});
            }).find("cannot be bool"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] {
              Csv({"f"}, {.columns = {{"a"}, {"a"}}});
            }).find("two columns"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] { Csv({"f"}, {.columns = {{"a"}}, .delimiter = '\n'}); }).find("delimiter"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::data
