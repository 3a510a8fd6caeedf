//! Names of the register groups of a Wormhole; their numbers are in `data/wormhole/`.

use crate::entry::{AnyGroup, Group, registers};
use serde::Deserialize;

registers!(
    /// A network interface unit, one per NoC and tile.
    Niu {
        command_buffer, node_id, endpoint_id, parity_error, header_error, ecc_control,
        clear_outstanding, busy, cfg_0, router_cfg_0, router_cfg_1, router_cfg_2, router_cfg_3,
        router_cfg_4, translate_x, translate_y, noc_id_logical, counter,
    }
);

registers!(
    /// One command buffer of an NIU.
    NiuCommand {
        targ_lo, targ_mid, targ_hi, ret_lo, ret_mid, ret_hi, packet_tag, ctrl, at_len_be, at_data,
        cmd_ctrl,
    }
);

registers!(
    /// Transaction counters; offsets from the first counter.
    NiuCounters {
        atomic_responses_received, write_acks_received, read_responses_received,
        read_words_received, commands_accepted, reads_sent, nonposted_atomics_sent,
        posted_atomics_sent, nonposted_write_words_sent, posted_write_words_sent,
        nonposted_writes_sent, posted_writes_sent, nonposted_writes_started, posted_writes_started,
        reads_started, nonposted_atomics_started, outstanding, leaving, slave,
    }
);

registers!(
    /// Debug, reset and clock registers of a Tensix or Ethernet tile.
    Debug {
        capture, bus_control, bus_data, risc_control_0, risc_control_1, risc_status_0,
        risc_status_1, soft_reset_0, watchdog, wall_clock_low, wall_clock_high,
        wall_clock_high_latched,
    }
);

registers!(
    /// One overlay stream.
    Stream {
        remote_source, buffer_start, buffer_size, buffer_write_pointer, auto_config, update,
        space_available, debug_status, scratch,
    }
);

registers!(
    /// An Ethernet transmit queue.
    Txq {
        ctrl, cmd, status, max_packet, burst, transfer_start, transfer_size, dest_addr, transfers,
        packet_starts, packet_ends, words, remote_reg_data, resend_timeout, keepalive_period, mac,
        ethertype, min_words, resends, accept_ahead,
    }
);

registers!(
    /// An Ethernet receive queue.
    Rxq {
        ctrl, buffer_pointer, buffer_start, buffer_size, words, packet_ends, expected_sequence,
        acknowledged_sequence, header_format, dropped, outstanding_writes,
    }
);

registers!(
    /// Ethernet control.
    EthCtrl {
        atomic_add, iram_load,
    }
);

registers!(
    /// The ARC reset unit.
    ArcReset {
        scratch, refclk, misc_control, telemetry_table, telemetry_values, message_queues, forbidden,
    }
);

registers!(
    /// L1 of an Ethernet tile: words that base firmware publishes, and areas of applications.
    EthL1 {
        boot_jump, heartbeat, queue_pointer, firmware_version, port_disable_mask, routing_disabled,
        boot_board_type, boot_board_id, train_status, local_coord, remote_coord, remote_rack,
        connection, link_error, link_status, retrain_count, retrain_trigger, packets_sent,
        packets_received, link_up_time, crc_errors, heartbeat_old, pcs_faults, link_retrains,
        crc_retrains, corrected_codewords, uncorrected_codewords, local_board_id_low,
        local_board_id_high, local_xy, local_rack_shelf, local_channel, local_board_type,
        local_handshake, remote_board_id_low, remote_board_id_high, remote_xy, remote_rack_shelf,
        remote_channel, remote_board_type, remote_handshake, launch_flag, yield_pointer,
        application, kernel_text, kernel_data, application_data, queues, bank_tables,
        routing_enabled, erisc_info, mailbox, kernel_config, fabric_telemetry,
        fabric_routing, barrier,
    }
);

registers!(
    /// The queue structure of base firmware; offsets from its base.
    Queues {
        latency, request, internal_in, response, internal_out, buffer,
    }
);

registers!(
    /// One queue; offsets from its start.
    Queue {
        writes_requested, writes_answered, reads_requested, reads_answered, errors, write_index,
        read_index, entry,
    }
);

registers!(
    /// One queue entry (`routing_cmd_t`); offsets from its start.
    QueueEntry {
        address, data, flags, rack, response_buffer, local_buffer, response_queue, transaction,
        host_address,
    }
);

registers!(
    /// L1 of a compute tile.
    TensixL1 {
        boot_jump, atomic_return, barrier, mailbox, fabric_connections, bank_tables,
        logical_to_virtual,
    }
);

/// Every register group of `registers.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Registers {
    /// A network interface unit, one per NoC and tile.
    pub niu: Group<Niu>,
    /// One command buffer of an NIU.
    pub niu_command: Group<NiuCommand>,
    /// Transaction counters; offsets from the first counter.
    pub niu_counters: Group<NiuCounters>,
    /// Debug, reset and clock registers of a Tensix or Ethernet tile.
    pub debug: Group<Debug>,
    /// One overlay stream.
    pub stream: Group<Stream>,
    /// An Ethernet transmit queue.
    pub txq: Group<Txq>,
    /// An Ethernet receive queue.
    pub rxq: Group<Rxq>,
    /// Ethernet control.
    pub eth_ctrl: Group<EthCtrl>,
    /// The ARC reset unit.
    pub arc_reset: Group<ArcReset>,
}

impl Registers {
    /// Returns the group of this name, as ranges refer to it.
    pub fn group(&self, name: &str) -> Option<&dyn AnyGroup> {
        Some(match name {
            "niu" => &self.niu,
            "niu_command" => &self.niu_command,
            "niu_counters" => &self.niu_counters,
            "debug" => &self.debug,
            "stream" => &self.stream,
            "txq" => &self.txq,
            "rxq" => &self.rxq,
            "eth_ctrl" => &self.eth_ctrl,
            "arc_reset" => &self.arc_reset,
            _ => return None,
        })
    }
}
