// What the tests of sources share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/dataset.h"
#include "sextant/testing/status_of.h"

namespace sextant::data {

// Writes memory://name and returns that path.
inline std::string WriteMemoryFile(const std::string& name, std::string_view contents) {
  std::string path = "memory://" + name;
  FileSystem::ForPath(path).WriteFileAtomically(path, contents);
  return path;
}

inline std::vector<Element> AllOf(Iterator& iterator) {
  std::vector<Element> all;
  // A new element for each: what was returned must not be written over.
  for (Element element; iterator.Next(&element); element = {}) all.push_back(element);
  return all;
}
inline std::vector<Element> AllOf(const Dataset& dataset) { return AllOf(*dataset.MakeIterator()); }

// The strings of a field.
inline std::vector<std::string> StringsOf(const Dataset& dataset, const std::string& field) {
  std::vector<std::string> strings;
  for (const Element& element : AllOf(dataset)) {
    for (const std::string& text : element[field].flat<std::string>()) strings.push_back(text);
  }
  return strings;
}

inline void ExpectSame(const std::vector<Element>& actual, const std::vector<Element>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_TRUE(actual[i].Identical(expected[i]))
        << i << ": " << actual[i].Describe() << " and " << expected[i].Describe();
  }
}

// Saves after every number of elements and expects the others to follow.
inline void ExpectResumes(const Dataset& dataset) {
  const std::vector<Element> all = AllOf(dataset);
  for (size_t k = 0; k <= all.size(); ++k) {
    auto first = dataset.MakeIterator();
    Element element;
    for (size_t i = 0; i < k; ++i) ASSERT_TRUE(first->Next(&element));
    const std::string state = first->SaveState();
    auto second = dataset.MakeIterator();
    second->RestoreState(state);
    SCOPED_TRACE(k);
    ExpectSame(AllOf(*second), {all.begin() + static_cast<int64_t>(k), all.end()});
  }
}

// The message of the error that fn throws, with its code in front; "OK" where it throws none.
template <typename Fn>
std::string ErrorOf(const Fn& fn) {
  return sextant::StatusOf(fn).ToString();
}

}  // namespace sextant::data
