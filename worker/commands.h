#pragma once

#include <memory>

#include "proto/base/cli/command.h"

namespace telemetry::worker {

// The commands of telemetry-worker. NewBest is defined in best_command.cc, and so on.
std::unique_ptr<cli::Command> NewBest();
std::unique_ptr<cli::Command> NewCache();
std::unique_ptr<cli::Command> NewCompare();
std::unique_ptr<cli::Command> NewDevices();
std::unique_ptr<cli::Command> NewFeatures();
std::unique_ptr<cli::Command> NewForward();
std::unique_ptr<cli::Command> NewInit();
std::unique_ptr<cli::Command> NewKernels();
std::unique_ptr<cli::Command> NewModel();
std::unique_ptr<cli::Command> NewPlan();
std::unique_ptr<cli::Command> NewReplay();
std::unique_ptr<cli::Command> NewRepro();
std::unique_ptr<cli::Command> NewRun();
std::unique_ptr<cli::Command> NewShowCode();
std::unique_ptr<cli::Command> NewTune();

// All of them, in the order of --help.
inline constexpr cli::NewCommand kCommands[] = {NewBest,    NewCache, NewCompare, NewDevices,  NewFeatures,
                                                NewForward, NewInit,  NewKernels, NewModel,    NewPlan,
                                                NewReplay,  NewRepro, NewRun,     NewShowCode, NewTune};

}  // namespace telemetry::worker
