#include "sextant/cli/cluster/status_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/base/json_writer.h"
#include "sextant/cli/cluster/credential_arguments.h"
#include "sextant/cli/net_commands.h"
#include "sextant/dist/task_status.h"
#include "sextant/net/credentials.h"
#include "sextant/net/token.h"

namespace sextant::cli {
namespace {

struct StatusArguments {
  std::string target;
  bool json = false;
  net::CredentialOptions credentials = net::CredentialsFromEnvironment();
};

std::string Hex(uint64_t value) { return fmt::format("{:016x}", value); }

void WriteTrainingJson(const dist::TrainingStatus& training, JsonWriter& json) {
  json.Key("training");
  json.BeginObject();
  json.Field("epoch", uint64_t{training.epoch()});
  json.Field("ready", training.ready());
  json.Field("step", int64_t{training.step()});
  json.Field("steps_per_second", training.steps_per_second());
  json.Field("mean_staleness", training.mean_staleness());
  json.Field("p99_staleness", int64_t{training.p99_staleness()});
  json.Field("tokens_expired", int64_t{training.tokens_expired()});
  json.Field("stop_reason", training.stop_reason());
  json.Field("missing", training.missing());
  json.Key("members");
  json.BeginArray();
  for (const dist::MemberStatus& member : training.members()) {
    json.BeginObject();
    json.Field("task", fmt::format("{} {}", member.member().job(), member.member().index()));
    json.Field("incarnation", Hex(member.member().incarnation()));
    json.Field("rank", int64_t{member.rank()});
    json.Field("step", int64_t{member.step()});
    json.Field("blocks", int64_t{member.blocks()});
    json.Field("lease_seconds", member.lease_seconds());
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

void WriteTrainingText(const dist::TrainingStatus& training, std::ostream& out) {
  out << fmt::format(
      "  training: epoch {}{}, step {}, {:.1f} steps/s, staleness {:.1f} (p99 {}), tokens expired "
      "{}\n",
      training.epoch(), training.ready() ? "" : " (not ready)", training.step(),
      training.steps_per_second(), training.mean_staleness(), training.p99_staleness(),
      training.tokens_expired());
  if (!training.stop_reason().empty()) out << "  stops: " << training.stop_reason() << '\n';
  if (!training.missing().empty()) out << "  not there: " << training.missing() << '\n';
  for (const dist::MemberStatus& member : training.members()) {
    out << fmt::format(
        "  {} {}{}, lease {:.1f} s\n", member.member().job(), member.member().index(),
        member.rank() < 0 ? ""
                          : fmt::format(": rank {}, step {}, {} blocks of the data", member.rank(),
                                        member.step(), member.blocks()),
        member.lease_seconds());
  }
}

void WriteJson(const dist::StatusReply& status, std::ostream& out) {
  JsonWriter json(out);
  json.BeginObject();
  json.Field("task", status.task());
  json.Field("incarnation", Hex(status.incarnation()));
  json.Field("uptime_seconds", status.uptime_seconds());
  json.Field("calls", uint64_t{status.calls()});
  json.Field("received_bytes", uint64_t{status.received_bytes()});
  json.Field("sent_bytes", uint64_t{status.sent_bytes()});
  json.Field("duplicates", uint64_t{status.duplicates()});
  json.Field("stale", uint64_t{status.stale()});
  json.Field("running", uint64_t{status.running()});
  json.Field("fragments", uint64_t{status.fragments()});
  json.Field("sessions", uint64_t{status.sessions()});
  json.Key("client_sessions");
  json.BeginArray();
  for (const dist::ClientSessionStatus& session : status.client_sessions()) {
    json.BeginObject();
    json.Field("handle", session.handle());
    json.Field("age_seconds", session.age_seconds());
    json.Field("running", uint64_t{session.running()});
    json.EndObject();
  }
  json.EndArray();
  json.Key("peers");
  json.BeginArray();
  for (const dist::PeerStatus& peer : status.peers()) {
    json.BeginObject();
    json.Field("task", peer.task());
    json.Field("address", peer.address());
    json.Field("state", peer.state());
    json.Field("incarnation", Hex(peer.incarnation()));
    json.Field("calls", uint64_t{peer.calls()});
    json.Field("sent_bytes", uint64_t{peer.sent_bytes()});
    json.Field("received_bytes", uint64_t{peer.received_bytes()});
    json.Field("retries", uint64_t{peer.retries()});
    json.Field("shared_bytes", uint64_t{peer.shared_bytes()});
    json.EndObject();
  }
  json.EndArray();
  if (status.has_training()) WriteTrainingJson(status.training(), json);
  json.Field("waits", std::vector<std::string>(status.waits().begin(), status.waits().end()));
  json.EndObject();
  out << '\n';
}

void WriteText(const dist::StatusReply& status, std::ostream& out) {
  out << fmt::format("{} (incarnation {}), up for {:.0f} s\n", status.task(),
                     Hex(status.incarnation()), status.uptime_seconds());
  out << fmt::format("  calls {}, running {}, duplicates {}, received {} bytes, sent {} bytes\n",
                     status.calls(), status.running(), status.duplicates(), status.received_bytes(),
                     status.sent_bytes());
  out << fmt::format("  fragments {}, sessions {}\n", status.fragments(), status.sessions());
  for (const dist::ClientSessionStatus& session : status.client_sessions())
    out << fmt::format("  session {}: open for {:.0f} s, runs {}\n", session.handle(),
                       session.age_seconds(), session.running());
  out << fmt::format("  updates that came too late and were dropped: {}\n", status.stale());
  for (const dist::PeerStatus& peer : status.peers()) {
    out << fmt::format("  {} at {}: {}; calls {}, retries {}, sent {} bytes, received {} bytes",
                       peer.task(), peer.address(), peer.state(), peer.calls(), peer.retries(),
                       peer.sent_bytes(), peer.received_bytes());
    if (peer.shared_bytes() > 0)
      out << fmt::format(", {} bytes through shared memory", peer.shared_bytes());
    out << '\n';
  }
  if (status.has_training()) WriteTrainingText(status.training(), out);
  for (const std::string& wait : status.waits()) out << "  " << wait << '\n';
}

}  // namespace

void AddStatusCommand(Command& program) {
  auto arguments = std::make_shared<StatusArguments>();
  Command& status =
      program.AddCommand(kStatus.name, kStatus.description, "sextant status grpc://localhost:2500");
  status.AddArgument("TARGET", &arguments->target, "grpc://host:port");
  status.AddFlag("--json", &arguments->json, "as JSON");
  AddCredentialArguments(status, &arguments->credentials);
  status.OnCheck([arguments] {
    dist::AddressOfTarget(arguments->target);
    const net::Token token(arguments->credentials);
    net::MakeChannelCredentials(arguments->credentials);
  });
  status.OnRun([arguments] {
    const dist::StatusReply reply =
        dist::AskStatus(dist::AddressOfTarget(arguments->target), arguments->credentials);
    arguments->json ? WriteJson(reply, std::cout) : WriteText(reply, std::cout);
    return 0;
  });
}

}  // namespace sextant::cli
