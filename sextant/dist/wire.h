// What both ends of the cluster's services know.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace sextant::dist {

// Tasks of other versions are refused.
inline constexpr uint32_t kWireVersion = 4;

// Calls and runs that take longer are told in the status of a task.
inline constexpr std::chrono::seconds kLongCall{1};

// Methods whose messages are frames.
inline constexpr char kCallMethod[] = "/sextant.dist.TaskService/Call";
inline constexpr char kSendPartMethod[] = "/sextant.dist.TaskService/SendPart";
inline constexpr char kFetchPartMethod[] = "/sextant.dist.TaskService/FetchPart";
inline constexpr char kFetchKeptMethod[] = "/sextant.dist.TaskService/FetchKept";
inline constexpr char kRunMethod[] = "/sextant.dist.SessionService/Run";

// Details of a status: what the client makes of it. An error that a call has ended with, also an
// UNAVAILABLE, comes again however often the call is sent.
inline constexpr std::string_view kAnswered = "answered";
inline constexpr std::string_view kUnknownFragment = "unknown fragment";
inline constexpr std::string_view kUnknownSegment = "unknown segment";  // send it in the call
inline constexpr std::string_view kKeptIsLost = "kept is lost";  // with the process that kept it
inline constexpr std::string_view kRestarted = "restarted";  // then the new incarnation, in decimal

}  // namespace sextant::dist
