"""Runs inside gdb-multiarch, for firmware/cases/ask: writes questions about one image with the
answers of gdb and LLVM.

One JSON object; `questions` holds one question per line. Kinds and tools that answer:
  layout     gdb: size and members of a record [name, offset, size, type, first bit, bits, inner
             members]
  enum       gdb: [name, value] of its enumerators
  value      gdb: type and value of a constant: a number, text of a float, or a list of them
  variable   gdb: type and address; llvm-nm: size in the symbol table
  symbol     llvm-nm: address and size of a symbol that is no described variable; gdb must return
             the same address
  function   gdb: name and ranges of the code at a symbol [[begin, end], ...]
  line       llvm-dwarfdump: where the runs of rows of a line begin; gdb must return no address
             outside the rows
  frames     llvm-symbolizer: [function, file, line] innermost first, the same for each instruction
             from `begin` to `end`; gdb must find as many frames and the same innermost line
`note` reports disagreements of the tools. An answer is changed in one case only, marked in its
note: gdb takes an array without elements for one of 4294967296. Strings of `frames` are indices
into `strings`.
"""

import json
import os
import re
import subprocess
import gdb

IMAGE, OUT = os.environ["IMAGE"], os.environ["OUT"]
FRAMES, LINES, NAMES = 300, 100, 100  # limits per kind; larger images are sampled evenly
gdb.execute("set language c++")
gdb.execute("set max-value-size unlimited")


def sample(items, limit):
    items = list(items)
    return items if len(items) <= limit else [items[i * len(items) // limit] for i in range(limit)]


def listed(kind):
    """Yields the names of `info types`, `info variables` or `info functions`, if described."""
    text = gdb.execute(f"info {kind} -q", to_string=True).split("\nNon-debugging symbols:")[0]
    for line in text.splitlines():
        if found := re.match(r"\d+:\s+(.*);$", line):
            yield found[1]


# --- types ---


ENDLESS = "[4294967296]"  # gdb's spelling of [0], whose upper bound is -1


def spelled(ty):
    """Returns None for a record without a name: gdb prints it in full."""
    text = str(ty).replace(ENDLESS, "[0]")
    return None if "{" in text else text


def size_of(ty):
    return (
        0 if ENDLESS in str(ty) and ty.strip_typedefs().code == gdb.TYPE_CODE_ARRAY else ty.sizeof
    )


def member(field):
    inner = field.type.strip_typedefs()
    record = inner.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)
    nameless = record and (field.type.name is None)
    bits = field.bitsize or None
    offset = None if field.bitpos is None else field.bitpos // 8
    answer = [field.name or "", offset, size_of(field.type), spelled(field.type)]
    if bits:
        answer += [field.bitpos, bits]
    elif nameless:
        answer += [None, None, members(inner)]
    return answer


def members(ty):
    fields = [field for field in ty.fields() if hasattr(field, "bitpos") and not field.artificial]
    return [["<base>" if f.is_base_class else (f.name or "")] + member(f)[1:] for f in fields]


def note_of(ty):
    notes = []
    if any(ENDLESS in str(field.type) for field in ty.fields()):
        notes.append("gdb says [4294967296] for [0]")
    if any(f.is_base_class and f.bitpos is None for f in ty.fields()):
        notes.append("gdb gives no offset of virtual bases")
    return notes


def types():
    seen = set()
    for text in listed("types"):
        found = re.match(
            r"(?:typedef (?:struct|union|enum) \{\.\.\.\} |typedef .* |struct |union |class |enum )"
            r"(.+)$",
            text,
        )
        name = found[1] if found else text
        # gdb spells addresses among template arguments differently.
        if name in seen or "{" in name or "<&" in name or name.count("<") != name.count(">"):
            continue
        seen.add(name)
        try:
            ty = gdb.lookup_type(name).strip_typedefs()
        except gdb.error:
            continue
        if ty.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            # A name of several types in several scopes has no single answer.
            yield question("layout", name, note_of(ty), size=ty.sizeof, members=members(ty))
        elif ty.code == gdb.TYPE_CODE_ENUM:
            values = [[field.name.rsplit("::")[-1], field.enumval] for field in ty.fields()]
            yield question("enum", name, [], size=ty.sizeof, values=values)


def question(kind, query, notes, **expect):
    asked = {"kind": kind, "query": query, **expect}
    if notes:
        asked["note"] = "; ".join(notes)
    return asked


# --- variables, constants, symbols ---


def plain(value):
    ty = value.type.strip_typedefs()
    if ty.code == gdb.TYPE_CODE_ARRAY:
        low, high = ty.range()
        return [plain(value[i]) for i in range(low, high + 1)]
    if ty.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return [plain(value[field]) for field in ty.fields() if hasattr(field, "bitpos")]
    if ty.code == gdb.TYPE_CODE_FLT:
        return str(float(value))
    return int(value)


def nm():
    text = subprocess.run(
        ["llvm-nm", "-S", "--defined-only", IMAGE], capture_output=True, text=True
    ).stdout
    found, twice = {}, set()
    for line in text.splitlines():
        parts = line.split()
        # LTO marks each unit by a symbol in its debug section.
        marks_unit = re.search(r"\.[0-9a-f]{8}$", line)
        if len(parts) == 4 and parts[2] in "tTbBdDrRwWvV" and not marks_unit:
            twice |= {parts[3]} & set(found)
            found[parts[3]] = (int(parts[0], 16), int(parts[1], 16))
    return {name: place for name, place in found.items() if name not in twice}


def dwarf_names():
    """Returns the variables in DWARF: gdb does not list constants of enumerations."""
    text = subprocess.run(
        ["llvm-dwarfdump", "--debug-info", IMAGE], capture_output=True, text=True
    ).stdout
    return re.findall(r"^0x\w+:   DW_TAG_variable\n\s+DW_AT_name\t\(\"(\w+)\"\)", text, re.M)


def member_function(name):
    text = subprocess.run(
        ["llvm-dwarfdump", f"--name={name}", IMAGE], capture_output=True, text=True
    ).stdout
    return re.search(r'DW_AT_type\t\(0x\w+ "(.*)"\)', text)[1]


def variables(table):
    names, described = set(dwarf_names()), set()
    for text in listed("variables"):
        if found := re.search(
            r"([\w:<>(), ]*?[\w>])(?:\[[\d\]\[]*)?(?:\)\(.*)?$", text.replace("static ", "")
        ):
            names.add(found[1].rsplit(" ", 1)[-1].lstrip("*&"))
    for name in sorted(names):
        symbol = gdb.lookup_static_symbol(name) or gdb.lookup_global_symbol(name)
        if symbol is None or symbol.addr_class == gdb.SYMBOL_LOC_TYPEDEF:
            continue
        notes = []
        if len({str(other.type) for other in gdb.lookup_static_symbols(name)}) > 1:
            continue
        try:
            value = symbol.value()
            if symbol.addr_class in (gdb.SYMBOL_LOC_CONST, gdb.SYMBOL_LOC_CONST_BYTES):
                yield question("value", name, notes, type=str(symbol.type), value=plain(value))
            elif symbol.addr_class == gdb.SYMBOL_LOC_STATIC:
                # gdb returns the address of the referred object for a reference.
                reference = symbol.type.code == gdb.TYPE_CODE_REF
                address = table[symbol.linkage_name][0] if reference else int(value.address)
                mangled = symbol.linkage_name
                described.add(mangled)
                size = table.get(mangled, (None, None))[1]
                if ENDLESS in str(symbol.type):
                    notes.append("gdb says [4294967296] for [0]")
                ty = spelled(symbol.type)
                if "::*)(" in ty:
                    notes.append(
                        f"llvm-dwarfdump's spelling; gdb writes what the compiler passes: {ty}"
                    )
                    ty = member_function(name)
                yield question("variable", name, notes, type=ty, address=address, size=size)
                if str(symbol.type).startswith("const ") and gdb.lookup_static_symbol(name):
                    yield question("value", name, notes, type=str(symbol.type), value=plain(value))
        except (gdb.error, TypeError, ValueError, RuntimeError):
            continue
    rest = [name for name in table if name not in described and not name.startswith((".L", "$"))]
    for name in sample(sorted(rest), NAMES):
        address, size = table[name]
        try:
            there = int(gdb.parse_and_eval(f"(unsigned long)&'{name}'"))
            notes = [] if there == address else [f"gdb: {there:#x}"]
        except gdb.error:
            notes = ["gdb does not know it"]
        yield question("symbol", name, notes, address=address, size=size)


# --- code ---


def functions(table):
    for text in sample(sorted(name for name in table if name in code_symbols()), NAMES):
        address = table[text][0]
        block = gdb.block_for_pc(address)
        while block and (
            not block.function or block.function.type.code != gdb.TYPE_CODE_FUNC or inlined(block)
        ):
            block = block.superblock
        if (
            not block
            or not block.function
            or block.start != address
            and not ranges_start(address, block)
        ):
            continue
        listing = gdb.execute(f"disassemble {address}", to_string=True)
        ranges = [
            [int(a, 16), int(b, 16)]
            for a, b in re.findall(r"^Address range (0x\w+) to (0x\w+):", listing, re.M)
        ]
        ranges = sorted(ranges or [[block.start, block.end]])
        size = sum(end - begin for begin, end in ranges if begin <= address < end)
        notes = [] if size == table[text][1] else [f"llvm-nm: {table[text][1]} bytes"]
        if ".cold" not in text:
            yield question(
                "function", text, notes, name=block.function.name.split("(")[0], ranges=ranges
            )


def ranges_start(address, block):
    return address == int(block.function.value().address)


def inlined(block):
    return (
        block.function is not None and block.function.value().is_optimized_out or is_inlined(block)
    )


def is_inlined(block):
    outer = block.superblock
    while outer and not outer.is_global and not outer.is_static:
        if outer.function:
            return True
        outer = outer.superblock
    return False


def code_symbols(kept=[]):
    if not kept:
        text = subprocess.run(
            ["llvm-nm", "--defined-only", IMAGE], capture_output=True, text=True
        ).stdout
        kept.append(
            {
                p[2]
                for p in map(str.split, text.splitlines())
                if len(p) == 3 and p[1] in "tTwW" and p[2][0] not in "$."
            }
        )
    return kept[0]


def instructions():
    text = subprocess.run(
        ["llvm-objdump", "-d", "--no-show-raw-insn", IMAGE], capture_output=True, text=True
    ).stdout
    return [int(a, 16) for a in re.findall(r"^\s*([0-9a-f]+):", text, re.M)]


def chains(addresses):
    asked = "".join(f"{address:#x}\n" for address in addresses)
    command = ["llvm-symbolizer", f"--obj={IMAGE}", "--functions=short", "--inlines"]
    blocks = (
        subprocess.run(command, input=asked, capture_output=True, text=True)
        .stdout.strip()
        .split("\n\n")
    )
    for address, block in zip(addresses, blocks, strict=True):
        lines = block.splitlines()
        frames = []
        for function, place in zip(lines[::2], lines[1::2]):
            file, line, _column = place.rsplit(":", 2) if place != "??:0" else ("??", 0, 0)
            known = None if function == "??" else function
            frames.append([known, None if file == "??" else file, int(line) or None])
        yield address, frames


def gdb_chain(address):
    """Returns gdb's number of frames, the name of the outermost, and the innermost place."""
    depth, block, outer = 0, gdb.block_for_pc(address), None
    while block and not block.is_global and not block.is_static:
        if block.function:
            depth, outer = depth + 1, block.function.name
        block = block.superblock
    place = gdb.find_pc_line(address)
    return depth, outer, place.symtab and os.path.basename(place.symtab.filename), place.line


def numbered(text, known={}):
    if text is None:
        return None
    if text not in known:
        known[text] = len(strings)
        strings.append(text)
    return known[text]


def frames():
    runs = []
    for address, found in chains(instructions()):
        if runs and runs[-1][1] == address and runs[-1][2] == found:
            runs[-1][1] = address + 4
        else:
            runs.append([address, address + 4, found])
    for begin, end, found in sample(runs, FRAMES):
        if found == [[None, None, None]]:
            continue
        depth, _outer, file, line = gdb_chain(begin)
        notes = []
        if depth != len(found):
            notes.append(f"gdb finds {depth} frames")
        if (file, line) != (os.path.basename(found[0][1] or ""), found[0][2]):
            notes.append(f"gdb: {file}:{line}")
        numbers = [[numbered(function), numbered(path), line] for function, path, line in found]
        yield question("frames", begin, notes, end=end, frames=numbers)


def rows():
    """Returns llvm-dwarfdump's line table rows: (address, file, line, end)."""
    text = subprocess.run(
        ["llvm-dwarfdump", "--debug-line", IMAGE], capture_output=True, text=True
    ).stdout
    found, folders, files = [], {}, {}
    for line in text.splitlines():
        if line.startswith("debug_line["):
            folders, files, pending = {}, {}, None
        elif match := re.match(r"include_directories\[\s*(\d+)\] = \"(.*)\"", line):
            folders[int(match[1])] = match[2]
        elif match := re.match(r"file_names\[\s*(\d+)\]:", line):
            pending = int(match[1])
        elif match := re.match(r"\s+name: \"(.*)\"", line):
            files[pending] = [match[1], 0]
        elif match := re.match(r"\s+dir_index: (\d+)", line):
            files[pending][1] = int(match[1])
        elif match := re.match(r"0x([0-9a-f]+)\s+(\d+)\s+\d+\s+(\d+)\s+\d+\s+\d+(.*)$", line):
            name, folder = files.get(int(match[3]), ["?", 0])
            path = (
                name
                if name.startswith("/") or folder not in folders
                else folders[folder] + "/" + name
            )
            found.append((int(match[1], 16), path, int(match[2]), "end_sequence" in match[4]))
    return found


def lines():
    code = set(instructions())
    sequences, current = [], []
    for row in rows():
        current.append(row)
        if row[3]:
            if current[0][0] in code:
                sequences += current
            current = []
    runs, all_rows, before = {}, {}, None
    for address, path, line, end in sorted(sequences, key=lambda row: (row[0], not row[3])):
        here = None if end else (path, line)
        if here and here != before:
            runs.setdefault(here, []).append(address)
        if here:
            all_rows.setdefault((os.path.basename(path), line), set()).add(address)
        before = here
    tables = {}
    for address in sorted(code)[:: max(1, len(code) // 2000)]:
        symtab = gdb.find_pc_line(address).symtab
        if symtab:
            tables.setdefault(os.path.basename(symtab.filename), {})[
                symtab.fullname() + str(hash(symtab.objfile))
            ] = symtab
    for (path, line), addresses in sample(sorted(runs.items()), LINES):
        if line == 0:
            continue
        name = os.path.basename(path)
        known = {
            e.pc
            for symtab in tables.get(name, {}).values()
            for e in symtab.linetable().line(line) or ()
        }
        notes = (
            [f"gdb also: {sorted(known - all_rows[name, line])}"]
            if known - all_rows[name, line]
            else []
        )
        yield question("line", f"{path}:{line}", notes, addresses=sorted(set(addresses)))


strings = []
table = nm()
asked = [*types(), *variables(table), *functions(table), *lines(), *frames()]
compact = {"separators": (",", ":"), "ensure_ascii": False}
with open(OUT, "w") as out:
    out.write(
        '{"image":%s,"strings":%s,"questions":[\n'
        % (json.dumps(IMAGE), json.dumps(strings, **compact))
    )
    out.write(",\n".join(json.dumps(one, **compact) for one in asked))
    out.write("\n]}\n")
kinds = {}
for one in asked:
    kinds[one["kind"]] = kinds.get(one["kind"], 0) + 1
notes = sum("note" in one for one in asked)
print(f"{IMAGE}: {len(asked)} questions {kinds}, {notes} with notes, {os.path.getsize(OUT)} bytes")
