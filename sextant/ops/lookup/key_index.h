// KeyIndex: numbers distinct keys (int64_t or std::string) 0, 1, 2, ... in the order of insertion.
//
// Open addressing: a slot holds all of a short key, so that finding one touches a single cache
// line. Not synchronised.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sextant {

// What a slot holds of a key. The two ends and the size of a string make up all of it when it is
// short; "tail" of a longer one is a hash instead.
template <typename Key>
struct KeyWords {
  uint64_t value = 0;
  bool operator==(const KeyWords&) const = default;
};
template <>
struct KeyWords<std::string> {
  uint64_t head = 0, tail = 0, size = 0;
  bool operator==(const KeyWords&) const = default;
};

template <typename Key>
class KeyIndex {
 public:
  int64_t size() const { return static_cast<int64_t>(keys_.size()); }
  const std::vector<Key>& keys() const { return keys_; }  // by number

  // numbers[i] becomes the number of keys[i], -1 for one that is not there.
  void Find(const Key* keys, int64_t count, int64_t* numbers) const;
  // The number of the key, and whether it is new.
  std::pair<int64_t, bool> Add(const Key& key);
  // Returns the number that the key had, which the last key has from now on; -1 for one that is not
  // there.
  int64_t Remove(const Key& key);

 private:
  using Words = KeyWords<Key>;
  struct Slot {
    Words words;
    int64_t number = -1;
  };

  // The slot of the key, or the empty one where it goes. REQUIRES: there is an empty slot.
  size_t SlotOf(const Key& key, const Words& words) const;
  void Grow();

  std::vector<Slot> slots_;  // none, or a power of two
  std::vector<Key> keys_;
};

}  // namespace sextant
