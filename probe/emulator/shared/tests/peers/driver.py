"""tt-umd on the kernel driver: the chips it discovers, their links, and a word and a block of each
chip's memory."""
import tt_umd

descriptor, devices = tt_umd.TopologyDiscovery.discover(tt_umd.TopologyDiscoveryOptions())
links = descriptor.get_ethernet_connections()
for n, device in sorted(devices.items()):
    where = "remote" if device.is_remote() else "local"
    ends = sorted((channel, *peer) for channel, peer in links.get(n, {}).items())
    print(f"chip {n} {where} {device.get_board_type()} {ends}")
        # DRAM, which is never harvested.
    device.noc_write32(5, 5, 0x30000, 0x12345678 + n)
    block = bytes((i * 31 >> 3) & 255 for i in range(4000))
    device.noc_write(5, 5, 0x40000, block)
    word = device.noc_read32(5, 5, 0x30000) == 0x12345678 + n
    print(f"  word {word} block {bytes(device.noc_read(5, 5, 0x40000, len(block))) == block}")
