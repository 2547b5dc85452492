#include "sextant/serving/rest_path.h"

#include <algorithm>
#include <cctype>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"
#include "sextant/base/printable.h"

namespace sextant::serving {
namespace {

bool SameLetters(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// Takes "word" off the front of *text.
bool TakeWord(std::string_view* text, std::string_view word) {
  if (text->size() < word.size() ||
      !std::equal(word.begin(), word.end(), text->begin(), SameLetters)) {
    return false;
  }
  text->remove_prefix(word.size());
  return true;
}

// Takes what is before the next '/' or ':'.
std::string_view TakeName(std::string_view* text) {
  const size_t end = std::min(text->find_first_of("/:"), text->size());
  const std::string_view name = text->substr(0, end);
  text->remove_prefix(end);
  return name;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const int letter = std::tolower(static_cast<unsigned char>(c));
  return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) throw InvalidArgument("'{}' is not percent-encoded", ShownName(text));
    decoded += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return decoded;
}

}  // namespace

RestPath ParseRestPath(std::string_view method, std::string_view target) {
  const auto malformed = [&](std::string_view why) {
    return InvalidArgument(
        "malformed request: {} {}: {}; there are GET /v1/models/NAME[/versions/N|/labels/L]"
        "[/metadata] and POST /v1/models/NAME[/versions/N|/labels/L]:predict, :classify, :regress",
        ShownName(method), ShownName(target), why);
  };
  RestPath result;
  std::string_view rest = target.substr(0, target.find('?'));
  if (rest.size() < target.size()) result.query = target.substr(rest.size() + 1);
  if (!TakeWord(&rest, "/v1/")) throw NotFound("there is no {}", ShownName(target));
  if (!TakeWord(&rest, "models/")) throw malformed("no such path");
  const std::string_view name = TakeName(&rest);
  if (name.empty()) throw malformed("the name of the model is missing");
  result.model = PercentDecoded(name);
  if (TakeWord(&rest, "/versions/")) {
    const std::string_view number = TakeName(&rest);
    int64_t version = 0;
    const bool digits = !number.empty() && std::ranges::all_of(number, ::isdigit);
    if (!digits || !ParseNumber(number, &version)) throw malformed("the version is no number");
    result.version = version;
  } else if (TakeWord(&rest, "/labels/")) {
    result.label = PercentDecoded(TakeName(&rest));
    if (result.label.empty()) throw malformed("the label is missing");
  }
  if (method == "GET") {
    if (rest.empty()) return result;
    if (TakeWord(&rest, "/metadata") && rest.empty()) {
      result.call = RestPath::Call::kMetadata;
      return result;
    }
    throw malformed("no such path for GET");
  }
  if (method != "POST") throw malformed("no such method");
  if (TakeWord(&rest, ":predict") && rest.empty()) {
    result.call = RestPath::Call::kPredict;
  } else if (TakeWord(&rest, ":classify") && rest.empty()) {
    result.call = RestPath::Call::kClassify;
  } else if (TakeWord(&rest, ":regress") && rest.empty()) {
    result.call = RestPath::Call::kRegress;
  } else {
    throw malformed("no such path for POST");
  }
  return result;
}

std::string QueryValue(std::string_view query, std::string_view key) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) != key) continue;
    return PercentDecoded(pair.substr(std::min(pair.size(), equals + 1)));
  }
  return "";
}

}  // namespace sextant::serving
