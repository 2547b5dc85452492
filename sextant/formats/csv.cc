#include "sextant/formats/csv.h"

#include "sextant/base/error.h"

namespace sextant {
namespace {

bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

}  // namespace

CsvSplitter::CsvSplitter(CsvOptions options) : options_(std::move(options)) {
  for (size_t i = 0; i < options_.columns.size(); ++i) {
    if (options_.columns[i] < 0) {
      throw InvalidArgument("column {} of those wanted is negative: {}", i, options_.columns[i]);
    }
    if (i > 0 && options_.columns[i] <= options_.columns[i - 1]) {
      throw InvalidArgument("the columns wanted must be strictly increasing, got {} after {}",
                            options_.columns[i], options_.columns[i - 1]);
    }
  }
  const auto ends = [&](char c) -> auto& { return ends_[static_cast<uint8_t>(c)]; };
  ends('\n') = ends('\r') = true;
  ends('"') = options_.quotes;
  ends(options_.delimiter) = true;
}

bool CsvSplitter::Wanted(size_t column) const {
  return options_.columns.empty() ||
         (fields_.size() < options_.columns.size() &&
          static_cast<size_t>(options_.columns[fields_.size()]) == column);
}

const std::vector<std::string_view>& CsvSplitter::Split(std::string_view record) {
  fields_.clear();
  unescaped_.clear();
  size_t position = 0, column = 0;
  while (position < record.size()) {
    if (IsLineEnd(record[position])) {
      ++position;
      continue;
    }
    const bool quoted = options_.quotes && record[position] == '"';
    const std::string_view field = quoted ? Quoted(record, &position) : Unquoted(record, &position);
    if (Wanted(column++)) {
      fields_.push_back(field);
      if (fields_.size() == options_.columns.size()) return fields_;
    }
  }
  if (!record.empty() && record.back() == options_.delimiter && Wanted(column)) {
    fields_.emplace_back();
  }
  return fields_;
}

std::string_view CsvSplitter::Unquoted(std::string_view record, size_t* position) const {
  const size_t begin = *position;
  size_t end = begin;
  while (end < record.size() && !ends_[static_cast<uint8_t>(record[end])]) ++end;
  if (end < record.size() && record[end] != options_.delimiter) {
    throw InvalidArgument("an unquoted field has a {} in it, at byte {}",
                          IsLineEnd(record[end]) ? "line end" : "quote", end);
  }
  *position = end + 1;
  return record.substr(begin, end - begin);
}

std::string_view CsvSplitter::Quoted(std::string_view record, size_t* position) {
  const size_t begin = *position + 1;
  const size_t kept = unescaped_.size();
  size_t piece = begin;  // what is not yet in unescaped_
  for (size_t end = record.find('"', begin);; end = record.find('"', end)) {
    if (end == std::string_view::npos) {
      throw InvalidArgument("the quote at byte {} is not closed", begin - 1);
    }
    if (end + 1 == record.size() || record[end + 1] == options_.delimiter) {
      *position = end + 2;
      if (piece == begin) return record.substr(begin, end - begin);
      unescaped_.append(record, piece, end - piece);
      return std::string_view(unescaped_).substr(kept);
    }
    if (record[end + 1] != '"') {
      throw InvalidArgument("a quoted field has a single quote in it, at byte {}", end);
    }
    // Never grows again while views of it are out.
    unescaped_.reserve(record.size());
    unescaped_.append(record, piece, end + 1 - piece);
    end += 2;
    piece = end;
  }
}

}  // namespace sextant
