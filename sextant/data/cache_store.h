// CacheStore: the elements of one complete iteration, in memory or in a file. For Cache.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sextant/data/element.h"

namespace sextant::data {

// Which iteration over the input the elements are of.
struct CacheOrigin {
  int64_t iteration = 0;
  uint64_t entropy = 0;
  bool operator==(const CacheOrigin&) const = default;
};

// Used by one thread at a time.
class CacheReader {
 public:
  virtual ~CacheReader() = default;
  virtual bool Next(Element* element) = 0;
  virtual CacheOrigin origin() const = 0;
};

// Used by one thread at a time. Destroyed without Commit it leaves nothing behind.
class CacheFiller {
 public:
  virtual ~CacheFiller() = default;
  virtual void Add(const Element& element) = 0;
  // All elements were added: from now on readers find them.
  virtual void Commit() = 0;
};

// Thread-safe.
class CacheStore {
 public:
  virtual ~CacheStore() = default;
  // Null when there is no complete iteration.
  virtual std::unique_ptr<CacheReader> Read() = 0;
  virtual std::unique_ptr<CacheFiller> Fill(const CacheOrigin& origin) = 0;
};

std::unique_ptr<CacheStore> NewMemoryCache();
// A TFRecord file, written under a temporary name until it is complete. The first record says of
// which pipeline it is; Read throws FAILED_PRECONDITION, naming the file, when that is another one,
// and DATA_LOSS when the file is damaged.
std::unique_ptr<CacheStore> NewFileCache(std::string path, std::string pipeline);

}  // namespace sextant::data
