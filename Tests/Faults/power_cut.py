"""What a power cut leaves of files whose changes were journaled by power.c.

Usage from Python: lose(folder, journal, generator).

Of each file's bytes, only what was synced is certain. Every sector that was written since is as it was after any of the
writes to it, or before the first; the file's size is one of those that it had. (Some disks and file systems do better; a
file that is lost as a whole, kept as a whole, or cut in the order of its writes is tried as well.) Of the names made,
changed and removed in a folder since it was synced, the first few hold.
"""
import collections
import os
import shutil


class Event:
    def __init__(self, kind, fields):
        self.kind, self.fields = kind, fields


def lose(folder, journal, generator):
    """Puts the files of a folder into a state that they might have after a power cut."""
    files, names = read(os.path.join(journal, "events"), folder)
    with open(os.path.join(journal, "bytes"), "rb") as file:
        kept = file.read()
    inodes = by_inode(folder, journal)
    for inode, events in files.items():
        path = inodes.get(inode)
        if path is not None and events: lose_bytes(path, events, kept, generator)
    for event in reversed(lost_names(names, generator)):
        take_back(event, folder, journal)


def read(path, folder):
    """The events that were not synced: of each file's bytes by inode, and of names in order, by folder."""
    files = collections.defaultdict(list)
    names = []
    # As inodes of folders are looked up now, one that is gone has nothing to lose either.
    folders = {os.stat(place).st_ino: os.path.relpath(place, folder) for place, _, _ in os.walk(folder)}
    with open(path, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            # A kill comes between two lines, never in one.
            kind, rest = line[0], line[2:].rstrip("\n")
            if kind in "WT":
                numbers = [int(word) for word in rest.split()]
                files[numbers[0]].append(Event(kind, numbers[1:]))
            elif kind == "S":
                inode = int(rest)
                files.pop(inode, None)
                place = folders.get(inode)
                if place is not None: names = [event for event in names if place not in places(event)]
            else:
                names.append(Event(kind, rest.split("\t")))
    return files, names


def places(event):
    """The folders in which a name changes, relative to the working folder."""
    paths = event.fields[:2] if event.kind == "R" else event.fields[:1]
    return {os.path.dirname(path) or "." for path in paths}


def by_inode(*folders):
    found = {}
    for folder in folders:
        for place, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(place, name)
                status = os.lstat(path)
                found.setdefault(status.st_ino, path)
    return found


# MARK: Bytes

def lose_bytes(path, events, kept, generator):
    with open(path, "rb") as file:
        content = bytearray(file.read())
    # Backwards, the content after each event and before the first: versions[0] is what was synced.
    sector = generator.choice([512, 4096])
    manner = generator.choice(["mixed", "mixed", "all", "none", "order"])
    if manner == "all": return
    sizes = [len(content)]
    touched = collections.defaultdict(list)
    for index, event in enumerate(events):
        if event.kind == "W": _, offset, length, _ = event.fields
        else: offset, length = min(event.fields[0], event.fields[1]), abs(event.fields[0] - event.fields[1])
        for number in range(offset // sector, -(-(offset + length) // sector)): touched[number].append(index)
    limit = generator.randrange(len(events) + 1)
    # Of each sector, how many of the events hold: those before this index.
    holds = {}
    for number, indices in sorted(touched.items()):
        if manner == "none": holds[number] = 0
        elif manner == "order": holds[number] = limit
        else: holds[number] = generator.choice([0] + [index + 1 for index in indices])
    # With the order kept, the write at the limit is torn.
    result = {number: None for number in touched}
    for index in range(len(events), -1, -1):
        for number, upto in holds.items():
            if upto == index: result[number] = bytes(content[number * sector:(number + 1) * sector])
        if index > 0:
            undo(content, events[index - 1], kept)
            sizes.append(len(content))
    sizes.reverse()
    if manner == "none": size = sizes[0]
    elif manner == "order": size = sizes[limit]
    else: size = generator.choice(sizes)
    with open(path, "r+b") as file:
        for number, block in result.items():
            if block is None: continue
            file.seek(number * sector)
            file.write(block.ljust(sector, b"\0"))
        file.truncate(size)


def undo(content, event, kept):
    if event.kind == "W":
        size, offset, length, place = event.fields
        before = kept[place:place + max(0, min(length, size - offset))]
        content[offset:offset + len(before)] = before
    else:
        size, length, place = event.fields
        if size > length: content[length:] = kept[place:place + size - length]
    del content[size:]
    content.extend(bytes(size - len(content)))


# MARK: Names

def lost_names(names, generator):
    """The events that do not hold, in order.

    Each folder has its own order; a rename between two folders holds or not with the first of them that loses it.
    """
    manner = generator.choice(["all", "none", "some", "some"])
    if manner == "all": return []
    if manner == "none": return names
    left = {}
    for event in names:
        for place in places(event): left[place] = left.get(place, 0) + 1
    left = {place: generator.randrange(count + 1) for place, count in sorted(left.items())}
    lost, closed = [], set()
    for event in names:
        own = places(event)
        if own & closed or any(left[place] <= 0 for place in own):
            closed |= own
            lost.append(event)
        else:
            for place in own: left[place] -= 1
    return lost


def take_back(event, folder, journal):
    path = os.path.join(folder, event.fields[0])
    if event.kind == "C":
        if os.path.lexists(path): os.unlink(path)
    elif event.kind == "D":
        shutil.rmtree(path, ignore_errors=True)
    elif event.kind == "X":
        os.makedirs(path, exist_ok=True)
    elif event.kind == "U":
        kept = os.path.join(journal, event.fields[1])
        if event.fields[1] and os.path.isdir(os.path.dirname(path)) and not os.path.lexists(path): os.link(kept, path)
    elif event.kind == "R":
        target = os.path.join(folder, event.fields[1])
        if not os.path.lexists(target) or not os.path.isdir(os.path.dirname(path)): return
        os.rename(target, path)
        if event.fields[2]: os.link(os.path.join(journal, event.fields[2]), target)
