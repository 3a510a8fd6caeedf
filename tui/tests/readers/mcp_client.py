"""Speaks with an MCP server by the public client, and prints what it answered, a line each."""

import asyncio
import json
import sys

try:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit()


STUCK = "../recordings/library/n300_router_stuck.mcap"


async def main(program):
    server = StdioServerParameters(command=program, args=["--target", "emulator:n300,run=idle", "mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        about = await session.initialize()
        print(about.server_info.name)
        tools = (await session.list_tools()).tools
        print(*sorted(tool.name for tool in tools))
        for tool in tools:
            assert tool.input_schema["type"] == "object" and tool.description, tool.name
            assert tool.annotations.read_only_hint, tool.name
        read = next(tool for tool in tools if tool.name == "read").input_schema
        print(*sorted(read["properties"]), "required:", *read["required"])
        for name, arguments in [
            ("links", {}),
            ("read", {"place": "0:1-2:0x30000", "len": 8}),
            ("read", {"place": "nowhere"}),
            ("read", {"place": "0:1-2:0x30000", "allow": "write"}),
            ("fabric", {"place": "drain"}),
            ("fabric-waits", {}),
            ("fabric-path", {"from": "0", "to": "nowhere"}),
            ("fabric-drain", {}),
            ("fabric-status", {"keep": "kept"}),
            ("symbols-type", {"name": "eth_channel_sync_t", "elf": "../firmware/images/edm.elf"}),
            ("diff", {"a": STUCK, "b": f"{STUCK},at=#0"}),
            ("diff", {"a": STUCK, "b": "ssh://host"}),
            ("diff", {"a": STUCK, "b": "ttsim:library.so"}),
            ("changes", {}),
            ("write", {"place": "0:1-2:0x30000", "value": "7"}),
        ]:
            answer = await session.call_tool(name, arguments)
            found, text = answer.structured_content, answer.content[0].text
            assert answer.is_error or found == json.loads(text)
            print(name, *(["says", text] if answer.is_error else ["answers", *sorted(found)]))


asyncio.run(main(sys.argv[1]))
