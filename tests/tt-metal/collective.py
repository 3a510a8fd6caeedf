"""A collective of tt-metal's own over its fabric: each device gathers the shards of its row, and the bytes are compared.

    collective.py ROWS COLUMNS FABRIC [none]

FABRIC is the name of a ttnn.FabricConfig. Prints `open`, `queued`, `done`, then `right`, or what differs, and `closed`;
with `none`, the mesh with its fabric is only opened and closed. Waits for a line, or the end of its input, before it closes.
In a simulator tt-metal has one host channel, so that several devices need TT_METAL_SLOW_DISPATCH_MODE=1.
"""

import sys

import ttnn

SIDE = 32


def value(device, place):
    """Returns element `place` of a device's shard; bfloat16 holds it exactly."""
    return float((37 * device + 7 * (place // SIDE) + place % SIDE) % 256)


def main():
    rows, columns = int(sys.argv[1]), int(sys.argv[2])
    ttnn.set_fabric_config(getattr(ttnn.FabricConfig, sys.argv[3]))
    mesh = ttnn.open_mesh_device(ttnn.MeshShape(rows, columns))
    print("open", flush=True)
    if sys.argv[4:] != ["none"]:
        gather(mesh, rows, columns)
    sys.stdin.readline()
    ttnn.close_mesh_device(mesh)
    print("closed", flush=True)


def gather(mesh, rows, columns):
    shards = [value(device, place) for device in range(rows * columns) for place in range(SIDE * SIDE)]
    shape = [rows, columns, SIDE, SIDE]
    shard = [ttnn.PlacementShard(0), ttnn.PlacementShard(1)]
    mapper = ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig(shard, ttnn.MeshShape(rows, columns)))
    host = ttnn.Tensor(shards, shape, ttnn.bfloat16, ttnn.TILE_LAYOUT)
    tensor = ttnn.distribute_tensor(host, mapper, mesh)
    gathered = ttnn.all_gather(tensor, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear)
    print("queued", flush=True)
    ttnn.synchronize_device(mesh)
    print("done", flush=True)
    right = True
    for device, part in enumerate(ttnn.get_device_tensors(gathered)):
        found = flat(ttnn.from_device(part).to_list())
        row = device // columns * columns
        awaited = [
            value(row + column, line * SIDE + place)
            for line in range(SIDE)
            for column in range(columns)
            for place in range(SIDE)
        ]
        if found != awaited:
            at = next(at for at, pair in enumerate(zip(found, awaited)) if pair[0] != pair[1])
            print(f"device {device}: element {at} is {found[at]}, not {awaited[at]}", flush=True)
            right = False
    if right:
        print("right", flush=True)


def flat(nested):
    """Returns the numbers of nested lists in order."""
    return [number for part in nested for number in flat(part)] if isinstance(nested, list) else [nested]


main()
