#include "sextant/datasets/download.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <exception>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/progress.h"
#include "sextant/base/shared_library.h"
#include "sextant/formats/digest.h"

namespace sextant::datasets {
namespace {

// libcurl's functions, found when the first file is downloaded.
struct Curl {
  SharedLibrary library{"libcurl.so.4", "libcurl4"};
  decltype(&curl_easy_init) init = library.Find<decltype(curl_easy_init)>("curl_easy_init");
  decltype(&curl_easy_cleanup) cleanup =
      library.Find<decltype(curl_easy_cleanup)>("curl_easy_cleanup");
  decltype(&curl_easy_setopt) setopt = library.Find<decltype(curl_easy_setopt)>("curl_easy_setopt");
  decltype(&curl_easy_getinfo) getinfo =
      library.Find<decltype(curl_easy_getinfo)>("curl_easy_getinfo");
  decltype(&curl_easy_perform) perform =
      library.Find<decltype(curl_easy_perform)>("curl_easy_perform");
  decltype(&curl_easy_strerror) strerror =
      library.Find<decltype(curl_easy_strerror)>("curl_easy_strerror");
};

const Curl& TheCurl() {
  static const Curl curl;
  return curl;
}

constexpr int kAttempts = 3;  // per URL, as long as each brings bytes

// One request; what the callbacks of the library need.
struct Transfer {
  CURL* curl = nullptr;
  std::string part;
  uint64_t resume_at = 0;
  std::unique_ptr<FileWriter> file;
  uint64_t received = 0;
  Progress* progress = nullptr;
  std::exception_ptr error;  // exceptions may not pass through the library

  // The file is opened when the first bytes come, since only then it is known whether the server
  // goes on or begins anew.
  void Open() {
    long code = 0;
    TheCurl().getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    const bool append = resume_at > 0 && code == 206;
    FileSystem& files = FileSystem::ForPath(part);
    const std::string folder(DirectoryName(part));
    if (!folder.empty()) files.CreateDirectories(folder);
    file = files.NewWriter(part, append);
    if (!append) resume_at = 0;
  }

  static size_t Write(const char* data, size_t size, size_t count, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      if (!transfer.file) transfer.Open();
      transfer.file->Append({data, size * count});
      transfer.received += size * count;
      return size * count;
    } catch (...) {
      transfer.error = std::current_exception();
      return 0;
    }
  }

  static int OnProgress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    auto& transfer = *static_cast<Transfer*>(self);
    transfer.progress->Update(static_cast<int64_t>(transfer.resume_at + transfer.received));
    return Interrupted() ? 1 : 0;
  }
};

uint64_t SizeIfThere(const std::string& path) {
  FileSystem& fs = FileSystem::ForPath(path);
  return fs.Exists(path) ? fs.Stat(path).size : 0;
}

struct Outcome {
  std::string problem;  // "" when all arrived
  bool try_again = false;
};

// Asks for what is missing in `part`.
Outcome Request(const std::string& url, const std::string& part, Progress& progress) {
  const Curl& api = TheCurl();
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(api.init(), api.cleanup);
  Transfer transfer{.curl = curl.get(), .part = part, .resume_at = SizeIfThere(part)};
  transfer.progress = &progress;
  char message[CURL_ERROR_SIZE] = "";
  api.setopt(curl.get(), CURLOPT_URL, url.c_str());
  api.setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  api.setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  api.setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  api.setopt(curl.get(), CURLOPT_MAXREDIRS, 5L);
  api.setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  api.setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  api.setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 20L);
  api.setopt(curl.get(), CURLOPT_LOW_SPEED_LIMIT, 1L);
  api.setopt(curl.get(), CURLOPT_LOW_SPEED_TIME, 60L);
  const std::string range = fmt::format("{}-", transfer.resume_at);
  if (transfer.resume_at > 0) api.setopt(curl.get(), CURLOPT_RANGE, range.c_str());
  api.setopt(curl.get(), CURLOPT_WRITEFUNCTION, Transfer::Write);
  api.setopt(curl.get(), CURLOPT_WRITEDATA, &transfer);
  api.setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  api.setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, Transfer::OnProgress);
  api.setopt(curl.get(), CURLOPT_XFERINFODATA, &transfer);
  api.setopt(curl.get(), CURLOPT_ERRORBUFFER, message);
  const CURLcode code = api.perform(curl.get());
  if (transfer.error) std::rethrow_exception(transfer.error);
  if (transfer.file) {
    transfer.file->Sync();
    transfer.file->Close();
  }
  ThrowIfInterrupted();
  if (code == CURLE_OK) return {};
  Outcome outcome{message[0] != '\0' ? message : api.strerror(code), transfer.received > 0};
  long response = 0;
  api.getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &response);
  if (response == 416 && transfer.resume_at > 0) {  // the part is not of this file
    FileSystem::ForPath(part).Delete(part);
    outcome.try_again = true;
  }
  return outcome;
}

// "" when the file is as published.
std::string WhatIsWrong(const PublishedFile& file, const std::string& path) {
  const uint64_t size = SizeIfThere(path);
  if (file.size != 0 && size != file.size) {
    return fmt::format("it has {} bytes instead of {}", size, file.size);
  }
  if (file.digest.empty()) return "";
  const size_t colon = file.digest.find(':');
  const std::string algorithm = file.digest.substr(0, colon);
  const std::string digest = FileDigest(path, algorithm);
  if (digest == file.digest.substr(colon + 1)) return "";
  return fmt::format("its {} is {}", algorithm, digest);
}

// Returns "" when the part is whole, else why it is not.
std::string Fetch(const std::string& url, const PublishedFile& file, const std::string& part,
                  Progress& progress) {
  Outcome outcome{.try_again = true};
  for (int attempt = 0; outcome.try_again && attempt < kAttempts; ++attempt) {
    if (file.size != 0 && SizeIfThere(part) >= file.size) return "";
    outcome = Request(url, part, progress);
  }
  return outcome.problem;
}

// A file where the folder, or one above it, is to be is told before anything is fetched.
void CheckFolder(const std::string& folder) {
  for (std::string_view path = folder; !path.empty(); path = DirectoryName(path)) {
    const std::string there(path);
    FileSystem& files = FileSystem::ForPath(there);
    if (files.Exists(there)) {
      if (files.Stat(there).is_directory) return;
      throw FailedPrecondition("{} is a file, not a folder; choose another folder", there);
    }
    if (DirectoryName(path).size() >= path.size()) return;
  }
}

}  // namespace

std::string Download(const PublishedFile& file, const std::string& folder, bool* was_there) {
  FileSystem& fs = FileSystem::ForPath(folder);
  std::string path = JoinPath(folder, file.name);
  *was_there = fs.Exists(path) && WhatIsWrong(file, path).empty();
  if (*was_there) return path;
  CheckFolder(folder);
  const std::string part = path + ".part";
  Progress progress("Downloading " + file.name, static_cast<int64_t>(file.size), "bytes");
  std::string problems;
  Code code = Code::kUnavailable;
  for (const std::string& url : file.urls) {
    std::string problem = Fetch(url, file, part, progress);
    if (problem.empty()) {
      problem = WhatIsWrong(file, part);
      if (problem.empty()) {
        fs.Rename(part, path);
        fs.SyncDirectory(folder);
        return path;
      }
      fs.Delete(part);
      problem.insert(0, "not the file that its authors publish, ");
      code = Code::kDataLoss;
    }
    problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", url, problem);
  }
  throw Error(code,
              fmt::format("cannot download {} ({}); try again later, put the file into {}, or use "
                          "`sextant data` with --from or --synthetic",
                          file.name, problems, folder));
}

}  // namespace sextant::datasets
