#include "sextant/ops/lookup/key_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace sextant {
namespace {

template <typename Key>
int64_t NumberOf(const KeyIndex<Key>& index, const Key& key) {
  int64_t number = -2;
  index.Find(&key, 1, &number);
  return number;
}

TEST(KeyIndexTest, TellsStringsOfAllLengthsApart) {
  // Each differs from its neighbours in one byte, its length or what lies between its ends.
  std::vector<std::string> keys{""};
  for (size_t n = 1; n <= 40; ++n) {
    keys.emplace_back(n, '\0');
    keys.emplace_back(n, 'x');
    for (size_t i = 0; i < n; ++i) {
      keys.emplace_back(n, 'x');
      keys.back()[i] = 'y';
    }
  }
  KeyIndex<std::string> index;
  EXPECT_EQ(NumberOf(index, keys[0]), -1);
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(index.Add(keys[i]), (std::pair<int64_t, bool>(i, true))) << i;
  }
  EXPECT_EQ(index.keys(), keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(NumberOf(index, keys[i]), static_cast<int64_t>(i));
    EXPECT_EQ(index.Add(keys[i]), (std::pair<int64_t, bool>(i, false)));
  }
  EXPECT_EQ(NumberOf(index, std::string("not there")), -1);
}

// Adds and removes at random, beside a plain list of keys.
template <typename Key, typename Make>
void ChangeAtRandom(Make make) {
  std::mt19937 random(5);
  KeyIndex<Key> index;
  std::vector<Key> expected;
  for (int step = 0; step < 4000; ++step) {
    const Key key = make(random() % 150);
    const auto found = std::find(expected.begin(), expected.end(), key);
    const int64_t number = found == expected.end() ? -1 : found - expected.begin();
    ASSERT_EQ(NumberOf(index, key), number);
    if (random() % 2 == 0) {
      ASSERT_EQ(index.Remove(key), number);
      if (number < 0) continue;
      *found = expected.back();
      expected.pop_back();
    } else {
      const bool added = number < 0;
      ASSERT_EQ(index.Add(key), std::make_pair(added ? std::ssize(expected) : number, added));
      if (added) expected.push_back(key);
    }
    ASSERT_EQ(index.keys(), expected);
  }
}

TEST(KeyIndexTest, KeepsNumbersThroughChanges) {
  ChangeAtRandom<int64_t>([](uint32_t i) { return int64_t{i} * (int64_t{1} << 40) - 7; });
  ChangeAtRandom<std::string>([](uint32_t i) { return std::string(i % 30, 'a') + char(i); });
}

}  // namespace
}  // namespace sextant
