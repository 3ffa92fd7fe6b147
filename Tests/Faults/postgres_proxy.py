"""Stands between clients and a PostgreSQL server, and cuts connections in COMMIT.

usage: postgres_proxy.py DIR SERVER CUT [--at N]... [--probability P] [--seed S] [--delay SECONDS]

  DIR                its socket is made in this folder
  SERVER             the folder of the server's socket
  CUT                what becomes of a COMMIT whose connection is cut:
                     before  the server never gets it: it sees a connection that is gone, and rolls back
                     after   the server has done it, but its answer does not reach the client
                     late    the client's connection is gone first, and the server gets it SECONDS later: whoever asks
                             meanwhile finds a transaction that is open yet
  --at N             cuts the Nth COMMIT of all connections, from 1; may be repeated
  --probability P    cuts each COMMIT with this probability [0]
  --seed S           of what --probability decides [1]
  --delay SECONDS    how long the server's connection outlives the client's, with before and late [0]

Prints "listening" once it does, and a line for each COMMIT: its number, and "passed" or the CUT. A COMMIT is a query that has
one as a statement, by the simple or the extended protocol, whether or not a transaction is open. Ends with the process that
has started it.
"""
import argparse
import asyncio
import os
import random
import re
import struct
import sys

SOCKET = ".s.PGSQL.5432"
# How much is read ahead.
LIMIT = 1 << 20
COMMIT = re.compile(rb"(?:^|;)\s*COMMIT\b", re.IGNORECASE)
# Where a message has no type, as the first of a connection: which of them ask for encryption, or that another be cancelled.
ENCRYPTION, CANCELLATION = (80877103, 80877104), 80877102


class Cut(Exception):
    """The client's connection is to end."""


class Plan:
    """Which COMMITs are cut."""

    def __init__(self, options):
        self.kind, self.at, self.probability = options.cut, set(options.at), options.probability
        self.random, self.count = random.Random(options.seed), 0

    def next(self):
        """What becomes of the next COMMIT; None if nothing does."""
        self.count += 1
        # Asked each time, so that one does not depend on others.
        struck = self.random.random() < self.probability or self.count in self.at
        print(self.count, self.kind if struck else "passed", flush=True)
        return self.kind if struck else None


class Connection:
    """A client's connection, and the one to the server that belongs to it."""

    def __init__(self, plan, delay, client, server):
        self.plan, self.delay = plan, delay
        self.client_reader, self.client = client
        self.server_reader, self.server = server
        # Whether named statements and portals are COMMITs.
        self.statements, self.portals = {}, {}
        # Set once nothing of the server reaches the client any more, and once the server has answered after that.
        self.withheld = False
        self.answered = asyncio.Event()
        # How often the server has yet to say that it is ready: the first time unasked.
        self.awaited = 1

    async def run(self):
        answers = asyncio.create_task(self.pass_answers())
        try:
            await self.pass_requests()
        except (asyncio.IncompleteReadError, OSError, Cut):
            pass
        finally:
            answers.cancel()
            await asyncio.gather(answers, return_exceptions=True)
            close(self.client)
            close(self.server)

    async def pass_requests(self):
        while True:
            message = await sized(self.client_reader)
            code = struct.unpack_from("!I", message, 4)[0]
            if code in ENCRYPTION:
                await send(self.client, b"N")
                continue
            await send(self.server, message)
            if code == CANCELLATION: return
            break
        cut = None
        while True:
            kind = await self.client_reader.readexactly(1)
            message = await sized(self.client_reader)
            if cut is None and self.commits(kind, message[4:]):
                cut = self.plan.next()
                if cut in ("before", "late"): await self.end_client()
                if cut == "before": raise Cut
                if cut == "after": self.withheld = True
            if kind in b"FQS": self.awaited += 1
            await send(self.server, kind + message)
            # Of the extended protocol, the server does and answers all up to the Sync.
            if cut and kind in b"QS":
                await self.answered.wait()
                raise Cut

    async def end_client(self):
        """Lets the client see its connection end, then waits."""
        self.withheld = True
        # What it has sent is kept: with "late", the Sync after a COMMIT.
        if self.client.can_write_eof(): self.client.write_eof()
        await asyncio.sleep(self.delay)

    def commits(self, kind, body):
        """Whether a message of the client has the server commit; keeps what is prepared."""
        if kind == b"Q": return COMMIT.search(body) is not None
        if kind == b"P":
            name, text = body.split(b"\0", 2)[:2]
            self.statements[name] = COMMIT.search(text) is not None
        elif kind == b"B":
            portal, name = body.split(b"\0", 2)[:2]
            self.portals[portal] = self.statements.get(name, False)
        elif kind == b"E":
            return self.portals.get(body.split(b"\0", 1)[0], False)
        return False

    async def pass_answers(self):
        try:
            while True:
                kind = await self.server_reader.readexactly(1)
                message = await sized(self.server_reader)
                if not self.withheld: await send(self.client, kind + message)
                if kind == b"Z": self.awaited -= 1
                if self.withheld and not self.awaited: self.answered.set()
        except (asyncio.IncompleteReadError, OSError):
            # Where the server has gone, the client's connection goes, too.
            self.answered.set()
            close(self.client)


async def sized(reader):
    """A message's size, and as much as it says."""
    size = await reader.readexactly(4)
    return size + await reader.readexactly(struct.unpack("!I", size)[0] - 4)


async def send(writer, data):
    writer.write(data)
    await writer.drain()


def close(writer):
    try:
        writer.close()
    except OSError:
        pass


def parsed(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("folder")
    parser.add_argument("server")
    parser.add_argument("cut", choices=["before", "after", "late"])
    parser.add_argument("--at", type=int, action="append", default=[])
    parser.add_argument("--probability", type=float, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--delay", type=float, default=0)
    return parser.parse_args(arguments)


async def main(options):
    plan = Plan(options)

    async def accept(*client):
        try:
            server = await asyncio.open_unix_connection(os.path.join(options.server, SOCKET), limit=LIMIT)
        except OSError:
            close(client[1])
            return
        await Connection(plan, options.delay, client, server).run()

    parent = os.getppid()
    await asyncio.start_unix_server(accept, os.path.join(options.folder, SOCKET), limit=LIMIT)
    print("listening", flush=True)
    while os.getppid() == parent: await asyncio.sleep(1)


if __name__ == "__main__":
    asyncio.run(main(parsed(sys.argv[1:])))
