// What setup.cpp does for the router.
#pragma once
#include "args.hpp"

void set_status(EDMStatus status);
bool must_terminate();
// Until the peer has answered; false if the host wants the router to end before that.
bool shake_hands(bool initiator);
void preset_credits(const router_args_t& args);
bool read_arguments(router_args_t& args);
