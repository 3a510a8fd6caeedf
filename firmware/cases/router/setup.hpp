// Setup of the router.
#pragma once
#include "args.hpp"

void set_status(EDMStatus status);
bool must_terminate();
// Waits until the peer has answered. Returns false if the host ends the router before that.
bool shake_hands(bool initiator);
void preset_credits(const router_args_t& args);
bool read_arguments(router_args_t& args);
