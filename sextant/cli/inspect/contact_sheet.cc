#include "sextant/cli/inspect/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/cli/record_detection.h"
#include "sextant/formats/image/jpeg.h"
#include "sextant/formats/image/png.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/example.pb.h"

namespace sextant::cli {
namespace {

constexpr int64_t kSheetColumns = 10;
constexpr int64_t kMargin = 2;
constexpr int64_t kMaxSide = 128;

struct Image {
  int64_t height = 0, width = 0;
  std::vector<uint8_t> rgb;

  void* Allocate(const ImageSize& size) {
    height = size.height;
    width = size.width;
    rgb.resize(static_cast<size_t>(height * width * 3));
    return rgb.data();
  }
};

std::optional<Image> DecodeFile(std::string_view bytes) {
  Image image;
  const auto allocate = [&](const ImageSize& size) { return image.Allocate(size); };
  try {
    if (bytes.starts_with("\x89PNG")) {
      ReadPng(bytes, {.channels = 3}, allocate);
    } else if (bytes.starts_with("\xff\xd8\xff")) {
      ReadJpeg(bytes, {.channels = 3}, allocate);
    } else {
      return std::nullopt;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return image;
}

std::optional<Image> FromRaw(std::string_view bytes) {
  const bool cifar = bytes.size() == 3072;
  const size_t plane = cifar ? 1024 : bytes.size();
  const auto side = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(plane))));
  if (side < 8 || static_cast<size_t>(side * side) != plane) return std::nullopt;
  Image image;
  image.Allocate({side, side, 3});
  for (size_t i = 0; i < plane; ++i) {
    for (size_t channel = 0; channel < 3; ++channel) {
      image.rgb[3 * i + channel] = static_cast<uint8_t>(bytes[cifar ? channel * plane + i : i]);
    }
  }
  return image;
}

// Takes every n-th pixel until it fits.
Image Fitted(Image image) {
  const int64_t step = (std::max(image.height, image.width) + kMaxSide - 1) / kMaxSide;
  if (step <= 1) return image;
  Image small;
  small.Allocate({(image.height + step - 1) / step, (image.width + step - 1) / step, 3});
  for (int64_t y = 0; y < small.height; ++y) {
    for (int64_t x = 0; x < small.width; ++x) {
      std::copy_n(&image.rgb[3 * (y * step * image.width + x * step)], 3,
                  &small.rgb[3 * (y * small.width + x)]);
    }
  }
  return small;
}

std::optional<Image> ImageOf(const proto::Example& example) {
  std::optional<Image> raw;
  for (const auto& [name, feature] : example.features().feature()) {
    for (const std::string& value : feature.bytes_list().value()) {
      if (auto image = DecodeFile(value)) return Fitted(*std::move(image));
      if (!raw) raw = FromRaw(value);
    }
  }
  return raw ? std::optional(Fitted(*std::move(raw))) : std::nullopt;
}

std::string DrawSheet(const std::vector<Image>& images) {
  int64_t cell_height = 0, cell_width = 0;
  for (const Image& image : images) {
    cell_height = std::max(cell_height, image.height + kMargin);
    cell_width = std::max(cell_width, image.width + kMargin);
  }
  const auto count = static_cast<int64_t>(images.size());
  const int64_t columns = std::min(kSheetColumns, count);
  const int64_t rows = (count + columns - 1) / columns;
  const int64_t height = rows * cell_height + kMargin, width = columns * cell_width + kMargin;
  std::vector<uint8_t> sheet(static_cast<size_t>(height * width * 3), 255);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t top = i / columns * cell_height + kMargin;
    const int64_t left = i % columns * cell_width + kMargin;
    for (int64_t y = 0; y < images[i].height; ++y) {
      std::copy_n(&images[i].rgb[3 * y * images[i].width], 3 * images[i].width,
                  &sheet[3 * ((top + y) * width + left)]);
    }
  }
  return WritePng(sheet.data(), {height, width, 3}, {});
}

}  // namespace

void WriteContactSheet(const std::string& records, const std::string& png, int64_t limit,
                       std::ostream& out) {
  const size_t wanted = limit < 0 ? 100 : static_cast<size_t>(std::min<int64_t>(limit, 10000));
  std::vector<Image> images;
  TFRecordReader reader(records, DetectTFRecord(records).value_or(Compression::kNone));
  std::string record;
  while (images.size() < wanted && reader.Next(&record)) {
    proto::Example example;
    if (!example.ParseFromString(record)) continue;
    if (auto image = ImageOf(example)) images.push_back(*std::move(image));
  }
  if (images.empty()) throw InvalidArgument("no record of {} has an image", records);
  FileSystem::ForPath(png).WriteFileAtomically(png, DrawSheet(images));
  out << fmt::format("{}: {} images\n", png, images.size());
}

}  // namespace sextant::cli
