"""Stands between clients and a PostgreSQL server as a pooler does, and gives each client a process number of its own.

usage: postgres_pooler.py DIR SERVER MODE

  DIR     its socket is made in this folder
  SERVER  the folder of the server's socket
  MODE    whose a session of the server is:
          session      a client's, until it goes
          transaction  everybody's, one transaction after the other; there is one, of the first client's database and user

Prints "listening" once it does. A later client of the one session is let in without a password. Ends with the process that has
started it.
"""
import asyncio
import os
import struct
import sys

from postgres_proxy import ENCRYPTION, LIMIT, SOCKET, close, send, sized

# A message that lets a client in, and the process number and the key that it is told.
WELCOME = b"R" + struct.pack("!II", 8, 0)
KEY = b"K" + struct.pack("!III", 12, 1, 1)
IDLE = b"Z" + struct.pack("!I", 5) + b"I"


class Session:
    """A session of the server."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        # Held by the client whose transaction is open.
        self.turn = asyncio.Lock()
        # What the server has said of itself (ParameterStatus).
        self.parameters = b""

    async def begin(self, startup, client_reader, client):
        """Has a client log in."""
        await send(self.writer, startup)
        while True:
            kind, message = await self.answer()
            if kind == b"S": self.parameters += kind + message
            if kind == b"K": kind, message = KEY[:1], KEY[1:]
            await send(client, kind + message)
            if kind == b"Z": return
            # The kinds of request that want an answer; others are the end of one.
            if kind == b"R" and struct.unpack_from("!I", message, 4)[0] in (3, 5, 10, 11):
                await send(self.writer, await client_reader.readexactly(1) + await sized(client_reader))

    async def answer(self):
        return await self.reader.readexactly(1), await sized(self.reader)

    async def serve(self, client_reader, client):
        """Passes on what a client wants, in its turn, until it goes."""
        holds = False
        try:
            while True:
                kind = await client_reader.readexactly(1)
                message = await sized(client_reader)
                if kind == b"X": return
                if not holds: holds = await self.turn.acquire()
                await send(self.writer, kind + message)
                if kind not in (b"Q", b"S"): continue
                while kind != b"Z":
                    kind, message = await self.answer()
                    await send(client, kind + message)
                if message[4:] == b"I":
                    self.turn.release()
                    holds = False
        finally:
            if holds: self.turn.release()


class Pooler:
    def __init__(self, server, is_shared):
        self.server, self.is_shared = server, is_shared
        self.session, self.opening = None, asyncio.Lock()

    async def accept(self, client_reader, client):
        session = None
        try:
            startup = await sized(client_reader)
            while struct.unpack_from("!I", startup, 4)[0] in ENCRYPTION:
                await send(client, b"N")
                startup = await sized(client_reader)
            async with self.opening:
                session = await self.entered(startup, client_reader, client)
            await session.serve(client_reader, client)
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            close(client)
            if session and not self.is_shared: close(session.writer)

    async def entered(self, startup, client_reader, client):
        if self.session:
            await send(client, WELCOME + self.session.parameters + KEY + IDLE)
            return self.session
        session = Session(*await asyncio.open_unix_connection(os.path.join(self.server, SOCKET), limit=LIMIT))
        await session.begin(startup, client_reader, client)
        if self.is_shared: self.session = session
        return session


async def main(folder, server, mode):
    parent = os.getppid()
    pooler = Pooler(server, {"session": False, "transaction": True}[mode])
    await asyncio.start_unix_server(pooler.accept, os.path.join(folder, SOCKET), limit=LIMIT)
    print("listening", flush=True)
    while os.getppid() == parent: await asyncio.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) != 4: sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:]))
