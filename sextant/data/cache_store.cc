#include "sextant/data/cache_store.h"

#include <mutex>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/state.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::data {
namespace {

class MemoryCache : public CacheStore {
 public:
  std::unique_ptr<CacheReader> Read() override;
  std::unique_ptr<CacheFiller> Fill(const CacheOrigin& origin) override;

 private:
  struct Whole {
    CacheOrigin origin;
    std::vector<Element> elements;
  };
  class Reader;
  class Filler;

  std::mutex mutex_;
  std::shared_ptr<const Whole> whole_;
};

class MemoryCache::Reader : public CacheReader {
 public:
  explicit Reader(std::shared_ptr<const Whole> whole) : whole_(std::move(whole)) {}
  bool Next(Element* element) override {
    if (next_ == whole_->elements.size()) return false;
    CopyTo(whole_->elements[next_++], element);
    return true;
  }
  CacheOrigin origin() const override { return whole_->origin; }

 private:
  const std::shared_ptr<const Whole> whole_;
  size_t next_ = 0;
};

class MemoryCache::Filler : public CacheFiller {
 public:
  Filler(MemoryCache& cache, const CacheOrigin& origin)
      : cache_(cache), whole_(std::make_shared<Whole>(Whole{origin, {}})) {}
  void Add(const Element& element) override { CopyTo(element, &whole_->elements.emplace_back()); }
  void Commit() override {
    std::lock_guard lock(cache_.mutex_);
    cache_.whole_ = std::move(whole_);
  }

 private:
  MemoryCache& cache_;
  std::shared_ptr<Whole> whole_;
};

std::unique_ptr<CacheReader> MemoryCache::Read() {
  std::lock_guard lock(mutex_);
  return whole_ ? std::make_unique<Reader>(whole_) : nullptr;
}
std::unique_ptr<CacheFiller> MemoryCache::Fill(const CacheOrigin& origin) {
  return std::make_unique<Filler>(*this, origin);
}

class FileReaderOfCache : public CacheReader {
 public:
  FileReaderOfCache(const std::string& path, const std::string& pipeline) : reader_(path) {
    std::string_view record;
    if (!reader_.NextView(&record)) throw DataLoss("{}: is empty", path);
    try {
      StateReader header(record);
      const std::string made_by = header.GetBytes("cache");
      if (made_by != pipeline) {
        throw FailedPrecondition(
            "it holds the elements of the dataset {}, not of {}; delete it to have it made anew",
            made_by, pipeline);
      }
      origin_.iteration = header.GetInt("iteration");
      origin_.entropy = static_cast<uint64_t>(header.GetInt("entropy"));
    } catch (const Error& error) {
      throw error.WithPrefix(path + ": ");
    }
  }

  bool Next(Element* element) override {
    std::string_view record;
    const uint64_t offset = reader_.offset();
    if (!reader_.NextView(&record)) return false;
    try {
      *element = StateReader(record).GetElement("element");
    } catch (const Error& error) {
      throw error.WithPrefix(fmt::format("{}, record at offset {}: ", reader_.path(), offset));
    }
    return true;
  }
  CacheOrigin origin() const override { return origin_; }

 private:
  TFRecordReader reader_;
  CacheOrigin origin_;
};

class FileFiller : public CacheFiller {
 public:
  FileFiller(const std::string& path, const std::string& pipeline, const CacheOrigin& origin)
      : writer_(path, {.atomic = true}) {
    StateWriter header;
    header.PutBytes("cache", pipeline);
    header.PutInt("iteration", origin.iteration);
    header.PutInt("entropy", static_cast<int64_t>(origin.entropy));
    writer_.Write(header.bytes());
  }
  void Add(const Element& element) override {
    StateWriter record;
    record.PutElement("element", element);
    writer_.Write(record.bytes());
  }
  void Commit() override { writer_.Close(); }

 private:
  TFRecordWriter writer_;
};

class FileCache : public CacheStore {
 public:
  FileCache(std::string path, std::string pipeline)
      : path_(std::move(path)), pipeline_(std::move(pipeline)) {}

  std::unique_ptr<CacheReader> Read() override {
    if (!FileSystem::ForPath(path_).Exists(path_)) return nullptr;
    return std::make_unique<FileReaderOfCache>(path_, pipeline_);
  }
  std::unique_ptr<CacheFiller> Fill(const CacheOrigin& origin) override {
    return std::make_unique<FileFiller>(path_, pipeline_, origin);
  }

 private:
  const std::string path_, pipeline_;
};

}  // namespace

std::unique_ptr<CacheStore> NewMemoryCache() { return std::make_unique<MemoryCache>(); }

std::unique_ptr<CacheStore> NewFileCache(std::string path, std::string pipeline) {
  return std::make_unique<FileCache>(std::move(path), std::move(pipeline));
}

}  // namespace sextant::data
