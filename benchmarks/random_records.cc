#include "benchmarks/random_records.h"

#include <random>

#include "sextant/proto/example.pb.h"

namespace sextant::bench {

std::vector<std::string> RandomCifarRecords(int count) {
  std::mt19937 random(1);
  std::vector<std::string> records;
  for (int i = 0; i < count; ++i) {
    std::string image(3072, '\0');
    for (char& pixel : image) pixel = static_cast<char>(random());
    proto::Example example;
    auto& features = *example.mutable_features()->mutable_feature();
    features["image"].mutable_bytes_list()->add_value(image);
    features["label"].mutable_int64_list()->add_value(i % 10);
    records.push_back(example.SerializeAsString());
  }
  return records;
}

}  // namespace sextant::bench
