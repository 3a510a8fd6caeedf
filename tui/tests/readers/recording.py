"""Reads a recording as any MCAP tool does: its channels, schemas and messages.

Prints a line for each channel: topic, encoding, schema, number of messages. Fails at the first schema
that is none, and at the first JSON message that does not match its own.
"""

import collections
import json
import sys

try:
    import jsonschema
    from mcap.reader import make_reader
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

with open(sys.argv[1], "rb") as file:
    reader = make_reader(file, validate_crcs=True)
    summary = reader.get_summary()
    judges = {}
    for schema in summary.schemas.values():
        assert schema.encoding == "jsonschema", schema.encoding
        document = json.loads(schema.data)
        jsonschema.Draft202012Validator.check_schema(document)
        assert document["title"] == schema.name, schema.name
        judges[schema.id] = jsonschema.Draft202012Validator(document)
    counts = collections.Counter()
    for schema, channel, message in reader.iter_messages():
        counts[channel.id] += 1
        if channel.message_encoding == "json":
            judges[schema.id].validate(json.loads(message.data))
    assert counts == summary.statistics.channel_message_counts, (counts, summary.statistics)
    names = [record.name for record in reader.iter_metadata()]
    assert "meshscope.session" in names, names
    for channel in sorted(summary.channels.values(), key=lambda channel: channel.id):
        # Recordings of format 1 have no schemas.
        name = summary.schemas[channel.schema_id].name if channel.schema_id else "-"
        print(channel.topic, channel.message_encoding, name, counts[channel.id])
