// Semaphores of the EDM and its workers.
#include "edm_moves.hpp"

namespace edm {
namespace {

bool increment(const channel_t& channel, uint32_t worker, uint32_t value) {
    if (niu_busy(NOC, NOC_BUFFER_ATOMIC) &&
        !wait_until([] { return !niu_busy(NOC, NOC_BUFFER_ATOMIC); })) {
        return false;
    }
    uint32_t xy = channel.args->worker_xy[worker];
    semaphore_increment(NOC, TRANSACTION, noc_mid(xy & 0xFFFF, xy >> 16),
                        channel.args->worker_semaphore_address, value);
    return true;
}

}  // namespace

bool signal_workers(channel_t& channel) {
    if (channel.args->workers == 0) {
        return true;
    }
    for (uint32_t worker = channel.credit.turn; worker < channel.credit.turn + channel.together;
         ++worker) {
        if (!increment(channel, worker, 1)) {
            return false;
        }
        channel.state->worker_credits = channel.state->worker_credits + 1;
    }
    advance(channel, channel.credit);
    return true;
}

bool settle_workers(channel_t& channel) {
    for (uint32_t worker = 0; worker < channel.args->workers; ++worker) {
        volatile uint32_t& used =
            semaphore_at(channel.args->semaphore_address + worker * SEMAPHORE_BYTES);
        uint32_t given = channel.credit.round + (worker < channel.credit.turn ? 1 : 0);
        uint32_t unused = given - (used & EDM_MESSAGES);
        if (unused != 0 && !increment(channel, worker, -unused)) {
            return false;
        }
        channel.state->worker_credits = channel.state->worker_credits - unused;
        used = 0;
    }
    return true;
}

bool workers_ended(const channel_t& channel) {
    uint32_t ends = 0;
    for (uint32_t worker = 0; worker < channel.args->workers; ++worker) {
        ends += semaphore_at(channel.args->semaphore_address + worker * SEMAPHORE_BYTES) >> 24 & 15;
    }
    return channel.args->workers != 0 && ends >= channel.args->workers;
}

}  // namespace edm
