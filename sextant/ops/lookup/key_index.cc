#include "sextant/ops/lookup/key_index.h"

#include <algorithm>

#include "sextant/base/coding.h"
#include "sextant/base/fingerprint.h"

namespace sextant {
namespace {

constexpr size_t kShort = 16;  // bytes that two words hold

KeyWords<int64_t> WordsOf(int64_t key) { return {static_cast<uint64_t>(key)}; }

KeyWords<std::string> WordsOf(const std::string& key) {
  const char* const bytes = key.data();
  const size_t n = key.size();
  if (n > kShort) return {DecodeFixed64(bytes), Fingerprint64(key), n};
  if (n >= 8) return {DecodeFixed64(bytes), DecodeFixed64(bytes + n - 8), n};
  if (n >= 4) return {DecodeFixed32(bytes), DecodeFixed32(bytes + n - 4), n};
  if (n == 0) return {};
  const auto byte = [&](size_t i) { return uint64_t{static_cast<unsigned char>(bytes[i])}; };
  return {byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16, 0, n};
}

size_t SlotHash(const KeyWords<int64_t>& words) {
  const uint64_t x = (words.value ^ (words.value >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 29);
}

size_t SlotHash(const KeyWords<std::string>& words) {
  const auto product = static_cast<unsigned __int128>(words.head ^ 0x9e3779b97f4a7c15u) *
                       ((words.tail + words.size) ^ 0xd6e8feb86659fd93u);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Whether keys with equal words are equal.
bool Same(int64_t, int64_t) { return true; }
bool Same(const std::string& a, const std::string& b) { return a.size() <= kShort || a == b; }

}  // namespace

template <typename Key>
size_t KeyIndex<Key>::SlotOf(const Key& key, const Words& words) const {
  const size_t mask = slots_.size() - 1;
  size_t at = SlotHash(words) & mask;
  while (slots_[at].number >= 0 &&
         !(slots_[at].words == words && Same(key, keys_[slots_[at].number]))) {
    at = (at + 1) & mask;
  }
  return at;
}

template <typename Key>
void KeyIndex<Key>::Find(const Key* keys, int64_t count, int64_t* numbers) const {
  if (slots_.empty()) {
    std::fill_n(numbers, count, -1);
    return;
  }
  for (int64_t i = 0; i < count; ++i) numbers[i] = slots_[SlotOf(keys[i], WordsOf(keys[i]))].number;
}

template <typename Key>
std::pair<int64_t, bool> KeyIndex<Key>::Add(const Key& key) {
  if (4 * (keys_.size() + 1) > 3 * slots_.size()) Grow();
  const Words words = WordsOf(key);
  Slot& slot = slots_[SlotOf(key, words)];
  if (slot.number >= 0) return {slot.number, false};
  slot = {words, size()};
  keys_.push_back(key);
  return {slot.number, true};
}

template <typename Key>
int64_t KeyIndex<Key>::Remove(const Key& key) {
  if (slots_.empty()) return -1;
  const size_t mask = slots_.size() - 1;
  size_t hole = SlotOf(key, WordsOf(key));
  const int64_t number = slots_[hole].number;
  if (number < 0) return -1;
  slots_[SlotOf(keys_.back(), WordsOf(keys_.back()))].number = number;
  // Entries that were pushed past the hole move up.
  for (size_t at = (hole + 1) & mask; slots_[at].number >= 0; at = (at + 1) & mask) {
    const size_t home = SlotHash(slots_[at].words) & mask;
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole].number = -1;
  if (number != size() - 1) keys_[number] = std::move(keys_.back());
  keys_.pop_back();
  return number;
}

template <typename Key>
void KeyIndex<Key>::Grow() {
  std::vector<Slot> old(std::max<size_t>(8, 2 * slots_.size()));
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number < 0) continue;
    size_t at = SlotHash(slot.words) & mask;
    while (slots_[at].number >= 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

template class KeyIndex<int64_t>;
template class KeyIndex<std::string>;

}  // namespace sextant
