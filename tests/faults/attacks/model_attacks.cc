// Attacks on the cost models that a collector stores.

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "telemetry/v1/models.grpc.pb.h"
#include "tests/faults/attacks/attack.h"
#include "tests/faults/attacks/messages.h"
#include "tests/server/storage/model_files.h"

namespace telemetry::faults {
namespace {

using Stub = v1::ModelService::Stub;

std::unique_ptr<Stub> ConnectToModels(const Target& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return v1::ModelService::NewStub(
      grpc::CreateCustomChannel(target.address(), grpc::InsecureChannelCredentials(), arguments));
}

// Sends the first `parts` parts of a file. Ignores refusals.
void SendParts(Stub& stub, const std::string& file, uint64_t parts, Tally& tally) {
  for (uint32_t part = 0; part < parts; ++part) {
    grpc::ClientContext context;
    v1::PutModelResponse response;
    if (stub.Put(&context, storage::ModelPart(file, part), &response).ok()) tally.Add();
  }
}

// Stores models of the largest size, each with new bytes: complete ones, incomplete ones, and files that are no models.
void StoreModels(Stub& stub, uint64_t number, const Target& target) {
  const std::string trees = DistinctText(number, ((FullSize() ? 16 : 2) * storage::kModelPartBytes) - 4096);
  const uint64_t parts = storage::ModelParts(trees.size());
  SendParts(stub, storage::ModelFile(trees), parts, target.tally);
  SendParts(stub, storage::ModelFile(trees + "incomplete"), parts - 1, target.tally);
  SendParts(stub, "no model " + trees, parts, target.tally);
}

void ReadModels(Stub& stub, const Target& target) {
  grpc::ClientContext list_context;
  v1::ListModelsResponse models;
  if (!stub.List(&list_context, v1::ListModelsRequest(), &models).ok()) return;
  for (const v1::StoredModel& model : models.models()) {
    v1::ReadModelRequest request;
    request.set_sha256(model.sha256());
    request.set_sender(model.sender());
    grpc::ClientContext context;
    v1::ReadModelResponse part;
    if (stub.Read(&context, request, &part).ok()) target.tally.Add();
  }
}

void FloodWithModels(const Target& target) {
  std::atomic<uint64_t> models = 0;
  // A sender has one incomplete model, so that a second thread that stores would only disturb the first.
  ForEver(8, [&](int i) {
    const auto stub = ConnectToModels(target);
    if (i == 0) return StoreModels(*stub, ++models, target);
    ReadModels(*stub, target);
  });
}

}  // namespace

std::vector<Attack> ModelAttacks() { return {{"models", "calls", FloodWithModels}}; }

}  // namespace telemetry::faults
