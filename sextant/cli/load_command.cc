#include "sextant/cli/load_command.h"

#include <fmt/ostream.h>

#include <iostream>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/cli/load_clients.h"
#include "sextant/cli/net_commands.h"
#include "sextant/serving/load_generator.h"

namespace sextant::cli {
namespace {

struct LoadFlags {
  std::string url, body, body_file, token, ca_file;
  double rate = 100, seconds = 10, target_ms = 0;
  int64_t clients = 16;
  bool even = false, capacity = false;
};

void Print(const serving::LoadReport& report, const serving::LoadOptions& options,
           std::ostream& out) {
  fmt::print(out, "{} requests in {:.1f} s: {:.1f}/s, {:.1f}/s good", report.requests,
             report.seconds, report.rate(), report.goodput());
  if (options.target.count() > 0) {
    fmt::print(out, " (within {:g} ms)", static_cast<double>(options.target.count()) / 1e6);
  }
  fmt::print(out,
             "\nlatency in ms, from when a request was due: p50 {:.3f}, p90 {:.3f}, p99 {:.3f}, "
             "p99.9 {:.3f}, most {:.3f}\n",
             report.Percentile(0.5), report.Percentile(0.9), report.Percentile(0.99),
             report.Percentile(0.999), report.Percentile(1));
  for (const auto& [code, count] : report.errors) fmt::print(out, "{}: {}\n", code, count);
}

// What to change, by what was seen.
void Propose(const serving::LoadReport& report, const LoadFlags& flags, std::ostream& out) {
  if (report.errors.contains("UNAVAILABLE")) {
    fmt::print(
        out, "The server refuses requests: try --enable_batching{}, or a lower rate.\n",
        flags.target_ms > 0 ? fmt::format(" --latency_target_ms={:g}", flags.target_ms) : "");
  } else if (flags.target_ms > 0 && report.Percentile(0.99) > flags.target_ms) {
    fmt::print(out,
               "p99 is beyond the target: try --enable_batching --latency_target_ms={:g}; "
               "`sextant load --capacity` finds the rate that holds.\n",
               flags.target_ms);
  }
}

int Load(const LoadFlags& flags, std::ostream& out) {
  const auto content = [](const std::string& path) {
    return path.empty() ? "" : FileSystem::ForPath(path).ReadFile(path);
  };
  const auto make_client =
      LoadClients({.url = flags.url,
                   .body = flags.body_file.empty() ? flags.body : content(flags.body_file),
                   .token = flags.token,
                   .ca = content(flags.ca_file)});
  make_client()();  // what is wrong with the request itself is said at once
  serving::LoadOptions options{
      .rate = flags.rate,
      .poisson = !flags.even,
      .duration = std::chrono::milliseconds(static_cast<int64_t>(1000 * flags.seconds)),
      .clients = static_cast<int>(flags.clients),
      .target = std::chrono::nanoseconds(static_cast<int64_t>(1e6 * flags.target_ms))};
  if (flags.capacity) {
    options.rate = serving::FindCapacity(options, make_client);
    fmt::print(out, "99 % of requests are good up to {:.0f}/s; at that rate:\n", options.rate);
    if (options.rate == 0) return 1;
  }
  const serving::LoadReport report = serving::GenerateLoad(options, make_client);
  Print(report, options, out);
  Propose(report, flags, out);
  return 0;
}

}  // namespace

void AddLoadCommand(Command& program) {
  Command& command = program.AddCommand(
      kLoad.name, kLoad.description,
      "sextant load --url http://127.0.0.1:8501/v1/models/census:predict --body_file request.json "
      "--rate 500 --latency_target_ms 20");
  command.OnOpen([](Command& opened) {
    auto flags = std::make_shared<LoadFlags>();
    opened.AddOption(
        "--url URL", &flags->url,
        "what is asked: http://HOST:PORT/v1/models/NAME:predict, or grpc://HOST:PORT/NAME",
        Need::kRequired);
    opened.AddOption("--body TEXT", &flags->body, "what is sent; without one, by GET");
    opened.AddOption("--body_file FILE", &flags->body_file, "the same from a file");
    opened.AddOption("--rate R", &flags->rate, "requests a second (default 100)", 0.001, 1e7);
    opened.AddOption("--seconds S", &flags->seconds, "how long (default 10)", 0.01, 1e6);
    opened.AddOption("--clients N", &flags->clients, "connections (default 16)", 1, 4096);
    opened.AddFlag("--even", &flags->even, "equal gaps; default: a Poisson process");
    opened.AddFlag("--capacity", &flags->capacity, "find the highest rate that holds");
    opened.AddOption("--latency_target_ms MS", &flags->target_ms,
                     "answers later than this are not good", 0, 1e6);
    opened.AddOption("--token TOKEN", &flags->token, "sent as a bearer token");
    opened.AddOption("--ca_file FILE", &flags->ca_file,
                     "who signed the server's certificate (PEM)");
    opened.OnRun([flags] { return Load(*flags, std::cout); });
  });
}

}  // namespace sextant::cli
