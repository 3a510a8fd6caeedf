// The link of this tile: its state, the identity of its peer, and the words that publish both.
#include "base.hpp"

namespace {

// Bit 0: the link is up; count of broken packets received. The emulator's own registers (the vendor
// documents no status bit there), read by the ERISC only.
constexpr uint32_t PCS_STATUS = 0xFFBB0000, PCS_BROKEN_PACKETS = 0xFFBB0004;
// A port that was never up for this long counts as empty.
constexpr uint32_t TICKS_UNTIL_UNCONNECTED = 8;
constexpr uint32_t TXQ_PATIENCE_CYCLES = 5000;
constexpr uint32_t RXQ0_BASE = 0xFFB92000, QUEUE_STRIDE = 0x1000;
constexpr uint32_t TXQ_PACKETS = 0x3C, TXQ_WORDS = 0x40, RXQ_PACKETS = 0x28, RXQ_WORDS = 0x14;
constexpr uint32_t IDENTITY_BYTES = 32;

bool was_up, met_before;
uint32_t ticks_down;
uint32_t epoch;
// Link epoch of the queues plus one; a warm start clears .bss and does not reload .data.
uint32_t queues_of;

void store_if_new(volatile uint32_t& word, uint32_t value) {
    if (word != value) {
        word = value;
    }
}

// The table covers the whole chip, so every tile writes its siblings' copies. It is not updated: a
// retrain leaves it unchanged.
void announce(connection_t connection) {
    volatile uint32_t& own = word_at(CONNECTION_TABLE + 4 * boot_params->own_channel);
    if (own == connection || own == CONNECTION_UP) {
        return;
    }
    own = connection;
    for (uint32_t channel = 0; channel < 16; ++channel) {
        if ((boot_params->present_channels >> channel & 1) != 0 &&
            channel != boot_params->own_channel) {
            uint32_t address = reinterpret_cast<uint32_t>(&own);
            access_write(sibling_target(channel, address), address, 4);
        }
    }
}

void publish_statistics() {
    for (uint32_t queue = 0; queue < 2; ++queue) {
        uint32_t txq = TXQ0_BASE + queue * QUEUE_STRIDE, rxq = RXQ0_BASE + queue * QUEUE_STRIDE;
        // The high word comes first and stays zero: the hardware counts in 32 bits.
        store_if_new(boot_results->packet_send[2 * queue + 1], word_at(txq + TXQ_PACKETS));
        store_if_new(boot_results->packet_recv[2 * queue + 1], word_at(rxq + RXQ_PACKETS));
    }
    store_if_new(boot_results->crc_err, word_at(PCS_BROKEN_PACKETS));
}

void went_down() {
    boot_results->link_status = 0;
    boot_results->ack_local = HANDSHAKE_NONE;
    boot_results->ack_remote = HANDSHAKE_NONE;
    node_info->train_status = TRAIN_IN_PROGRESS;
    met_before = false;
    ++epoch;
}

void came_up() {
    if (boot_results->rx_link_up_time != 0) {
        boot_results->retrain_cnt = boot_results->retrain_cnt + 1;
        boot_results->retrain_trigger_link = boot_results->retrain_trigger_link + 1;
    }
    boot_results->rx_link_up_time = wall_clock() | 1;
    boot_results->ack_local = HANDSHAKE_HELLO;
}

void stay_down() {
    if (boot_results->rx_link_up_time == 0 && ticks_down < TICKS_UNTIL_UNCONNECTED &&
        ++ticks_down == TICKS_UNTIL_UNCONNECTED) {
        node_info->train_status = TRAIN_NOT_CONNECTED;
        word_at(LINK_ERROR) = LINK_ERROR_NOT_POPULATED;
        announce(CONNECTION_NONE);
    }
}

// Publishes the peer's identity and the words derived from it.
void publish_peer() {
    uint32_t xy = boot_results->remote_x_y_coord;
    uint32_t noc = sibling_target(boot_results->remote_eth_id & 15, 0).mid;
    node_info->remote_coordinate = noc | (xy & 0x3F) << 16 | (xy >> 8 & 0x3F) << 22;
    node_info->remote_rack_shelf = boot_results->remote_rack_shelf;
    node_info->train_status = TRAIN_UP;
    word_at(LINK_ERROR) = 0;
    boot_results->ack_local = HANDSHAKE_SEEN_YOU;
    boot_results->link_status = LINK_STATUS_UP;
    announce(boot_params->routing_disabled != 0 ? CONNECTION_NO_ROUTING : CONNECTION_UP);
}

// Each end sends its identity until the peer acknowledges it. A second hello means that the peer
// has restarted.
void exchange_identities() {
    uint32_t remote = boot_results->ack_remote;
    if (remote == HANDSHAKE_SEEN_YOU && met_before) {
        return;
    }
    if (remote != HANDSHAKE_NONE) {
        if (met_before) {
            ++epoch;
        }
        // Everything the peer sent before its hello has arrived, and it sends no request before it
        // is acknowledged.
        if (queues_of != epoch + 1) {
            queues_of = epoch + 1;
            restart_link_queues();
        }
        publish_peer();
    }
    bool sent = link_write(reinterpret_cast<uint32_t>(&boot_results->local_board_id_lo),
                           reinterpret_cast<uint32_t>(&boot_results->remote_board_id_lo),
                           IDENTITY_BYTES);
    met_before = sent && remote == HANDSHAKE_SEEN_YOU;
}

}  // namespace

void publish_identity() {
    uint32_t own = boot_params->own_coordinate;
    node_info->local_coordinate = own;
    node_info->train_status = TRAIN_IN_PROGRESS;
    boot_results->local_board_id_lo = boot_params->board_id;
    boot_results->local_board_id_hi = boot_params->board_id_hi;
    boot_results->local_x_y_coord = own >> 16;
    boot_results->local_rack_shelf = own & 0xFFFF;
    boot_results->local_eth_id = boot_params->own_channel;
    boot_results->local_board_type = boot_params->board_type;
    boot_results->ack_local = HANDSHAKE_NONE;
    // L1 outlives a reset of the tile: the old peer words are invalid.
    boot_results->ack_remote = HANDSHAKE_NONE;
    boot_results->link_status = 0;
    boot_results->rx_link_up_time = 0;
}

bool link_is_up() { return boot_results->link_status == LINK_STATUS_UP; }

bool link_serves() { return link_is_up() && met_before; }

uint32_t link_epoch() { return epoch; }

bool link_write(uint32_t source, uint32_t destination, uint32_t bytes) {
    uint32_t start = wall_clock();
    while (txq_busy()) {
        if (wall_clock() - start >= TXQ_PATIENCE_CYCLES) {
            return false;
        }
    }
    txq_write(source, destination, bytes);
    return true;
}

void supervise_link() {
    bool disabled = (boot_params->port_disable_mask >> boot_params->own_channel & 1) != 0;
    bool up = !disabled && (word_at(PCS_STATUS) & 1) != 0;
    if (was_up && !up) {
        went_down();
    } else if (!was_up && up) {
        came_up();
    }
    was_up = up;
    if (up) {
        exchange_identities();
        publish_statistics();
    } else {
        stay_down();
    }
}
