#include "sextant/datasets/test_archive.h"

#include <fmt/format.h>

#include <list>

#include "sextant/base/coding.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/compression.h"

namespace sextant::datasets {
namespace {

constexpr int kImageBytes = 3072;

std::string Image(size_t i) {
  std::string image;
  for (int k = 0; k < kImageBytes; ++k) image.push_back(static_cast<char>(i + 7 * k));
  return image;
}

std::string TarHeader(const std::string& name, size_t size) {
  std::string header(512, '\0');
  const auto put = [&](size_t at, const std::string& text) {
    header.replace(at, text.size(), text);
  };
  put(0, name);
  put(100, "0000644");
  put(124, fmt::format("{:011o}", size));
  put(136, "00000000000");
  put(148, "        ");
  put(156, "0");
  put(257, std::string("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum) + '\0');
  return header;
}

std::string ShortText(const std::string& text) {
  return fmt::format("U{}{}", static_cast<char>(text.size()), text);
}

}  // namespace

std::string MakeTar(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string tar;
  for (const auto& [name, content] : files) {
    tar += TarHeader(name, content.size()) + content;
    tar.resize((tar.size() + 511) / 512 * 512);
  }
  return tar + std::string(1024, '\0');
}

std::string Gzip(const std::string& bytes) {
  const std::string path = JoinPath(NewFolder(), "gz");
  FileSystem& fs = FileSystem::ForPath(path);
  const auto writer = NewCompressingWriter(fs.NewWriter(path), Compression::kGzip);
  writer->Append(bytes);
  writer->Close();
  return fs.ReadFile(path);
}

std::string MakeCifarPickle(const std::vector<int>& labels) {
  std::string list = "]q\x01(";
  std::string pixels;
  for (size_t i = 0; i < labels.size(); ++i) {
    list += fmt::format("K{}", static_cast<char>(labels[i]));
    pixels += Image(i);
  }
  std::string size;
  PutFixed32(&size, static_cast<uint32_t>(pixels.size()));
  const std::string rows = {'K', static_cast<char>(labels.size())};
  const std::string dtype = std::string("cnumpy\ndtype\n") + ShortText("u1") +
                            std::string("K\0K\1\x87R(K\3", 9) + ShortText("|") +
                            "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff" + std::string("K\0tb", 4);
  const std::string array =
      std::string("cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\0\x85", 54) +
      ShortText("b") + "\x87R(K\x01" + rows + std::string("M\0\x0c\x86", 4) + dtype + "\x89T" +
      size + pixels + "tb";
  return std::string("\x80\x02}q\x00(", 6) + ShortText("batch_label") + ShortText("a batch") +
         ShortText("labels") + list + "e" + ShortText("data") + array + "u.";
}

std::string MakeCifarBinary(const std::vector<int>& labels) {
  std::string bytes;
  for (size_t i = 0; i < labels.size(); ++i) bytes += static_cast<char>(labels[i]) + Image(i);
  return bytes;
}

std::string NewFolder() {
  static std::list<TemporaryDirectory> folders;  // they go when the tests are over
  return folders.emplace_back().path();
}

}  // namespace sextant::datasets
