#include "sextant/cli/cluster/server_command.h"

#include <memory>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/guarded_file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/logging.h"
#include "sextant/cli/cluster/credential_arguments.h"
#include "sextant/cli/net_commands.h"
#include "sextant/dist/server.h"
#include "sextant/net/credentials.h"
#include "sextant/net/token.h"

namespace sextant::cli {
namespace {

struct ServerArguments {
  std::string cluster, job;
  int64_t task_id = -1, task_index = -1, threads = 0;
  bool insecure = false;
  std::vector<std::string> files;
  net::CredentialOptions credentials = net::CredentialsFromEnvironment();
};

// Files that are missing or do not go together. Peers are called with the same files.
void CheckCredentials(const dist::ServerOptions& options) {
  const net::Token token(options.credentials);
  net::MakeServerCredentials(options.credentials);
  size_t tasks = 0;
  for (const auto& [job, addresses] : options.cluster) tasks += addresses.size();
  if (tasks > 1) net::MakeChannelCredentials(options.credentials);
}

void CheckDirectory(const std::string& path) {
  bool is_directory = false;
  try {
    is_directory = FileSystem::ForPath(path).Stat(path).is_directory;
  } catch (const Error& error) {
    throw error.WithPrefix("--allow_files: ");
  }
  if (!is_directory) throw InvalidArgument("--allow_files: {} is no directory", path);
}

dist::ServerOptions ToOptions(const ServerArguments& arguments) {
  if (arguments.task_id >= 0 && arguments.task_index >= 0 &&
      arguments.task_id != arguments.task_index)
    throw InvalidArgument("--task_id and --task_index are the same: give one of them");
  dist::ServerOptions options;
  options.cluster = dist::ParseClusterSpec(arguments.cluster);
  options.job = arguments.job;
  options.task = static_cast<int>(std::max({arguments.task_id, arguments.task_index, int64_t{0}}));
  dist::AddressOf(options.cluster, options.job, options.task);  // there is such a task
  options.session.threads = static_cast<int>(arguments.threads);
  options.credentials = arguments.credentials;
  CheckCredentials(options);
  for (const std::string& directory : arguments.files) CheckDirectory(directory);
  options.allow_files = !arguments.files.empty();
  return options;
}

int Serve(const ServerArguments& arguments) {
  const InterruptScope signals;
  dist::ServerOptions options = ToOptions(arguments);
  const auto& credentials = options.credentials;
  const dist::Address own =
      dist::ParseAddress(dist::AddressOf(options.cluster, options.job, options.task));
  if (!dist::IsLoopback(dist::BindAddress(own).host) && !arguments.insecure &&
      !credentials.server_tls() && !credentials.guarded()) {
    options.bind_host = "127.0.0.1";
    LogWarning(
        "listening on 127.0.0.1 only, for any client could run graphs here: give a token "
        "(SEXTANT_TOKEN_FILE), TLS or --insecure to be reached from other machines");
  }
  options.before_listening = [&] { RestrictFiles(arguments.files); };
  dist::Server server(options);
  const std::shared_ptr<CancellationToken> interrupted = signals.token();
  const auto stop = interrupted->OnCancel([&] { server.Stop(); });
  server.Join();
  return Interrupted() ? ExitCodeOfSignal(InterruptSignal()) : 0;
}

}  // namespace

void AddServerCommand(Command& program) {
  auto arguments = std::make_shared<ServerArguments>();
  Command& server = program.AddCommand(
      kServer.name, kServer.description,
      "sextant server --cluster_spec 'worker|a:2500;b:2500' --job_name worker --task_id 0");
  server.AddOption("--cluster_spec SPEC", &arguments->cluster,
                   std::string("the tasks of the cluster: ") + dist::kClusterSpecGrammar,
                   Need::kRequired);
  server.AddOption("--job_name JOB", &arguments->job, "the job of this task", Need::kRequired);
  server.AddOption("--task_id N", &arguments->task_id, "its number in the job (default 0)", 0,
                   INT32_MAX);
  server.AddOption("--task_index N", &arguments->task_index, "the same", 0, INT32_MAX);
  server.AddOption("--threads N", &arguments->threads, "threads that compute (default: all)", 0,
                   INT32_MAX);
  server.AddOption("--allow_files DIR", &arguments->files,
                   "ops of other processes' graphs may open files in DIR; may be given several "
                   "times");
  server.AddFlag("--insecure", &arguments->insecure,
                 "let other machines run graphs here though there is neither TLS nor a token");
  AddCredentialArguments(server, &arguments->credentials);
  server.OutliveOutput();
  server.NoteOnUsage(std::string("The grammar of --cluster_spec: ") + dist::kClusterSpecGrammar);
  server.OnCheck([arguments] { ToOptions(*arguments); });
  server.OnRun([arguments] { return Serve(*arguments); });
}

}  // namespace sextant::cli
