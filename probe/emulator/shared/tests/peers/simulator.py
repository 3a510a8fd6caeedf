"""tt-umd in its simulator mode: words and blocks of the first device of the named library."""
import sys

import tt_umd

options = tt_umd.SimulationConnectorOptions()
options.simulator_directory = sys.argv[1]
_, devices, _ = tt_umd.SimulationConnector.discover(options)
device = devices[0]
print(f"E8 firmware {device.noc_read32(9, 6, 0x210):#x}")
print(f"node id {device.noc_read32(1, 2, 0xFFB2002C):#x}")
block = bytes((i * 31 >> 3) & 255 for i in range(5003))
for x, y, memory in [(2, 2, "L1"), (0, 0, "DRAM")]:
    device.noc_write(x, y, 0x20001, block)
    print(f"{memory} block {bytes(device.noc_read(x, y, 0x20001, len(block))) == block}")
